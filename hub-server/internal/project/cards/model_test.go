package cards_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/project/cards"
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/event"
)

func TestTheModelIsWhatAnAgentHasNamedLast(t *testing.T) {
	p := &player{state: cards.New(trace, session, card.English), runs: map[string]cards.Run{}}
	for _, c := range []struct{ fact, model string }{
		{`run.started c1 {"started_at":"2026-05-07T10:00:00Z"}`, ""},
		{`run.agent.session_init c1 {"agent_session_id":"s"}`, ""},
		{`run.agent.session_init c1 {"agent_session_id":"s","model":"small-1"}`, "small-1"},
		{`run.agent.result c1 {"usage":{"input_tokens":7}}`, "small-1"},
		{`run.agent.result c1 {"usage":{"input_tokens":7,"model":"small-2"}}`, "small-2"},
		{`run.agent.result c1 {"usage":{"model":7}}`, "small-2"},
		{`run.completed c1 {}`, "small-2"},
		{`run.agent.session_init c2 {"agent_session_id":"s","model":"` + strings.Repeat("x", 200) + `"}`, strings.Repeat("x", 128)},
	} {
		p.line(t, c.fact)
		if got := p.state.Model(); got != c.model {
			t.Errorf("after %s it is %q", c.fact, got)
		}
	}
}

// A state of version 1, as hubs have stored them once, has all but the model.
func TestAStateOfBeforeIsRead(t *testing.T) {
	s := cards.New(trace, session, card.English)
	now := s.Encode()
	empty := len(now) - 2 // behind no topics stand no model and no runs
	before := append(append([]byte{1}, now[1:empty]...), now[empty+1:]...)
	old, err := cards.Restore(before)
	if err != nil {
		t.Fatal(err)
	}
	if again := old.Encode(); string(again) != string(now) {
		t.Errorf("it is %q, want %q", again, now)
	}
	s.Apply(cards.Fact{Place: 1, Run: cards.Run{ID: theRun}, Event: event.RunStarted, Payload: json.RawMessage(`{}`)})
	now = s.Encode()
	before = append([]byte{2}, now[1:len(now)-1]...) // behind the run's prompts stand no calls of clients' tools
	if old, err = cards.Restore(before); err != nil {
		t.Fatal(err)
	}
	if again := old.Encode(); string(again) != string(now) {
		t.Errorf("it is %q, want %q", again, now)
	}
	if _, err := cards.Restore(append([]byte{4}, now[1:]...)); err == nil {
		t.Error("a state of a version to come was read")
	}
}
