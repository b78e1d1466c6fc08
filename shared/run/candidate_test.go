package run_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
)

func delta(t event.Type, m id.Message, block int, text string) run.Candidate {
	return run.Candidate{Type: t, Payload: event.DeltaPayload{MessageID: m, ContentIndex: block, Delta: text}}
}

func TestDeltasOfOneMessageAndChannelMerge(t *testing.T) {
	merged, ok := run.Merge(delta(event.MessageDelta, "msg_1", 0, "Hel"), delta(event.MessageDelta, "msg_1", 0, "lo"))
	if !ok || merged != delta(event.MessageDelta, "msg_1", 0, "Hello") {
		t.Fatalf("got %+v %v", merged, ok)
	}
}

func TestOtherCandidatesDoNotMerge(t *testing.T) {
	base := delta(event.MessageDelta, "msg_1", 0, "a")
	for name, other := range map[string]run.Candidate{
		"other message":   delta(event.MessageDelta, "msg_2", 0, "b"),
		"other channel":   delta(event.Thinking, "msg_1", 0, "b"),
		"other agent":     {Type: event.MessageDelta, Payload: event.DeltaPayload{MessageID: "msg_1", Delta: "b", AgentID: "sub_a"}},
		"other block":     delta(event.MessageDelta, "msg_1", 1, "b"),
		"no delta":        {Type: event.MessageDelta, Payload: event.RunCompletedPayload{}},
		"beyond 2 KiB":    delta(event.MessageDelta, "msg_1", 0, strings.Repeat("x", 2048)),
		"other type only": {Type: event.ToolStarted, Payload: event.ToolStartedPayload{}},
	} {
		t.Run(name, func(t *testing.T) {
			if got, ok := run.Merge(base, other); ok || got != base {
				t.Fatalf("merged into %+v", got)
			}
			if _, ok := run.Merge(other, base); ok {
				t.Fatal("merged the other way round")
			}
		})
	}
}

func TestMergingKeepsTheText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOfN(rapid.StringN(1, 900, -1), 1, 20).Draw(t, "pieces")
		var rows []run.Candidate
		for _, piece := range pieces {
			next := delta(event.MessageDelta, "msg_1", 0, piece)
			if len(rows) > 0 {
				if merged, ok := run.Merge(rows[len(rows)-1], next); ok {
					rows[len(rows)-1] = merged
					continue
				}
			}
			rows = append(rows, next)
		}
		var text strings.Builder
		for _, row := range rows {
			text.WriteString(row.Payload.(event.DeltaPayload).Delta)
		}
		if text.String() != strings.Join(pieces, "") {
			t.Fatal("text changed")
		}
	})
}
