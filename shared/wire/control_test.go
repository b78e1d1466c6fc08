package wire_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

func TestOrdersForARunAtWorkAreChecked(t *testing.T) {
	const steer = "steer_0123456789abcdef"
	for _, c := range []struct {
		order wire.ControlOrder
		want  fault.Code
	}{
		{wire.ControlOrder{What: wire.ControlSteer, SteerID: steer, Text: strings.Repeat("a", event.MaxSteer)}, ""},
		{wire.ControlOrder{What: wire.ControlSteer, SteerID: steer, Text: strings.Repeat("a", event.MaxSteer+1)}, fault.TooLarge},
		{wire.ControlOrder{What: wire.ControlSteer, SteerID: steer, Text: " \n"}, fault.EmptyPrompt},
		{wire.ControlOrder{What: wire.ControlSteer, SteerID: "steer_1", Text: "Stop."}, fault.InvalidRequest},
		{wire.ControlOrder{What: wire.ControlSteer, Text: "Stop."}, fault.InvalidRequest},
		{wire.ControlOrder{What: wire.ControlRetryNow}, ""},
		{wire.ControlOrder{What: wire.ControlCompact}, ""},
		{wire.ControlOrder{What: wire.ControlApprovalMode}, ""},
		{wire.ControlOrder{What: wire.ControlApprovalMode, Mode: wire.DenyAll}, ""},
		{wire.ControlOrder{What: wire.ControlApprovalMode, Mode: "read-only"}, fault.InvalidRequest},
		{wire.ControlOrder{What: "dance"}, fault.Unsupported},
		{wire.ControlOrder{}, fault.Unsupported},
	} {
		err := c.order.Check()
		if (err == nil) != (c.want == "") || err != nil && fault.CodeOf(err) != c.want {
			t.Errorf("%.80v: %v, want %q", c.order, err, c.want)
		}
	}
}

func TestWordsOfModesAndLevels(t *testing.T) {
	for _, mode := range append(wire.ApprovalModes(), "") {
		if !mode.Known() {
			t.Errorf("%q is no mode", mode)
		}
	}
	for _, level := range append(wire.LevelsOfThinking(), "") {
		if !level.Known() {
			t.Errorf("%q is no level", level)
		}
	}
	if wire.ApprovalMode("always-ask").Known() || wire.ThinkingLevel("ultra").Known() {
		t.Error("a word that is none is known")
	}
	if slices.Contains(wire.Controls(), string(wire.ControlApprovalMode)) {
		t.Error("an agent cannot say that it takes approval modes: they are the edge's")
	}
}
