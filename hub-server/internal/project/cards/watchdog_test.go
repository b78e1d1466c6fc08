package cards_test

import (
	"encoding/json"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/hub-server/internal/project/cards"
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// always is the presence of edges that were never away.
func always(id.Run) (time.Time, bool) { return time.Time{}, true }

// watched is a trace under a watchdog, at a time of the hub's clock.
type watched struct {
	t     *testing.T
	state *cards.State
	place int64
	now   time.Time
}

func watch(t *testing.T) *watched {
	return &watched{t: t, state: cards.New(trace, session, card.English), now: time.Unix(1_800_000_000, 0).UTC()}
}

// says applies an event after a while.
func (w *watched) says(after time.Duration, t event.Type, payload string) []cards.Frame {
	w.now = w.now.Add(after)
	w.place++
	restored, err := cards.Restore(w.state.Encode())
	if err != nil {
		w.t.Fatal(err)
	}
	w.state = restored
	return w.state.Apply(cards.Fact{
		Place: w.place, At: w.now.Add(-time.Hour), Recorded: w.now, // the edge's clock is slow: it does not matter
		Run: cards.Run{ID: theRun}, Event: t, Payload: json.RawMessage(payload),
	})
}

// due holds what the watchdog waits for.
func (w *watched) due(presence cards.Presence, cardID string, in time.Duration) {
	w.t.Helper()
	due, ok := w.state.Deadline(presence)
	if cardID == "" {
		if ok {
			w.t.Errorf("%s is due in %s, want nothing", due.Card, due.At.Sub(w.now))
		}
		return
	}
	if !ok || due.Card != cardID || due.At.Sub(w.now) != in || due.Run != theRun {
		w.t.Errorf("due: %+v in %s, %v; want %s in %s", due, due.At.Sub(w.now), ok, cardID, in)
	}
}

func TestActivityRenewsACardAndAllAboveIt(t *testing.T) {
	w := watch(t)
	w.due(always, "", 0)
	w.says(0, event.RunStarted, `{}`)
	w.due(always, "turn_0000000000000001", 600*time.Second)
	w.says(time.Minute, event.MessageStarted, `{"message_id":"msg_1"}`)
	w.due(always, "msg_1", 300*time.Second)
	w.says(time.Minute, event.ToolStarted, `{"tool_call_id":"a","tool_name":"Agent"}`)
	w.due(always, "a", 120*time.Second)
	w.says(time.Minute, event.TaskStarted, `{"agent_id":"sub","name":"helper","tool_call_id":"a"}`)
	w.due(always, "a", 120*time.Second) // renewed by the agent card below it
	w.says(time.Minute, event.StatusChange, `{"agent_id":"sub","stage":"thinking"}`)
	w.due(always, "a", 120*time.Second)
	w.says(100*time.Millisecond, event.StatusChange, `{"agent_id":"sub","stage":"thinking"}`)
	w.due(always, "a", 120*time.Second) // what is not shown is a sign of life all the same
	w.says(time.Minute, event.ToolCompleted, `{"tool_call_id":"a","result":1}`)
	w.due(always, "msg_1", 300*time.Second)
	w.says(time.Minute, event.StatusChange, `{"agent_id":"sub","stage":"thinking"}`)
	w.due(always, "msg_1", 300*time.Second) // through the call above, which is closed
	w.says(time.Minute, event.Todo, `{"todo_id":"1","subject":"x"}`)
	w.says(0, event.MessageDone, `{"message_id":"msg_1","content":""}`)
	w.due(always, "sub", 540*time.Second) // no other card is above or below it but the turn; a todo is not watched
	w.says(time.Minute, event.RunCompleted, `{}`)
	w.due(always, "", 0)
}

func TestAQuestionStopsTheWatchOverAllThatWaitsForIt(t *testing.T) {
	w := watch(t)
	w.says(0, event.RunStarted, `{}`)
	w.says(0, event.MessageStarted, `{"message_id":"msg_1"}`)
	w.says(0, event.ToolStarted, `{"tool_call_id":"a","tool_name":"Agent"}`)
	w.says(0, event.TaskStarted, `{"agent_id":"sub","name":"helper","tool_call_id":"a"}`)
	w.says(0, event.ToolStarted, `{"tool_call_id":"b","tool_name":"Bash","agent_id":"sub"}`)
	w.says(0, event.ToolStarted, `{"tool_call_id":"c","tool_name":"Other"}`)
	w.says(time.Minute, event.PromptRequested, `{"request_id":"req_1","kind":"question","inner":{},"agent_id":"sub","asks":"person"}`)
	w.due(always, "c", time.Minute) // beside it: it does not wait
	w.says(0, event.ToolCompleted, `{"tool_call_id":"c","result":1}`)
	w.due(always, "", 0)
	w.says(24*time.Hour, event.PromptAnswered, `{"request_id":"req_1","kind":"question","decision":"allow","by":"person"}`)
	w.due(always, "a", 120*time.Second) // the full time again; "b" has as much
	w.says(0, event.ToolCompleted, `{"tool_call_id":"b","result":1,"agent_id":"sub"}`)
	w.says(0, event.PromptRequested, `{"request_id":"req_2","kind":"permission","tool_name":"x","input":{},"tool_call_id":"a","asks":"person"}`)
	w.due(always, "sub", 600*time.Second)
	w.says(0, event.PromptExpired, `{"request_id":"req_2","reason":"ttl"}`)
	w.due(always, "a", 120*time.Second)
}

func TestAnAbsentEdgeStopsTheWatchOverItsRuns(t *testing.T) {
	w := watch(t)
	w.says(0, event.RunStarted, `{}`)
	w.says(0, event.ToolStarted, `{"tool_call_id":"a","tool_name":"Bash"}`)
	w.due(func(id.Run) (time.Time, bool) { return time.Time{}, false }, "", 0)
	back := w.now.Add(time.Hour)
	w.due(func(id.Run) (time.Time, bool) { return back, true }, "a", time.Hour+120*time.Second)
	w.says(2*time.Hour, event.MessageStarted, `{"message_id":"msg_1"}`)
	w.due(func(id.Run) (time.Time, bool) { return back, true }, "a", -time.Hour+120*time.Second) // it is late
}

// A card that was given up is no sign of life, is watched no more, and may have its real end after all.
func TestAnOrphanIsClosedOnceAndMayComeBack(t *testing.T) {
	w := watch(t)
	w.says(0, event.RunStarted, `{}`)
	w.says(0, event.ToolStarted, `{"tool_call_id":"a","tool_name":"Bash"}`)
	if got := w.says(2*time.Minute, event.RunCardOrphaned, `{"card_id":"a","card_kind":"tool","timeout_ms":120000}`); len(got) != 1 {
		t.Errorf("%d events, want its close", len(got))
	}
	w.due(always, "turn_0000000000000001", 480*time.Second)
	if got := w.says(0, event.RunCardOrphaned, `{"card_id":"a","card_kind":"tool","timeout_ms":120000}`); len(got) != 0 {
		t.Errorf("%d events for a card that is closed", len(got))
	}
	if got := w.says(0, event.ToolCompleted, `{"tool_call_id":"a","result":1}`); len(got) != 1 {
		t.Errorf("%d events, want its real end", len(got))
	}
	w.due(always, "turn_0000000000000001", 600*time.Second)
}

// TestTheDeadlineIsWhatAWatcherOfTheTraceWorksOut compares with a watchdog that sees nothing but the events of the trace.
func TestTheDeadlineIsWhatAWatcherOfTheTraceWorksOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &world{t: t, now: time.Date(2026, 5, 7, 10, 0, 0, 0, time.UTC), least: tickPause, pause: 5000}
		w.play(rapid.IntRange(1, 3).Draw(t, "runs"))
		s := cards.New(trace, session, card.English)
		seen := observer{cards: map[string]*observed{}, asked: map[string]string{}}
		for _, f := range withOrphans(t, w.facts) {
			for _, e := range events(t, s.Apply(f)) {
				seen.see(t, e, f)
			}
			due, ok := s.Deadline(always)
			at, some := seen.deadline()
			if ok != some || ok && !due.At.Equal(at) {
				t.Fatalf("after %s: %s due %v at %s, a watcher says %v at %s", f.Event, due.Card, ok, due.At, some, at)
			}
		}
	})
}

const tickPause = 250 // ms: no tick comes so soon after another one that it is left out

// observed is a card as a watcher of the trace knows it.
type observed struct {
	kind   card.Kind
	agent  string
	run    id.Run
	parent string
	open   bool
	heard  time.Time
}

// observer keeps the parent of every card for ever, as facts 0.5 has it.
type observer struct {
	cards map[string]*observed
	asked map[string]string // by request: the agent that asks
}

func (o *observer) see(t *rapid.T, e card.Event, f cards.Fact) {
	v := e.Envelope
	body, err := e.Body()
	if err != nil {
		t.Fatal(err)
	}
	switch p := body.(type) {
	case *card.PromptPayload:
		o.asked[p.RequestID] = v.AgentID + "/" + string(v.AgentRunID)
		return
	case *card.ReplyPayload:
		scope := o.asked[p.RequestID]
		delete(o.asked, p.RequestID)
		if f.Event.Terminal() {
			return
		}
		for id, c := range o.cards {
			if c.open && c.agent+"/"+string(c.run) == scope {
				o.renew(id, f.Recorded)
			}
		}
		o.renew(o.top(scope), f.Recorded)
		return
	}
	switch e.Type {
	case card.Add:
		o.cards[v.CardID] = &observed{kind: v.CardKind, agent: v.AgentID, run: v.AgentRunID, parent: v.ParentCardID, open: true}
	case card.Set, card.Append:
		o.cards[v.CardID].open = true
	case card.Close:
		if o.cards[v.CardID].open = false; f.Event == event.RunCardOrphaned {
			return // no sign of life
		}
	}
	o.renew(v.CardID, f.Recorded)
}

// top is the card that an agent works in.
func (o *observer) top(scope string) string {
	for id, c := range o.cards {
		if c.agent+"/"+string(c.run) == scope && (c.kind == card.Turn || id == c.agent) {
			return id
		}
	}
	return ""
}

func (o *observer) renew(id string, at time.Time) {
	for c := o.cards[id]; c != nil; c = o.cards[c.parent] {
		c.heard = at
	}
}

func (o *observer) deadline() (time.Time, bool) {
	paused := map[string]bool{}
	scopes := map[string]bool{}
	for _, scope := range o.asked {
		scopes[scope] = true
		for id := o.top(scope); o.cards[id] != nil; id = o.cards[id].parent {
			paused[id] = true
		}
	}
	var first time.Time
	for id, c := range o.cards {
		timeout := card.Lookup(c.kind).Timeout
		if !c.open || timeout == 0 || paused[id] || scopes[c.agent+"/"+string(c.run)] {
			continue
		}
		if at := c.heard.Add(timeout); first.IsZero() || at.Before(first) {
			first = at
		}
	}
	return first, !first.IsZero()
}

// Nothing of an agent is late while a client carries a call of its out, for as long as the call itself may take.
func TestWhatWaitsForAClientIsNotLate(t *testing.T) {
	w := watch(t)
	w.says(0, event.RunStarted, `{}`)
	w.says(0, event.ToolStarted, `{"tool_call_id":"a","tool_name":"pick","arguments":{},"target":"client"}`)
	w.says(0, event.PromptRequested, `{"request_id":"req_1","kind":"client_tool","tool_name":"pick","input":{},"tool_call_id":"a","asks":"client","timeout_ms":7200000}`)
	w.due(always, "", 0)
	w.says(time.Hour, event.PromptAnswered, `{"request_id":"req_1","kind":"client_tool","decision":"allow","by":"client","response":{"status":"ok"}}`)
	w.due(always, "a", card.Lookup(card.Tool).Timeout)
	w.says(0, event.PromptRequested, `{"request_id":"req_2","kind":"client_tool","tool_name":"pick","input":{},"tool_call_id":"a","asks":"client","timeout_ms":7200000}`)
	w.due(always, "", 0)
	w.says(0, event.ToolFailed, `{"tool_call_id":"a","error":{"code":"agent_error","message":"Its process is gone.","retryable":false}}`)
	if due, ok := w.state.Deadline(always); !ok || due.Kind == card.Tool {
		t.Errorf("after the end of the call it is still waited for: %+v, %v", due, ok)
	}
}
