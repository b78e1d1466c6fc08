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

// A state as hubs have stored it once lacks what was not known then.
func TestAStateOfBeforeIsRead(t *testing.T) {
	s := cards.New(trace, session, card.English)
	s.Apply(cards.Fact{Place: 1, Run: cards.Run{ID: theRun}, Event: event.RunStarted, Payload: json.RawMessage(`{}`)})
	now := s.Encode()
	for version := now[0] - 1; version > 0; version-- {
		old, err := cards.Restore(s.EncodeAs(version))
		if err != nil {
			t.Fatalf("version %d: %v", version, err)
		}
		if again := old.Encode(); string(again) != string(now) {
			t.Errorf("of version %d it is %q, want %q", version, again, now)
		}
	}
	if _, err := cards.Restore(append([]byte{now[0] + 1}, now[1:]...)); err == nil {
		t.Error("a state of a version to come was read")
	}
}
