package cards

import (
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/id"
)

func TestAnImportedConversationIsShownAndNothingIsSaidInIt(t *testing.T) {
	s := newScene(sole(t))
	lines, err := chat.ReadTrace(strings.NewReader(`{"timestamp":"2026-07-18T07:30:00Z","type":"session_meta","payload":{"session_id":"s1","provider":"","model_id":"m",` +
		`"model_context_window":1,"system_prompt":"","agent_state":"","workspace":""}}` + "\n" +
		`{"timestamp":"2026-07-18T07:30:01Z","type":"model_msg","payload":{"type":"text","role":"assistant","text":"Two zebras."}}`))
	s.must(err)
	imports := &chat.Imports{Store: s.chats, Attempts: s.attempts, Now: time.Now, Quota: chat.MaxTraceBytes}
	session, err := imports.Import(t.Context(), s.ada.Principal, chat.NewImport{Lines: lines, TraceID: strings.Repeat("a", 32)}, s.attempt(s.ada))
	s.must(err)
	trace, err := s.hub.Traces.Open(t.Context(), session)
	s.must(err)
	c := s.hub.dial(s.ada, "")
	c.resume(trace, 0)
	c.until("the end of the turn", func(e card.Event) bool { return e.Type == card.Close && e.Envelope.CardKind == card.Turn })
	if !strings.Contains(strings.Join(c.lines, "\n"), "Two zebras.") {
		t.Errorf("shown is %s", c.lines)
	}
	c.say(`{"type":"user.message","event_id":%q,"content":[{"type":"text","text":"And now?"}]}`, id.NewEvent())
	c.told("error invalid_input read_only")
	c.settle()
}
