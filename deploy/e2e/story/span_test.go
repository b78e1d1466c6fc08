package story

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// spans checks that every event of a run that is over names its span: one for each tool call, and one for all else, whoever appended it,
// and whenever. It returns how many there are, and who appended events.
func (s *scene) spans(run id.Run) (spans int, by map[string]bool) {
	s.t.Helper()
	p := &plainReader{s: s, run: run, query: "?view=full"}
	if err := p.follow(func() bool { return false }); err != nil {
		s.t.Fatalf("follow: %v", err)
	}
	wellFormed := regexp.MustCompile(`^[0-9a-f]{16}$`)
	spanOf, callOf := map[string]string{}, map[string]string{}
	by = map[string]bool{}
	for _, e := range p.events {
		call := s.callOf(e)
		by[string(e.Provenance.SourceType)] = true
		if _, known := spanOf[call]; !known {
			spanOf[call] = e.SpanID
		}
		if _, known := callOf[e.SpanID]; !known {
			callOf[e.SpanID] = call
		}
		if !wellFormed.MatchString(e.SpanID) || len(e.TraceID) != 32 || spanOf[call] != e.SpanID || callOf[e.SpanID] != call {
			s.t.Errorf("event %d, %s by %s of call %q has span %q", e.Seq, e.EventType, e.Provenance.SourceType, call, e.SpanID)
		}
	}
	return len(callOf), by
}

// callOf returns the tool call that an event begins or ends, "" for any other.
func (s *scene) callOf(e client.CanonicalEvent) string {
	s.t.Helper()
	var payload struct {
		ToolCallID string `json:"tool_call_id"`
	}
	if !strings.HasPrefix(e.EventType, "tool.call.") {
		return ""
	}
	if err := json.Unmarshal(e.Payload, &payload); err != nil || payload.ToolCallID == "" {
		s.t.Fatalf("event %d, %s: %s: %v", e.Seq, e.EventType, e.Payload, err)
	}
	return payload.ToolCallID
}
