package sqlstore

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/hub-server/internal/project/frames"
	"github.com/switchyard-dev/switchyard/hub-server/internal/prompt"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
	"pgregory.net/rapid"
)

// inOne is the record as a hub reads it for its outbox.
type inOne struct {
	*Store
	*Runlog
	*Chat
	*Fleet
	*Prompts
}

// apart is the same record, read by the questions that are about one thing.
type apart struct{ inOne }

func eachOf[K, V any](keys []K, read func(K) (V, error)) (found []V, err error) {
	for _, key := range keys {
		one, err := read(key)
		if code := fault.CodeOf(err); code == fault.NotFound || code == fault.EventsExpired {
			continue
		}
		if err != nil {
			return nil, err
		}
		found = append(found, one)
	}
	return found, nil
}

func (a apart) MessagesByID(ctx context.Context, messages []id.Message) ([]chat.Message, error) {
	return eachOf(messages, func(m id.Message) (chat.Message, error) { return a.Message(ctx, m) })
}

func (a apart) Headers(ctx context.Context, runs []id.Run) ([]frames.Header, error) {
	return eachOf(runs, func(runID id.Run) (frames.Header, error) {
		r, err := a.Run(ctx, runID)
		return frames.Header{Run: r.ID, Session: r.Session, Agent: r.Agent, TraceID: r.TraceID}, err
	})
}

func (a apart) Stretches(ctx context.Context, stretches []frames.Stretch) (events []runlog.StoredEvent, err error) {
	parts, err := eachOf(stretches, func(s frames.Stretch) ([]runlog.StoredEvent, error) {
		some, _, err := a.Events(ctx, s.Run, s.From-1, int(s.To-s.From)+1)
		return some, err
	})
	for _, some := range parts {
		events = append(events, some...)
	}
	return events, err
}

func (a apart) PromptsByID(ctx context.Context, requests []id.Request) ([]prompt.Prompt, error) {
	return eachOf(requests, func(request id.Request) (found prompt.Prompt, err error) {
		var runID id.Run
		const query = `SELECT run_id FROM prompts WHERE request_id = $1`
		if err := a.readDB.QueryRowContext(ctx, query, string(request)).Scan(&runID); err != nil {
			return found, err
		}
		return a.Prompt(ctx, runID, request)
	})
}

// tale is what happens in a conversation with an agent that asks and others that come and go.
type tale struct {
	*asker
	open, over []id.Run
	messages   []id.Message
	asked      []id.Request
}

// pick takes one of a list out of it; false if there is none.
func pick[T any](rt *rapid.T, list *[]T) (one T, ok bool) {
	if len(*list) == 0 {
		return one, false
	}
	i := rapid.IntRange(0, len(*list)-1).Draw(rt, "which")
	one = (*list)[i]
	*list = append((*list)[:i:i], (*list)[i+1:]...)
	return one, true
}

func (w *tale) speak(rt *rapid.T) {
	runs := append([]id.Run{w.n.ID}, w.open...)
	run := rapid.SampledFrom(runs).Draw(rt, "run")
	for range rapid.IntRange(1, 3).Draw(rt, "times") {
		w.j.say(w.t, run, "<words> of 1e400")
	}
	if rapid.Bool().Draw(rt, "sent at once") {
		w.j.flush(w.t, w.record)
	}
}

func (w *tale) begin(*rapid.T) {
	n := w.start(w.t, w.n.Session)
	w.j.answer(w.t, w.record, wire.Accepted, "")
	w.j.write(w.t, n.ID, wireStarted, json.RawMessage(`{"started_at":"2026-01-02T03:04:05Z","workDir":"/home/me"}`))
	w.open = append(w.open, n.ID)
}

func (w *tale) end(rt *rapid.T) {
	run, ok := pick(rt, &w.open)
	if !ok {
		return
	}
	if how := rapid.SampledFrom([]event.WireType{wireFinished, wireCancelled, wireFailed}).Draw(rt, "how"); how == wireFailed {
		w.j.write(w.t, run, how, json.RawMessage(`{"error":{"code":"internal","message":"no"}}`))
	} else {
		w.j.write(w.t, run, how, json.RawMessage(`{}`))
	}
	w.j.flush(w.t, w.record)
	w.over = append(w.over, run)
}

func (w *tale) wonders(*rapid.T) {
	w.asked = append(w.asked, w.ask(event.Person, `{"command":"ls  <b>"}`))
}

func (w *tale) answered(rt *rapid.T) {
	if request, ok := pick(rt, &w.asked); ok {
		w.must(request, event.Deny)
	}
}

func (w *tale) writes(rt *rapid.T) {
	m := chat.Message{
		ID: id.NewMessage(), Session: w.n.Session, Sender: chat.OfUser(w.ada.User), ContentType: chat.Text, Content: []byte(`{"text":"hi"}`),
		CreatedAt: time.Unix(1, 0),
	}
	if rapid.Bool().Draw(rt, "with a file") {
		m.Attachments = []wire.Attachment{{}}
	}
	do(w.t, w.writer, lockSetOf(w.n.Session, w.n.ID), func(ctx context.Context, tx *Tx) error {
		_, err := tx.insertMessage(ctx, m)
		return err
	})
	w.messages = append(w.messages, m.ID)
}

// exec changes what rows of the outbox are about, behind their back.
func (w *tale) exec(query string, args ...any) {
	do(w.t, w.writer, nil, func(ctx context.Context, tx *Tx) error {
		_, err := tx.Exec(ctx, query, args...)
		return err
	})
}

func (w *tale) edited(rt *rapid.T) {
	if m, ok := pick(rt, &w.messages); ok {
		w.exec(`UPDATE messages SET content = $2, revision = 1, edited_at = 7 WHERE id = $1`, string(m), []byte(`{"text":"ho"}`))
	}
}

func (w *tale) erased(rt *rapid.T) {
	if m, ok := pick(rt, &w.messages); ok {
		w.exec(`DELETE FROM messages WHERE id = $1`, string(m))
	}
}

// leaves moves the floor of a log up, and removes some of what is below.
func (w *tale) leaves(rt *rapid.T) {
	if run, ok := pick(rt, &w.over); ok {
		floor := rapid.IntRange(1, int(w.get(w.t, run).LastEventSeq)).Draw(rt, "floor")
		w.exec(`UPDATE runs SET floor_seq = $2 WHERE run_id = $1`, string(run), floor)
		w.exec(`DELETE FROM run_events WHERE run_id = $1 AND event_seq <= $2`, string(run), rapid.IntRange(0, floor).Draw(rt, "removed"))
	}
}

// check holds what rows expand to together to what each expands to by itself, read by itself.
func (w *tale) check(rt *rapid.T, rows []delivery.Row) {
	record := inOne{w.store, NewRunlog(w.store, w.writer, "hub"), NewChat(w.store, w.writer), NewFleet(w.store, w.writer), NewPrompts(w.store, w.writer)}
	first := rapid.IntRange(0, len(rows)).Draw(rt, "first")
	rows = rows[first:rapid.IntRange(first, len(rows)).Draw(rt, "behind the last")]
	got, err := frames.NewExpander(record).Expand(w.t.Context(), rows)
	if err != nil || len(got) != len(rows) {
		rt.Fatalf("%d rows of %d, error %v", len(got), len(rows), err)
	}
	for i, row := range rows {
		want, err := frames.NewExpander(apart{record}).Expand(w.t.Context(), []delivery.Row{row})
		if err != nil {
			rt.Fatal(err)
		}
		if got, want := shown(got[i]), shown(want[0]); got != want {
			rt.Fatalf("row %+v expands to\n%s\nwant\n%s", row, got, want)
		}
	}
}

func shown(x delivery.Expansion) (text string) {
	for _, b := range x.Bodies {
		text += fmt.Sprintf("%s %s\n", b.Type, b.Payload)
	}
	text += fmt.Sprintf("owner %q\n", x.Owner)
	for _, b := range x.Others {
		text += fmt.Sprintf("others %s %s\n", b.Type, b.Payload)
	}
	return text
}

func TestRowsReadTogetherSayWhatEachSaysByItself(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		w := &tale{asker: a}
		kinds := map[delivery.Kind]int{}
		rapid.Check(t, func(rt *rapid.T) {
			bounds, err := w.store.Bounds(t.Context())
			if err != nil {
				rt.Fatal(err)
			}
			for range rapid.IntRange(1, 12).Draw(rt, "moves") {
				move := rapid.SampledFrom([]func(*rapid.T){
					w.speak, w.speak, w.begin, w.end, w.wonders, w.answered, w.writes, w.writes, w.edited, w.erased, w.leaves,
				})
				move.Draw(rt, "move")(rt)
			}
			w.j.flush(t, w.record)
			rows, err := w.store.Rows(t.Context(), bounds.Head-min(bounds.Head, 100), 1000) // some of what was before, too
			if err != nil {
				rt.Fatal(err)
			}
			for _, row := range rows {
				kinds[row.Kind]++
			}
			w.check(rt, rows)
		})
		for _, kind := range []delivery.Kind{delivery.KindFrame, delivery.KindMessage, delivery.KindRun, delivery.KindPrompt} {
			if kinds[kind] < 10 {
				t.Errorf("the tales have %d rows of kind %s: they show little", kinds[kind], kind)
			}
		}
	})
}
