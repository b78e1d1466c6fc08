package admission_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"

	"github.com/switchyard-dev/switchyard/edge-server/internal/admission"
	"github.com/switchyard-dev/switchyard/edge-server/internal/journal"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/supervise"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

func TestStoppingEdgeEndsItsAgentsAndKeepsWhatWaits(t *testing.T) {
	home := t.TempDir()
	e := start(t, home, newStage())
	orders := []wire.Command{newOrder(), newOrder(), newOrder()}
	for _, c := range orders {
		e.receive(t, c, wire.Accepted)
	}
	first, second := e.stage.next(t), e.stage.next(t)
	agents := supervise.NewGroup(context.Background())
	for _, a := range []*actor{first, second} {
		agents.Go(func(context.Context) error {
			<-a.stopped
			a.exit <- admission.Exit{Gone: true}
			return nil
		})
	}
	e.stop()
	must(t, agents.Wait())
	again := start(t, home, newStage())
	for _, c := range orders[:2] {
		again.expect(t, c.RunID, `{"reason_code":"edge_stopped"}`, event.RunStarted, event.RunInterrupted)
	}
	again.stage.next(t).exit <- admission.Exit{Outcome: run.Completed(), Gone: true}
	again.expect(t, orders[2].RunID, `{}`, event.RunQueued, event.RunStarted, event.RunCompleted)
}

// A crash is an edge whose journal ends where the process did. What a crash leaves is written by hand here, then an edge is started on it.
func TestRunsOfACrashedEdgeAreAccountedForAtStart(t *testing.T) {
	type step func(t *testing.T, j *journal.Journal, c wire.Command)
	admit := func(t *testing.T, j *journal.Journal, c wire.Command) {
		t.Helper()
		must(t, j.AnswerStart(t.Context(), c, wire.CommandReceipt{DeliveryID: c.DeliveryID, RunID: c.RunID, Status: wire.Accepted}))
	}
	intend := func(t *testing.T, j *journal.Journal, c wire.Command) {
		t.Helper()
		must(t, j.Intend(t.Context(), c.RunID, "nonce"))
	}
	started := func(t *testing.T, j *journal.Journal, c wire.Command) {
		t.Helper()
		from := journal.Origin{Scope: event.Scope{RunID: c.RunID}}
		must(t, j.CommitStarted(t.Context(), from, 1, run.Candidate{Type: event.RunStarted, Payload: event.RunStartedPayload{}}))
		must(t, j.Commit(t.Context(), from,
			run.Candidate{Type: event.MessageStarted, Payload: event.MessageStartedPayload{MessageID: "msg_1", Role: "assistant"}},
			run.Candidate{Type: event.MessageDelta, Payload: event.DeltaPayload{MessageID: "msg_1", Delta: "half a"}},
			run.Candidate{Type: event.ToolStarted, Payload: event.ToolStartedPayload{ToolCallID: "t1", ToolName: "Bash"}}))
	}
	cancelled := func(t *testing.T, j *journal.Journal, c wire.Command) {
		t.Helper()
		k := cancelOf(c)
		must(t, j.AnswerCancel(t.Context(), k, wire.CommandReceipt{DeliveryID: k.DeliveryID, RunID: c.RunID, Status: wire.Accepted}))
	}
	for name, tt := range map[string]struct {
		left     []step
		sweepErr error
		terminal string
		log      []event.Type
		swept    bool
	}{
		"cancelled before the start": {[]step{admit, cancelled}, nil, `{"external_stop_confirmed":true}`, []event.Type{event.RunCancelled}, false},
		"between intent and start":   {[]step{admit, intend}, nil, `{"reason_code":"start_unknown"}`, []event.Type{event.RunInterrupted}, true},
		"while it ran": {[]step{admit, intend, started}, nil, `{"reason_code":"process_lost"}`, []event.Type{
			event.RunStarted, event.MessageStarted, event.MessageDelta, event.ToolStarted, event.MessageDone, event.ToolFailed, event.RunInterrupted,
		}, true},
		"while it was stopped": {[]step{admit, intend, cancelled}, nil, `{"external_stop_confirmed":true}`, []event.Type{event.RunCancelled}, true},
		"stopped, but something is left": {[]step{admit, intend, cancelled}, errors.New("survives"), `{"external_stop_confirmed":false}`,
			[]event.Type{event.RunCancelled}, true},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			c := newOrder()
			crashed(t, home, func(j *journal.Journal) {
				for _, s := range tt.left {
					s(t, j, c)
				}
			})
			s := newStage()
			s.unable = tt.sweepErr
			e := start(t, home, s)
			e.expect(t, c.RunID, tt.terminal, tt.log...)
			if swept := slices.Contains(s.swept, "nonce"); swept != tt.swept || s.startsOf(c.RunID) != 0 {
				t.Errorf("swept %v, %d starts", s.swept, s.startsOf(c.RunID))
			}
		})
	}
}

func TestAdmittedRunStartsAfterARestart(t *testing.T) {
	home := t.TempDir()
	c := newOrder()
	crashed(t, home, func(j *journal.Journal) {
		must(t, j.AnswerStart(t.Context(), c, wire.CommandReceipt{DeliveryID: c.DeliveryID, RunID: c.RunID, Status: wire.Accepted}))
	})
	e := start(t, home, newStage())
	if live := e.LiveRuns(); !slices.Contains(live, c.RunID) {
		t.Errorf("live runs are %v", live)
	}
	e.stage.next(t).exit <- admission.Exit{Outcome: run.Completed(), Gone: true}
	e.expect(t, c.RunID, `{}`, event.RunStarted, event.RunCompleted)
}

// crashed leaves in home what write writes.
func crashed(t *testing.T, home string, write func(*journal.Journal)) {
	t.Helper()
	j, err := journal.Open(t.Context(), journal.Options{
		Home: home, Cap: 64 << 20, Log: slog.New(slog.DiscardHandler), Metrics: telemetry.NewRegistry("edge"),
	})
	must(t, err)
	writer := supervise.NewGroup(context.Background())
	writer.Go(j.Run)
	write(j)
	writer.Cancel()
	must(t, writer.Wait())
	must(t, j.Close())
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
