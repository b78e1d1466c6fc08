package journal_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/edge-server/internal/journal"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

func start(r id.Run) wire.Command {
	return wire.Command{DeliveryID: id.NewDelivery(), Kind: wire.Start, RunID: r, Lease: 1, Body: []byte(`{}`)}
}

func admit(t *testing.T, j *journal.Journal, r id.Run) wire.Command {
	t.Helper()
	c := start(r)
	if err := j.AnswerStart(t.Context(), c, wire.CommandReceipt{DeliveryID: c.DeliveryID, RunID: r, Status: wire.Accepted}); err != nil {
		t.Fatal(err)
	}
	return c
}

// A row goes only when it is committed, its run has ended, and it is older than the window.
func TestTrimWaitsForCommitEndAndAge(t *testing.T) {
	for name, tt := range map[string]struct {
		last      run.Candidate
		committed bool
		age       time.Duration
		trimmed   bool
	}{
		"all of it":     {completed(), true, 73 * time.Hour, true},
		"process ended": {run.Candidate{Type: event.RunProcessEnded, Payload: event.ProcessEndedPayload{}}, true, 73 * time.Hour, true},
		"live run":      {state("b"), true, 73 * time.Hour, false},
		"not committed": {completed(), false, 73 * time.Hour, false},
		"young":         {completed(), true, 71 * time.Hour, false},
	} {
		t.Run(name, func(t *testing.T) {
			opts := options(t.TempDir())
			now := time.Now()
			opts.Now = func() time.Time { return now }
			j := open(t, opts)
			r := id.NewRun()
			admit(t, j.Journal, r)
			if err := j.Commit(t.Context(), origin(r), state("a"), tt.last); err != nil {
				t.Fatal(err)
			}
			s := j.State()
			if tt.committed {
				j.PutCommitted(wire.CommitReceipt{Incarnation: s.Incarnation, Seq: s.Head})
			}
			now = now.Add(tt.age)
			j.MaintainOnce(t)
			after := j.State()
			if trimmed := after.Floor == after.Head+1; trimmed != tt.trimmed || after.Head != 2 {
				t.Errorf("state is %+v", after)
			}
		})
	}
}

// After everything was trimmed, and the process was started again, numbers and chain go on where they were.
func TestNumbersGoOnAfterEverythingWasTrimmed(t *testing.T) {
	opts := options(t.TempDir())
	opts.Window = time.Nanosecond
	j := open(t, opts)
	r := id.NewRun()
	if err := j.Commit(t.Context(), origin(r), state("a"), state("b")); err != nil {
		t.Fatal(err)
	}
	chain, _, err := j.ChainAt(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	j.PutCommitted(wire.CommitReceipt{Incarnation: j.State().Incarnation, Seq: 2, Chain: chain})
	j.MaintainOnce(t)
	if err := j.stop(); err != nil {
		t.Fatal(err)
	}
	again := open(t, opts)
	if s := again.State(); s.Floor != 3 || s.Head != 2 || s.Committed() != 2 || s.Used != 0 {
		t.Fatalf("state is %+v", s)
	}
	if got, known, err := again.ChainAt(t.Context(), 2); got != chain || !known || err != nil {
		t.Errorf("chain at 2 is %v %v %v, was %v", got, known, err, chain)
	}
	if _, known, _ := again.ChainAt(t.Context(), 1); known {
		t.Error("the chain value of a trimmed row is known")
	}
	if err := again.Commit(t.Context(), origin(r), state("c")); err != nil {
		t.Fatal(err)
	}
	if found := rows(t, again.Journal, 3); len(found) != 1 || found[0].Seq != 3 {
		t.Errorf("rows are %+v", found)
	}
	if err := again.Verify(t.Context()); err != nil {
		t.Error(err)
	}
}

func large() run.Candidate {
	content := strings.Repeat("large ", 100_000)
	return run.Candidate{Type: event.MessageDone, Payload: event.MessageCompletedPayload{MessageID: "msg_1", Content: content}}
}

func TestLargeValueLivesBesideTheLogAsLongAsItsRow(t *testing.T) {
	opts := options(t.TempDir())
	opts.Window = time.Nanosecond
	j := open(t, opts)
	r := id.NewRun()
	if err := j.Commit(t.Context(), origin(r), state("before"), large(), large(), completed()); err != nil {
		t.Fatal(err)
	}
	batch, err := j.Read(t.Context(), 1, 1<<20)
	if err != nil || len(batch.Rows) != 1 || len(batch.Missing) != 1 {
		t.Fatalf("batch is %+v, %v", batch, err)
	}
	ref := batch.Missing[0]
	file, err := j.OpenBlob(ref)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := file.Stat(); err != nil || info.Size() != ref.Size || info.Mode().Perm() != 0o600 {
		t.Errorf("blob is %v, %v", info, err)
	}
	if err := errors.Join(file.Close(), j.MarkUploaded(t.Context(), ref.SHA256, true)); err != nil {
		t.Fatal(err)
	}
	if batch, err = j.Read(t.Context(), 1, 1<<20); err != nil || len(batch.Rows) != 4 || len(batch.Missing) != 0 {
		t.Fatalf("batch is %+v, %v", batch, err)
	}
	used := j.State().Used
	j.PutCommitted(wire.CommitReceipt{Incarnation: j.State().Incarnation, Seq: 4})
	j.MaintainOnce(t)
	if _, err := j.OpenBlob(ref); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("blob after the trim: %v", err)
	}
	if s := j.State(); used < ref.Size || s.Used != 0 {
		t.Errorf("used %d, then %d", used, s.Used)
	}
}

// A request that is too large for a row waits until the hub has its input, as a tool's arguments do: nobody is asked about what cannot be shown.
func TestLargeInputOfAPromptGoesBeforeItsRow(t *testing.T) {
	j := open(t, options(t.TempDir()))
	input := json.RawMessage(`{"content":"` + strings.Repeat("large ", 100_000) + `"}`)
	must(t, j.Commit(t.Context(), origin(id.NewRun()), run.Candidate{Type: event.PromptRequested, Payload: event.PromptRequestedPayload{
		RequestID: id.NewRequest(), ToolName: "Write", Input: input, Digest: "d", Asks: event.Person,
	}}))
	batch, err := j.Read(t.Context(), 1, 1<<20)
	if err != nil || len(batch.Rows) != 0 || len(batch.Missing) != 1 || batch.Missing[0].Size != int64(len(input)) {
		t.Fatalf("batch is %+v, %v", batch, err)
	}
	must(t, j.MarkUploaded(t.Context(), batch.Missing[0].SHA256, true))
	var p event.PromptRequestedPayload
	must(t, json.Unmarshal(rows(t, j.Journal, 1)[0].Payload, &p))
	if string(p.Input) != `{}` || p.InputBlob == nil || *p.InputBlob != batch.Missing[0] || p.ToolName != "Write" {
		t.Errorf("the row has %+v", p)
	}
}

func TestBlobThatNoRowNamesIsGoneAfterARestart(t *testing.T) {
	home := t.TempDir()
	j := open(t, options(home))
	ref, err := j.PutBlob(strings.NewReader("never named"))
	if err != nil {
		t.Fatal(err)
	}
	if err := j.stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, options(home)).OpenBlob(ref); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestEventTooLargeForARowIsKeptWhole(t *testing.T) {
	j := open(t, options(t.TempDir()))
	r := id.NewRun()
	fact := run.Candidate{Type: "run.agent.file_change", Payload: map[string]string{"diff": strings.Repeat("x", 300_000)}}
	if err := j.Commit(t.Context(), origin(r), fact); err != nil {
		t.Fatal(err)
	}
	batch, err := j.Read(t.Context(), 1, 1<<20)
	if err != nil || len(batch.Missing) != 1 || batch.Missing[0].Size < 300_000 {
		t.Errorf("batch is %+v, %v", batch, err)
	}
}
