package httpapi_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// inquire lets the agent of a place ask something else than a permission, and returns the address of the answer.
func inquire(t *testing.T, p *place, kind event.PromptKind, inner string, limit time.Duration) (path string) {
	t.Helper()
	digest, err := event.InnerDigest(kind, json.RawMessage(inner))
	if err != nil {
		t.Fatal(err)
	}
	asked := event.PromptRequestedPayload{
		RequestID: id.NewRequest(), Kind: kind, Inner: json.RawMessage(inner), AgentRequestID: "1", Digest: digest, Asks: event.Person,
		TimeoutMS: limit.Milliseconds(),
	}
	raw, err := event.Encode(asked)
	if err != nil {
		t.Fatal(err)
	}
	p.report(map[event.WireType]any{event.WireOf(event.PromptRequested, raw): asked})
	return "/web/agent-tasks/" + p.task + "/approvals/" + string(asked.RequestID)
}

func TestAQuestionWithOptionsIsShownAndAnsweredByOneOfThem(t *testing.T) {
	p := newPlace(t)
	path := inquire(t, p, event.PromptQuestion, `{"question":"Which  one?","options":[{"label":"a"},{"label":"b"}],"allow_custom":false}`, time.Hour)
	shown := p.ada.get(path).is(200, "")
	if shown.field("kind") != "question" || shown.field("expires_at") == "" || !strings.Contains(string(shown.body), `"inner":{"question":"Which  one?"`) {
		t.Errorf("shown as %s", shown.body)
	}
	for name, response := range map[string]object{
		"none":         {},
		"no option":    {"selected_options": []string{"c"}},
		"too many":     {"selected_options": []string{"a", "b"}},
		"own words":    {"custom_text": "neither"},
		"other fields": {"selected_options": []string{"a"}, "scope": "session"},
	} {
		if a := p.ada.post(path, object{"decision": "allow", "response": response}); a.status != 400 || a.code() != "invalid_request" {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	chosen := object{"decision": "allow", "response": object{"selected_options": []string{"b"}}}
	answered := p.ada.post(path, chosen).is(200, "")
	if !strings.Contains(string(answered.body), `"response":{"selected_options":["b"]}`) {
		t.Errorf("answered %s", answered.body)
	}
	p.ada.post(path, chosen).is(200, "")
	p.ada.post(path, object{"decision": "allow", "response": object{"selected_options": []string{"a"}}}).is(409, "already_answered")
}

func TestAFailedStepIsDecidedByItsOwnWords(t *testing.T) {
	p := newPlace(t)
	path := inquire(t, p, event.PromptStepDecision, `{"scope":"plan","reason":"no budget"}`, 0)
	if shown := p.ada.get(path).is(200, ""); strings.Contains(string(shown.body), "expires_at") {
		t.Errorf("shown as %s", shown.body)
	}
	for _, decision := range []string{"allow", "retry"} {
		p.ada.post(path, object{"decision": decision}).is(400, "invalid_request")
	}
	answered := p.ada.post(path, object{"decision": "continue", "reason": "Good enough."}).is(200, "")
	if !strings.Contains(string(answered.body), `"decision":"continue"`) {
		t.Errorf("answered %s", answered.body)
	}
}
