package prompt

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// inquiry is a run that asks people, and everything that may be said about it, in any order.
type inquiry struct {
	runs    *runlog.Runs
	head    runlog.Head
	list    []Prompt
	seq     wire.ProducerSeq
	ever    []id.Request
	past    []runlog.Run          // the run as somebody may have read it
	settled map[id.Request]Prompt // each settled question as it was seen last
	orders  map[id.Request]int    // commands to the edge with an answer
}

// A question is settled once, by whatever comes first, and stays as it was settled; the answer goes to the process that asked or, if there is none, to
// another run, never to both; only an answer is delivered, once; and no question outlives its run.
func TestAQuestionIsSettledOnceWhateverComes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newInquiry(t)
		t.Repeat(map[string]func(*rapid.T){
			"asked": func(t *rapid.T) {
				request := id.NewRequest()
				w.ever = append(w.ever, request)
				w.row(t, event.PromptRequested, event.PromptRequestedPayload{
					RequestID: request, Kind: event.PromptPermission, ToolName: "Bash", Input: json.RawMessage(`{}`), Digest: digest, Asks: event.Person,
				})
			},
			"asked again": func(t *rapid.T) {
				if len(w.ever) == 0 {
					return
				}
				w.row(t, event.PromptRequested, event.PromptRequestedPayload{
					RequestID: rapid.SampledFrom(w.ever).Draw(t, "request"), Kind: event.PromptPermission, ToolName: "Other", Input: json.RawMessage(`{}`), Digest: digest, Asks: event.Person,
				})
			},
			"answered": func(t *rapid.T) {
				a := event.PromptAnsweredPayload{
					RequestID: w.any(t), Decision: rapid.SampledFrom([]event.Decision{allow, deny}).Draw(t, "decision"), By: event.Person, UserID: "user_a",
				}
				w.settle(t, func(r runlog.Run) (runlog.Reply, error) { return w.runs.Reply(r, a, runlog.Asker{Digest: digest}) })
			},
			"expired": func(t *rapid.T) {
				x := event.PromptExpiredPayload{RequestID: w.any(t), Reason: event.ExpiredByLimit}
				w.settle(t, func(r runlog.Run) (runlog.Reply, error) { return w.runs.Expire(r, x, runlog.Asker{Digest: digest}) })
			},
			"delivered": func(t *rapid.T) {
				w.row(t, event.PromptDelivered, event.PromptDeliveredPayload{RequestID: w.any(t), Decision: allow})
			},
			"content": func(t *rapid.T) { w.row(t, event.MessageDelta, event.DeltaPayload{Delta: "x"}) },
			"the process ends": func(t *rapid.T) {
				w.row(t, event.RunProcessEnded, event.ProcessEndedPayload{Reason: event.EndedUnseen})
			},
			"the run ends": func(t *rapid.T) { w.rarely(t, event.RunCompleted, event.RunCompletedPayload{}) },
			"":             w.check,
		})
	})
}

const digest = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func newInquiry(t *rapid.T) *inquiry {
	signer, err := runlog.NewSigner([]byte(digest))
	if err != nil {
		t.Fatal(err)
	}
	w := &inquiry{
		runs: runlog.New(runlog.Config{Signer: signer, Metrics: telemetry.NewRegistry("test")}).Runs, settled: map[id.Request]Prompt{}, orders: map[id.Request]int{},
		head: runlog.Head{Run: id.NewRun(), Edge: "edge_a", Lease: 1, State: run.StateRunning, TraceID: "0123456789abcdef0123456789abcdef"},
	}
	w.past = append(w.past, w.now())
	return w
}

func (w *inquiry) now() runlog.Run {
	return runlog.Run{
		ID: w.head.Run, Edge: w.head.Edge, Lease: w.head.Lease, State: w.head.State, LastEventSeq: w.head.Last, ProcessEnded: w.head.ProcessEnded,
	}
}

// any is some question, or one that was never asked.
func (w *inquiry) any(t *rapid.T) id.Request {
	return rapid.SampledFrom(append(slices.Clone(w.ever), "req_0123456789abcdef")).Draw(t, "request")
}

// row is what the edge reports.
func (w *inquiry) row(t *rapid.T, typ event.Type, payload any) {
	raw, err := event.Encode(payload)
	if err != nil {
		t.Fatal(err)
	}
	row, err := event.AppendRow(nil, event.Envelope{
		Version: event.Version, ID: id.NewEvent(), Seq: uint64(w.seq) + 1, Type: event.WireOf(typ, raw), Scope: event.Scope{RunID: w.head.Run},
		SentAt: time.Unix(int64(w.seq)+1, 0), Payload: raw,
	})
	if err != nil {
		t.Fatal(err)
	}
	f := runlog.PrepareFrame(w.head.Edge, runlog.LaneState{Watermark: w.seq}, wire.Frame{First: w.seq + 1, Rows: [][]byte{row}})
	grown, refused := f.Apply(map[id.Run]runlog.Head{w.head.Run: w.head})
	if len(refused) > 0 {
		t.Fatalf("%s was refused: %s", typ, refused[0].Code)
	}
	w.seq++
	w.keep(grown[0])
}

func (w *inquiry) rarely(t *rapid.T, typ event.Type, payload any) {
	if rapid.IntRange(0, 3).Draw(t, "really") == 0 {
		w.row(t, typ, payload)
	}
}

// keep is what a store does in its transaction.
func (w *inquiry) keep(g *runlog.Growth) {
	w.list = Keep(w.list, g, time.Unix(int64(g.Last), 0))
	w.head = g.Head
	w.head.Pending = nil
	for _, p := range w.list {
		if p.State == Pending {
			w.head.Pending = append(w.head.Pending, p.ID)
		}
	}
	w.past = append(w.past, w.now())
}

// settle prepares a reply for the run as somebody read it, now or some time ago, and applies it.
func (w *inquiry) settle(t *rapid.T, prepare func(runlog.Run) (runlog.Reply, error)) {
	reply, err := prepare(rapid.SampledFrom(w.past).Draw(t, "read"))
	if err != nil {
		t.Fatal(err)
	}
	was, known := Find(w.list, reply.Request)
	g, ok := w.head.Settle(reply)
	switch {
	case ok && (!known || was.State != Pending):
		t.Fatalf("%s was settled again: %+v", reply.Request, was)
	case ok && (reply.Command == nil) != w.head.ProcessEnded:
		t.Fatalf("an answer goes to a process: %t, and the process has ended: %t", reply.Command != nil, w.head.ProcessEnded)
	case !ok:
		return
	}
	if reply.Command != nil {
		w.orders[reply.Request]++
	}
	w.keep(g)
}

func (w *inquiry) check(t *rapid.T) {
	for _, p := range w.list {
		before, settled := w.settled[p.ID]
		switch {
		case p.State == Pending && (settled || w.head.State.Ended()):
			t.Fatalf("%s is pending (again) in a run that is %s", p.ID, w.head.State)
		case settled && (before.State != p.State || !sameAnswer(before.Answer, p.Answer)):
			t.Fatalf("%+v became %+v", before, p)
		}
		if p.Answer != nil && p.State != Answered || p.State == Answered && p.Answer == nil {
			t.Fatalf("%s is %s with the answer %+v", p.ID, p.State, p.Answer)
		}
		if p.State != Pending {
			w.settled[p.ID] = p
		}
		if w.orders[p.ID] > 1 || toolOf(p) != "Bash" {
			t.Fatalf("%s went to the edge %d times, and is %s", p.ID, w.orders[p.ID], toolOf(p))
		}
	}
}

// toolOf is what a permission is for.
func toolOf(p Prompt) string {
	var asked event.PromptRequestedPayload
	if err := json.Unmarshal(p.Payload, &asked); err != nil {
		return err.Error()
	}
	return asked.ToolName
}

// sameAnswer compares what was recorded; a delivery may come later, and once.
func sameAnswer(before, now *Answer) bool {
	if before == nil || now == nil {
		return before == now
	}
	moved := !before.DeliveredAt.IsZero() && !before.DeliveredAt.Equal(now.DeliveredAt)
	return !moved && before.Decision == now.Decision && before.User == now.User && before.At.Equal(now.At)
}
