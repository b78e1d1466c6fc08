package httpapi_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// question is a place whose agent has asked something.
type question struct {
	*place
	request id.Request
	digest  string
	payload string // as the edge encoded it
	path    string // of the answer
}

func newQuestion(t *testing.T) *question {
	t.Helper()
	p := newPlace(t)
	q := &question{place: p, request: id.NewRequest()}
	input := json.RawMessage(`{"command":"ls  <é>", "n":1.0}`)
	var err error
	if q.digest, err = event.PromptDigest("Bash", input); err != nil {
		t.Fatal(err)
	}
	asked := event.PromptRequestedPayload{
		RequestID: q.request, Kind: event.PromptPermission, ToolName: "Bash", Input: input, AgentRequestID: "1", Digest: q.digest, Asks: event.Person,
	}
	raw, err := event.Encode(asked)
	if err != nil {
		t.Fatal(err)
	}
	q.payload = string(raw)
	q.report(map[event.WireType]any{"run.agent.permission_requested": asked})
	q.path = "/web/agent-tasks/" + p.task + "/approvals/" + string(q.request)
	return q
}

func (q *question) admit(c *client) {
	q.t.Helper()
	q.ada.post("/client/sessions/"+q.session+"/members", object{"member_id": c.login.User.ID}).is(201, "")
}

// shows says whether a list shows the question to somebody.
func (q *question) shows(c *client, list string) bool {
	q.t.Helper()
	return strings.Contains(string(c.get(list).is(200, "").body), string(q.request))
}

func TestAQuestionIsShownAsItWasAskedAndAnsweredOnce(t *testing.T) {
	q := newQuestion(t)
	if task := q.ada.get("/web/agent-tasks/"+q.task).is(200, ""); task.field("state") != "waiting_person" {
		t.Fatalf("task %s", task.body)
	}
	for _, list := range []string{"/client/prompts?state=pending", "/client/prompts", "/web/agent-tasks/" + q.task + "/approvals"} {
		if a := q.ada.get(list).is(200, ""); !strings.Contains(string(a.body), `"payload":`+q.payload) {
			t.Errorf("%s shows %s, want the bytes %s", list, a.body, q.payload)
		}
	}
	answered := q.ada.post(q.path, object{"decision": "allow", "digest": q.digest, "updated_input": object{"command": "pwd"}}).is(200, "")
	var got struct {
		State  string
		Answer struct {
			Decision, By string
			User         string          `json:"user_id"`
			Device       string          `json:"device_id"`
			At           string          `json:"answered_at"`
			Delivered    string          `json:"delivered_at"`
			Input        json.RawMessage `json:"updated_input"`
		}
	}
	answered.into(&got)
	if a := got.Answer; got.State != "answered" || a.Decision != "allow" || a.By != "person" || a.User != q.ada.login.User.ID ||
		a.Device != q.ada.login.Device.ID || a.At == "" || a.Delivered != "" || string(a.Input) != `{"command":"pwd"}` {
		t.Errorf("answered %s", answered.body)
	}
	if shown := q.ada.get(q.path).is(200, ""); string(shown.body) != string(answered.body) {
		t.Errorf("shown as %s", shown.body)
	}
	if q.shows(q.ada, "/client/prompts?state=pending") || !q.shows(q.ada, "/client/prompts?state=answered") {
		t.Error("the lists do not tell what is answered")
	}

	q.ada.post(q.path, object{"decision": "allow", "updated_input": object{"command": "pwd"}}).is(200, "")
	other := q.ada.post(q.path, object{"decision": "deny"}).is(409, "already_answered")
	other.sentence("allow, by " + q.ada.login.User.ID)
	var problem struct{ Answer struct{ Decision string } }
	if other.into(&problem); problem.Answer.Decision != "allow" {
		t.Errorf("the problem does not say what was recorded: %s", other.body)
	}
}

func TestAQuestionOfARunThatIsOverTakesNoAnswer(t *testing.T) {
	p := newPlace(t)
	p.report(map[event.WireType]any{"run.finished": event.RunCompletedPayload{}})
	if list := p.ada.get("/web/agent-tasks/"+p.task+"/approvals").is(200, ""); string(list.body) != `{"items":[]}` {
		t.Errorf("list %q", list.body)
	}
	p.ada.post("/web/agent-tasks/"+p.task+"/approvals/"+string(id.NewRequest()), object{"decision": "allow"}).is(404, "not_found")
}

func TestSEC14OnlyWhoOperatesTheAgentAnswersAndMembersRead(t *testing.T) {
	q := newQuestion(t)
	allow := object{"decision": "allow"}
	q.bob.post(q.path, allow).is(404, "not_found")
	q.bob.get(q.path).is(404, "not_found")
	q.admit(q.bob)
	q.bob.get(q.path).is(200, "")
	q.bob.post(q.path, allow).is(403, "agent_operate_required")
	if q.shows(q.bob, "/client/prompts") || !q.shows(q.bob, "/web/agent-tasks/"+q.task+"/approvals") {
		t.Error("a member reads what was asked, and is not asked")
	}
	events := q.bob.get("/web/agent-tasks/"+q.task+"/events").is(200, "")
	if !strings.Contains(string(events.body), `"wire_type":"run.agent.permission_requested"`) {
		t.Errorf("a member does not see the event: %s", events.body)
	}
	q.ada.put("/client/edges/"+q.edge+"/operators/"+q.bob.login.User.ID).is(204, "")
	if !q.shows(q.bob, "/client/prompts") {
		t.Error("an operator is not asked")
	}
	q.bob.post(q.path, allow).is(200, "")
}

func TestSEC11AQuestionOfAnotherRunIsNotThere(t *testing.T) {
	q := newQuestion(t)
	other := q.ada.post("/client/sessions/"+q.session+"/messages", text("@scout another")).receipt().Tasks[0]
	elsewhere := "/web/agent-tasks/" + other + "/approvals/"
	theirs := q.ada.post(elsewhere+string(q.request), object{"decision": "allow"}).is(404, "not_found")
	random := q.ada.post(elsewhere+string(id.NewRequest()), object{"decision": "allow"}).is(404, "not_found")
	garbage := q.ada.post(elsewhere+"x", object{"decision": "allow"}).is(404, "not_found")
	if withoutTrace(t, theirs) != withoutTrace(t, random) || withoutTrace(t, random) != withoutTrace(t, garbage) {
		t.Errorf("theirs from nothing:\n%s\n%s\n%s", theirs.body, random.body, garbage.body)
	}
}

func TestAnAnswerThatCannotBeMeantChangesNothing(t *testing.T) {
	q := newQuestion(t)
	for name, c := range map[string]struct {
		body   any
		status int
		code   string
	}{
		"no decision":         {object{}, 400, "invalid_request"},
		"another word":        {object{"decision": "maybe"}, 400, "invalid_request"},
		"input with a denial": {object{"decision": "deny", "updated_input": object{}}, 400, "invalid_request"},
		"nothing to choose":   {object{"decision": "allow", "response": object{"selected_options": []string{"a"}}}, 400, "invalid_request"},
		"a failed step":       {object{"decision": "retry"}, 400, "invalid_request"},
		"nobody in time":      {object{"decision": "timeout"}, 400, "invalid_request"},
		"input is a list":     {object{"decision": "allow", "updated_input": []string{}}, 400, "invalid_request"},
		"long reason":         {object{"decision": "deny", "reason": strings.Repeat("x", 4<<10+1)}, 422, "too_large"},
		"another question":    {object{"decision": "allow", "digest": strings.Repeat("0", 64)}, 409, "digest_mismatch"},
		"somebody else":       {object{"decision": "allow", "user_id": q.bob.login.User.ID}, 400, "invalid_request"},
	} {
		if a := q.ada.post(q.path, c.body); a.status != c.status || a.code() != c.code {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	q.ada.get("/client/prompts?state=dancing").is(400, "invalid_request")
	q.ada.get("/client/prompts?after=garbage").is(400, "cursor_invalid")
	if !q.shows(q.ada, "/client/prompts?state=pending") {
		t.Fatal("the question does not wait any more")
	}
	q.ada.post(q.path, object{"decision": "deny", "reason": "no"}).is(200, "")
}
