package httpapi_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
)

type runReceipt struct {
	Message string `json:"message_id"`
	Run     string `json:"run_id"`
	Events  string `json:"events_url"`
	Agent   string `json:"agent_id"`
	Name    string `json:"agent_name"`
}

func TestARunIsCreatedOnceAndFollowedWhereTheAnswerSays(t *testing.T) {
	p := newPlace(t)
	runs := "/client/sessions/" + p.session + "/runs"
	c := p.ada.with("Idempotency-Key", "key-of-this-run")
	answers := make([]answer, 8)
	var repeats sync.WaitGroup
	for i := range answers {
		repeats.Go(func() { answers[i] = c.post(runs, object{"prompt": "go"}).is(202, "") })
	}
	repeats.Wait()
	for _, a := range answers {
		if string(a.body) != string(answers[0].body) {
			t.Fatalf("answered %s, then %s", answers[0].body, a.body)
		}
	}
	var got runReceipt
	answers[0].into(&got)
	if got.Agent != p.agent || got.Name != "scout" || got.Events != "/api/agent-runs/"+got.Run+"/events" {
		t.Fatalf("receipt %s", answers[0].body)
	}
	page := p.ada.messages("/client/sessions/" + p.session + "/messages")
	if last := page.Items[len(page.Items)-1]; page.Last != 2 || last.Content.Text != "go" {
		t.Fatalf("eight equal requests wrote %+v", page)
	}
	c.post(runs, object{"prompt": "stop"}).is(422, "idempotency_conflict").sentence("new key")
	c.post(runs, object{"prompt": "go", "agent_id": p.agent}).is(422, "idempotency_conflict")
	p.ada.with("Idempotency-Key", "").post(runs, object{"prompt": "go"}).is(400, "invalid_request").sentence("Idempotency-Key")

	p.task = got.Run
	edge := p.reporter()
	edge.say(event.RunStarted, event.RunStartedPayload{StartedAt: time.Now()})
	if first := p.ada.follow(got.Events).must(); first.event != "run.started" {
		t.Errorf("at %s came %+v", got.Events, first)
	}
	if task := p.ada.get("/web/agent-tasks/"+got.Run).is(200, ""); task.field("events_url") != got.Events || task.field("trigger_message_id") != got.Message {
		t.Errorf("task %s", task.body)
	}
}

func TestAMessageSaysWhereItsRunsAreFollowed(t *testing.T) {
	p := newPlace(t)
	var sent struct {
		Tasks  []string `json:"task_ids"`
		Events []string `json:"events_urls"`
	}
	p.ada.post("/client/sessions/"+p.session+"/messages", text("@scout go")).is(201, "").into(&sent)
	if len(sent.Tasks) != 1 || len(sent.Events) != 1 || sent.Events[0] != "/api/agent-runs/"+sent.Tasks[0]+"/events" {
		t.Errorf("receipt %+v", sent)
	}
	none := p.ada.post("/client/sessions/"+p.session+"/messages", text("among people")).is(201, "")
	if !strings.Contains(string(none.body), `"events_urls":[]`) {
		t.Errorf("receipt %s", none.body)
	}
}

func TestR33WhichAgentAnswersWhenARunNamesNone(t *testing.T) {
	p := newPlace(t)
	path := "/client/sessions/" + p.session
	other := p.ada.post("/client/agents", object{"name": "writer", "profile": "scout", "runtime": "events"}).is(201, "").field("id")
	agentOf := func(body object) string {
		return p.ada.post(path+"/runs", body).is(202, "").field("agent_id")
	}
	if got := agentOf(object{"prompt": "go"}); got != p.agent {
		t.Errorf("the only agent is %s, asked was %s", p.agent, got)
	}
	p.ada.post(path+"/runs", object{"prompt": "go", "agent_id": other}).is(400, "agent_unknown").sentence("Add it first")
	p.ada.post(path+"/members", object{"member_id": other}).is(201, "")
	p.ada.post(path+"/runs", object{"prompt": "go"}).is(400, "agent_unknown").sentence("2 agents")
	p.ada.post(path+"/runs", object{"prompt": "@scout and @writer"}).is(400, "agent_unknown").sentence("2 agents")
	for want, body := range map[string]object{
		other:   {"prompt": "@writer go"},
		p.agent: {"trigger_message_id": p.message}, // "@scout go"
	} {
		if got := agentOf(body); got != want {
			t.Errorf("%v was given to %s, want %s", body, got, want)
		}
	}
	if got := agentOf(object{"prompt": "as @scout said", "agent_id": other}); got != other {
		t.Errorf("agent_id does not win over a name: %s", got)
	}
	p.ada.post(path+"/runs", object{}).is(400, "empty_prompt")
	p.ada.post(path+"/runs", object{"prompt": "x", "trigger_message_id": p.message}).is(400, "empty_prompt")
	p.ada.post("/client/sessions/"+string(id.NewSession())+"/runs", object{"prompt": "x"}).is(404, "not_found")
}
