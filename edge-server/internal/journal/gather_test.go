package journal

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
)

// A lone agent's words wait for nothing that anybody could see; a crowd's gather, but never for long.
func TestThePauseBetweenGroupsGrowsWithTheLoad(t *testing.T) {
	for entries, want := range map[int]time.Duration{1: time.Millisecond, 7: 7 * time.Millisecond, 20: maxGather, 5000: maxGather} {
		if got := gatherAfter(entries); got != want {
			t.Errorf("after a group of %d the next one waits %s, want %s", entries, got, want)
		}
	}
}

func TestGatheringLastsUntilSomethingPresses(t *testing.T) {
	for name, c := range map[string]struct {
		meanwhile func(j *Journal, cancel func())
		want      time.Duration
	}{
		"nothing":            {func(*Journal, func()) {}, maxGather},
		"somebody waits":     {func(j *Journal, _ func()) { j.press(); j.press() }, 0},
		"what waited is out": {func(j *Journal, _ func()) { j.press(); j.release() }, maxGather},
		"the end":            {func(_ *Journal, cancel func()) { cancel() }, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			j := &Journal{pressed: make(chan struct{}, 1)}
			c.meanwhile(j, cancel)
			began := time.Now()
			j.gather(ctx, began.Add(maxGather))
			if got := time.Since(began); got != c.want {
				t.Errorf("%s: gathered for %s, want %s", name, got, c.want)
			}
		})
	}
}

func TestWhatSomebodyWaitsForPresses(t *testing.T) {
	from := func(r id.Run) Origin { return Origin{Scope: event.Scope{RunID: r}} }
	state := run.Candidate{Type: event.SessionState, Payload: event.SessionStatePayload{State: "s"}}
	ended, end := context.WithCancel(t.Context())
	end() // who waits gives up at once: nobody writes here
	for name, c := range map[string]struct {
		do   func(j *Journal)
		want bool
	}{
		"a word":         {func(j *Journal) { must(t, j.Append(t.Context(), from("run_a"), state)) }, false},
		"a start or end": {func(j *Journal) { j.Commit(ended, from("run_a"), state) }, true}, //nolint:errcheck // gives up
		"a flush":        {func(j *Journal) { j.Flush(ended, "run_a") }, true},               //nolint:errcheck // gives up
		"enough words": {func(j *Journal) {
			for range enough {
				must(t, j.Append(t.Context(), from(id.NewRun()), state))
			}
		}, true},
		"no room for a word": {func(j *Journal) {
			large := run.Candidate{Type: event.MessageDelta, Payload: event.DeltaPayload{MessageID: "msg_a", Delta: string(make([]byte, maxWaitingBytes))}}
			must(t, j.Append(t.Context(), from("run_a"), large))
			j.Append(ended, from("run_a"), state) //nolint:errcheck // gives up
		}, true},
	} {
		j, err := Open(t.Context(), Options{
			Home: t.TempDir(), Cap: 64 << 20, Log: slog.New(slog.DiscardHandler), Metrics: telemetry.NewRegistry("edge"),
		})
		must(t, err)
		c.do(j)
		if got := len(j.pressed) == 1; got != c.want {
			t.Errorf("%s presses: %v, want %v", name, got, c.want)
		}
		must(t, j.Close())
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
