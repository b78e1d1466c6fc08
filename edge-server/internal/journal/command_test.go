package journal_test

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/edge-server/internal/journal"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

func TestCommandAndReceiptSurviveVerbatim(t *testing.T) {
	home := t.TempDir()
	j := open(t, options(home))
	c := start(id.NewRun())
	c.Body, c.Signature = []byte(`{"prompt":"a < b \u2028","n":1.0}`), "5ig"
	want := wire.CommandReceipt{DeliveryID: c.DeliveryID, RunID: c.RunID, Status: wire.Rejected, Code: fault.Busy, Detail: "Full."}
	if err := errors.Join(j.Answer(t.Context(), c, want), j.stop()); err != nil {
		t.Fatal(err)
	}
	got, known, err := open(t, options(home)).Receipt(t.Context(), c.DeliveryID)
	if got != want || !known || err != nil {
		t.Errorf("got %+v %v %v", got, known, err)
	}
}

func TestRunIsFollowedFromAdmissionToItsEnd(t *testing.T) {
	j := open(t, options(t.TempDir()))
	ctx, r := t.Context(), id.NewRun()
	expect := func(step string, phase journal.Phase, open int) journal.Run {
		t.Helper()
		got, known, err := j.FindRun(ctx, r)
		if err != nil || !known || got.Phase != phase {
			t.Fatalf("after %s: %+v %v %v", step, got, known, err)
		}
		if runs, err := j.OpenRuns(ctx); err != nil || len(runs) != open {
			t.Fatalf("after %s: %d open runs, %v", step, len(runs), err)
		}
		return got
	}
	c := admit(t, j.Journal, r)
	if got := expect("admission", journal.Admitted, 1); got.Start.DeliveryID != c.DeliveryID || !bytes.Equal(got.Start.Body, c.Body) {
		t.Errorf("start command is %+v", got.Start)
	}
	must(t, j.Intend(ctx, r, "nonce"))
	if got := expect("intent", journal.Intended, 1); got.Nonce != "nonce" {
		t.Errorf("nonce is %q", got.Nonce)
	}
	must(t, j.CommitStarted(ctx, origin(r), 4711, run.Candidate{Type: event.RunStarted, Payload: event.RunStartedPayload{}}))
	if got := expect("start", journal.Started, 1); got.PID != 4711 {
		t.Errorf("pid is %d", got.PID)
	}
	k := wire.Command{DeliveryID: id.NewDelivery(), Kind: wire.Cancel, RunID: r, Lease: 3}
	must(t, j.AnswerCancel(ctx, k, wire.CommandReceipt{DeliveryID: k.DeliveryID, RunID: r, Status: wire.Accepted}))
	if got := expect("cancel", journal.Started, 1); !got.Cancelled || got.Lease != 3 {
		t.Errorf("run is %+v", got)
	}
	must(t, j.Commit(ctx, origin(r), completed()))
	expect("terminal", journal.Ended, 0)
}

func TestOpenRunsComeInTheOrderOfAdmission(t *testing.T) {
	j := open(t, options(t.TempDir()))
	var want []id.Run
	for range 20 {
		want = append(want, id.NewRun())
		admit(t, j.Journal, want[len(want)-1])
	}
	got, err := j.OpenRuns(t.Context())
	must(t, err)
	for i := range want {
		if got[i].ID != want[i] {
			t.Fatalf("run %d is %s, want %s", i, got[i].ID, want[i])
		}
	}
}

// An effect that fails takes nothing of its group with it.
func TestRefusedRecordLeavesItsGroupAlone(t *testing.T) {
	j := open(t, options(t.TempDir()))
	c := admit(t, j.Journal, id.NewRun())
	r := id.NewRun()
	must(t, j.Append(t.Context(), origin(r), state("a")))
	if err := j.AnswerStart(t.Context(), c, wire.CommandReceipt{}); err == nil {
		t.Error("the same delivery was recorded twice")
	}
	must(t, j.Commit(t.Context(), origin(r), state("b")))
	if found := rows(t, j.Journal, 1); len(found) != 2 {
		t.Errorf("%d rows", len(found))
	}
}

func TestAgentSessionIsKeptPerDialogue(t *testing.T) {
	home := t.TempDir()
	j := open(t, options(home))
	ctx := t.Context()
	d := journal.Dialogue{Session: "sess_1", Agent: "agent_1", Profile: "p"}
	other := journal.Dialogue{Session: "sess_1", Agent: "agent_1", Profile: "q"}
	must(t, j.KeepAgentSession(ctx, d, "one"))
	must(t, j.KeepAgentSession(ctx, d, "two"))
	must(t, j.stop())
	again := open(t, options(home))
	got, err := again.AgentSession(ctx, d)
	none, noneErr := again.AgentSession(ctx, other)
	if got != "two" || none != "" || err != nil || noneErr != nil {
		t.Errorf("got %q and %q, %v, %v", got, none, err, noneErr)
	}
}

// Commands are known for as long as the hub might repeat them, and then forgotten.
func TestCommandsOfOldRunsAreForgotten(t *testing.T) {
	opts := options(t.TempDir())
	now := time.Now()
	opts.Now = func() time.Time { return now }
	j := open(t, opts)
	r := id.NewRun()
	c := admit(t, j.Journal, r)
	must(t, j.Commit(t.Context(), origin(r), completed()))
	j.PutCommitted(wire.CommitReceipt{Incarnation: j.State().Incarnation, Seq: 1})
	for _, tt := range []struct {
		age   time.Duration
		known bool
	}{{100 * time.Hour, true}, {100 * time.Hour, false}} {
		now = now.Add(tt.age)
		j.MaintainOnce(t)
		j.MaintainOnce(t)
		if _, known, err := j.Receipt(t.Context(), c.DeliveryID); known != tt.known || err != nil {
			t.Errorf("known %v, want %v, %v", known, tt.known, err)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
