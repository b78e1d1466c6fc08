package frames

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
	"github.com/switchyard-dev/switchyard/hub-server/internal/prompt"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeRecord holds one run, one message and one edge.
type fakeRecord struct {
	events  []runlog.StoredEvent
	message chat.Message
	asked   prompt.Prompt
	owner   id.User
	fail    error

	spoilt    id.Message // cannot be read, nor what is asked for with it
	runs      int        // reads of them
	reads     int        // of everything
	stretches []Stretch  // that were asked for last
}

var errSpoilt = errors.New("spoilt")

func (r *fakeRecord) Headers(_ context.Context, runs []id.Run) (found []Header, err error) {
	r.runs++
	r.reads++
	if slices.Contains(runs, header.Run) {
		found = append(found, header)
	}
	return found, r.fail
}

func (r *fakeRecord) Stretches(_ context.Context, stretches []Stretch) (found []runlog.StoredEvent, err error) {
	r.reads++
	r.stretches = stretches
	for _, e := range r.events {
		if slices.ContainsFunc(stretches, func(s Stretch) bool { return s.Run == e.Run && s.From <= e.Seq && e.Seq <= s.To }) {
			found = append(found, e)
		}
	}
	return found, r.fail
}

func (r *fakeRecord) CancelledBy(context.Context, id.Run) (id.User, error) { return canceller, r.fail }

func (r *fakeRecord) MessagesByID(_ context.Context, messages []id.Message) (found []chat.Message, err error) {
	r.reads++
	if r.spoilt != "" && slices.Contains(messages, r.spoilt) {
		return nil, errSpoilt
	}
	if slices.Contains(messages, r.message.ID) {
		found = append(found, r.message)
	}
	return found, r.fail
}

func (r *fakeRecord) PromptsByID(_ context.Context, requests []id.Request) (found []prompt.Prompt, err error) {
	if slices.Contains(requests, r.asked.ID) {
		found = append(found, r.asked)
	}
	return found, r.fail
}

func (r *fakeRecord) Edge(_ context.Context, e id.Edge) (fleet.Edge, error) {
	if e != edge {
		return fleet.Edge{}, fault.New(fault.NotFound, "no such edge")
	}
	return fleet.Edge{ID: e, Owner: r.owner}, r.fail
}

func runRow(from, to uint64) delivery.Row {
	return delivery.Row{Position: 1, Kind: delivery.KindRun, Run: header.Run, Session: header.Session, From: from, To: to}
}

// expandOne expands a row by itself.
func expandOne(t *testing.T, x *Expander, row delivery.Row) (delivery.Expansion, error) {
	t.Helper()
	all, err := x.Expand(t.Context(), []delivery.Row{row})
	if err != nil {
		return delivery.Expansion{}, err
	}
	if len(all) != 1 {
		t.Fatalf("a row expands to %d", len(all))
	}
	return all[0], nil
}

func types(bodies []delivery.Body) []string {
	var names []string
	for _, b := range bodies {
		names = append(names, string(b.Type))
	}
	return names
}

func TestARunRowGivesItsEventsAndTheOutcome(t *testing.T) {
	r := &fakeRecord{events: []runlog.StoredEvent{
		committed(1, event.RunStarted, `{"started_at":"2026-09-07T09:30:00Z"}`),
		committed(2, event.Thinking, `{}`), committed(3, event.Thinking, `{}`),
		committed(4, event.RunCancelled, `{"external_stop_confirmed":true}`),
	}}
	x := NewExpander(r)
	for _, c := range []struct {
		from, to uint64
		want     []string
	}{
		{1, 1, []string{"agent.stream"}},
		{2, 3, []string{"agent.stream", "agent.stream"}},
		{3, 4, []string{"agent.stream", "agent.stream", "agent.cancel"}},
	} {
		got, err := expandOne(t, x, runRow(c.from, c.to))
		if err != nil || !slices.Equal(types(got.Bodies), c.want) || got.Others != nil {
			t.Errorf("events %d to %d gave %v, error %v, want %v for all alike", c.from, c.to, types(got.Bodies), err, c.want)
		}
		if last := got.Bodies[len(got.Bodies)-1]; last.Type == event.FrameAgentCancel && !strings.Contains(string(last.Payload), string(canceller)) {
			t.Errorf("agent.cancel does not say who: %s", last.Payload)
		}
	}
	if r.runs != 1 {
		t.Errorf("the run was read %d times", r.runs)
	}
}

// Ruling R18: who does not own the edge does not learn where its folders are.
func TestStrangersDoNotSeeTheWorkingDirectory(t *testing.T) {
	r := &fakeRecord{owner: canceller, events: []runlog.StoredEvent{
		committed(1, event.RunQueued, `{"reason":"busy"}`),
		committed(2, event.RunStarted, `{"started_at":"2026-09-07T09:30:00Z","workDir":"/home/me/secret-project"}`),
		committed(3, event.ToolStarted, `{"tool_call_id":"c","tool_name":"read","arguments":{"path":"/home/me/secret-project/a"}}`),
	}}
	got, err := expandOne(t, NewExpander(r), runRow(1, 3))
	if err != nil {
		t.Fatal(err)
	}
	if got.Owner != canceller || len(got.Bodies) != 3 || len(got.Others) != 3 {
		t.Fatalf("owner %q gets %d frames, others %d", got.Owner, len(got.Bodies), len(got.Others))
	}
	if !strings.Contains(string(got.Bodies[1].Payload), "secret-project") || strings.Contains(string(got.Others[1].Payload), "secret-project") {
		t.Errorf("the owner sees %s, others %s", got.Bodies[1].Payload, got.Others[1].Payload)
	}
	for _, i := range []int{0, 2} {
		if string(got.Bodies[i].Payload) != string(got.Others[i].Payload) {
			t.Errorf("frame %d differs: arguments are never touched", i)
		}
	}
}

func TestAMessageRowGivesTheMessageAsItIs(t *testing.T) {
	r := &fakeRecord{message: chat.Message{ID: id.NewMessage(), Session: header.Session, Sender: chat.OfAgent(header.Agent), Content: []byte(`{"text":"<hi>"}`)}}
	got, err := expandOne(t, NewExpander(r), delivery.Row{Kind: delivery.KindMessage, Message: r.message.ID})
	if err != nil || len(got.Bodies) != 1 || got.Bodies[0].Type != frameMessageNew {
		t.Fatalf("got %v, error %v", types(got.Bodies), err)
	}
	if want, _ := chat.Frame(r.message); string(got.Bodies[0].Payload) != string(want) {
		t.Errorf("got %s, want %s", got.Bodies[0].Payload, want)
	}
}

func TestAPromptRowTellsWhatItsEventHasMadeOfTheQuestion(t *testing.T) {
	const asked = `{"question":"a  <b>?"}`
	r := &fakeRecord{
		asked: prompt.Prompt{ID: "req_0123456789abcdef", Run: header.Run, Kind: event.PromptQuestion, Payload: []byte(asked), State: prompt.Answered},
		events: []runlog.StoredEvent{
			committed(1, event.PromptRequested, asked),
			committed(2, event.PromptAnswered, `{"decision":"deny","by":"person","user_id":"user_1"}`),
			committed(3, event.PromptExpired, `{}`), committed(4, event.RunFailed, `{}`),
		},
	}
	x := NewExpander(r)
	for at, want := range []string{`"state":"pending"`, `"state":"answered"`, `"state":"expired"`, `"state":"cancelled"`} {
		row := delivery.Row{Kind: delivery.KindPrompt, Run: header.Run, Prompt: r.asked.ID, From: uint64(at + 1), To: uint64(at + 1)}
		got, err := expandOne(t, x, row)
		if err != nil || !slices.Equal(types(got.Bodies), []string{"notification.new"}) {
			t.Fatalf("event %d gave %v, error %v", at+1, types(got.Bodies), err)
		}
		payload := string(got.Bodies[0].Payload)
		if !strings.HasPrefix(payload, `{"id":"req_0123456789abcdef","type":"prompt",`) || !strings.Contains(payload, want) || !strings.HasSuffix(payload, asked+"}}") {
			t.Errorf("event %d is told as %s", at+1, payload)
		}
		again, err := expandOne(t, NewExpander(r), row) // another hub
		if err != nil || string(again.Bodies[0].Payload) != payload {
			t.Errorf("told again as %s, %v", again.Bodies[0].Payload, err)
		}
	}
}

func TestWhatIsGoneGivesNothingAndWhatCannotBeReadAnError(t *testing.T) {
	r := &fakeRecord{events: []runlog.StoredEvent{committed(1, event.Thinking, `{}`)}}
	x := NewExpander(r)
	gone := []delivery.Row{
		{Kind: delivery.KindMessage, Message: id.NewMessage()},
		{Kind: delivery.KindRun, Run: id.NewRun(), From: 1, To: 1},
		{Kind: delivery.KindPrompt, Run: header.Run, Prompt: id.NewRequest(), From: 1, To: 1},
	}
	for _, row := range gone {
		if got, err := expandOne(t, x, row); err != nil || len(got.Bodies) != 0 {
			t.Errorf("%s row of something that is gone: %v, error %v", row.Kind, types(got.Bodies), err)
		}
	}
	if _, err := expandOne(t, x, delivery.Row{Kind: "of tomorrow"}); err == nil {
		t.Error("a row of a newer format was skipped")
	}
	r.fail = errors.New("store is away")
	for _, row := range []delivery.Row{runRow(1, 1), {Kind: delivery.KindMessage, Message: r.message.ID}} {
		if _, err := expandOne(t, x, row); !errors.Is(err, r.fail) {
			t.Errorf("%s row with the store away: error %v", row.Kind, err)
		}
	}
}

// What has left is not owed to anybody any more, nor what is left of a row.
func TestARowOfEventsThatWereArchivedGivesNothing(t *testing.T) {
	r := &fakeRecord{asked: prompt.Prompt{ID: "req_0123456789abcdef", Run: header.Run}}
	for seq := range runlog.EventSeq(4) {
		r.events = append(r.events, committed(seq+5, event.Thinking, `{}`)) // 5 to 8
	}
	for _, c := range []struct {
		from, to uint64
		frames   int
	}{{3, 3, 0}, {3, 5, 0}, {4, 6, 0}, {5, 5, 1}, {6, 8, 3}, {8, 9, 0}, {9, 9, 0}, {6, 5, 0}, {1, 1 << 63, 0}} {
		if got, err := expandOne(t, NewExpander(r), runRow(c.from, c.to)); err != nil || len(got.Bodies) != c.frames {
			t.Errorf("%d to %d: %d frames, %v, want %d", c.from, c.to, len(got.Bodies), err, c.frames)
		}
	}
	row := runRow(4, 4)
	row.Kind, row.Prompt = delivery.KindPrompt, r.asked.ID
	if got, err := expandOne(t, NewExpander(r), row); err != nil || len(got.Bodies) != 0 {
		t.Errorf("a question whose event has left: %+v, %v", got, err)
	}
}
