package httpapi_test

import (
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// sendCommands takes what waits for the edge, as if it was sent.
func (p *place) sendCommands() {
	p.t.Helper()
	if _, err := p.lanes.PendingCommands(p.t.Context(), id.Edge(p.edge)); err != nil {
		p.t.Fatal(err)
	}
}

func TestAForcedCancelEndsARunWhoseEdgeDoesNotAnswer(t *testing.T) {
	p := newPlace(t)
	p.sendCommands()
	p.online.set(id.Edge(p.edge), false)
	cancel := "/web/agent-tasks/" + p.task + "/cancel"
	if task := p.ada.post(cancel, object{}).is(202, ""); task.field("state") != "cancelling" || !strings.Contains(string(task.body), `"unknown":true`) {
		t.Fatalf("cancelled: %s", task.body)
	}
	p.ada.post(cancel, object{"force": "yes"}).is(400, "invalid_request").sentence("boolean")
	p.ada.post(cancel, object{"forced": true}).is(400, "invalid_request").sentence("forced")
	p.bob.post(cancel, object{"force": true}).is(404, "not_found")
	first := p.ada.post(cancel, object{"force": true}).is(202, "")
	if first.field("state") != "interrupted" || first.field("ended_at") == "" || !strings.Contains(string(first.body), `"unknown":false`) {
		t.Fatalf("forced: %s", first.body)
	}
	for _, body := range []any{object{"force": true}, object{}, nil} {
		if again := p.ada.post(cancel, body).is(202, ""); string(again.body) != string(first.body) {
			t.Errorf("asked again with %v: %s, was %s", body, again.body, first.body)
		}
	}
	log := p.ada.get("/web/agent-tasks/"+p.task+"/events").is(200, "")
	if text := string(log.body); !strings.Contains(text, `"requested_by":"`+p.ada.login.User.ID+`"`) || !strings.Contains(text, `{"reason_code":"forced"}`) {
		t.Errorf("log %s", log.body)
	}
}

func TestARunIsRegeneratedOnceForEachKeyAndSaysOfWhich(t *testing.T) {
	p := newPlace(t)
	first := p.task
	path := "/web/agent-tasks/" + first + "/regenerate"
	p.ada.post(path, nil).is(409, "run_active").sentence("not over yet")
	edge := p.reporter()
	edge.say(event.RunStarted, event.RunStartedPayload{StartedAt: time.Now()})
	edge.say(event.RunCompleted, event.RunCompletedPayload{})
	before := p.ada.get("/web/agent-tasks/"+first).is(200, "")

	c := p.ada.with("Idempotency-Key", "key-of-this-attempt")
	answered := c.post(path, nil).is(202, "")
	if again := c.post(path, nil).is(202, ""); string(again.body) != string(answered.body) {
		t.Errorf("answered %s, then %s", answered.body, again.body)
	}
	var got runReceipt
	answered.into(&got)
	if got.Run == first || got.Message != p.message || got.Agent != p.agent || got.Name != "scout" || got.Events != "/api/agent-runs/"+got.Run+"/events" {
		t.Fatalf("receipt %s", answered.body)
	}
	task := p.ada.get("/web/agent-tasks/"+got.Run).is(200, "")
	if task.field("state") != "dispatched" || task.field("trigger_message_id") != p.message || task.field("regenerates_run_id") != first {
		t.Errorf("task %s", task.body)
	}
	if told := p.told(got.Run); told.Prompt != "go" || told.TriggerID != id.Message(p.message) || string(told.TaskID) != got.Run {
		t.Errorf("the edge is told %+v", told)
	}
	if after := p.ada.get("/web/agent-tasks/"+first).is(200, ""); string(after.body) != string(before.body) {
		t.Errorf("the earlier run is %s, was %s", after.body, before.body)
	}
	if page := p.ada.messages("/client/sessions/" + p.session + "/messages"); len(page.Items) != 1 {
		t.Errorf("messages %+v", page.Items)
	}
	p.ada.with("Idempotency-Key", "").post(path, nil).is(400, "invalid_request").sentence("Idempotency-Key")
	if other := p.ada.post(path, nil).is(202, ""); other.field("run_id") == got.Run {
		t.Error("another key got the same run")
	}
}

func TestOnlyWhoMayOperateTheAgentRegenerates(t *testing.T) {
	p := newPlace(t)
	path := "/web/agent-tasks/" + p.task + "/regenerate"
	p.ada.post("/web/agent-tasks/"+p.task+"/cancel", nil).is(202, "")
	p.bob.post(path, nil).is(404, "not_found")
	p.ada.post("/client/sessions/"+p.session+"/members", object{"member_id": p.bob.login.User.ID}).is(201, "")
	p.bob.post(path, nil).is(403, "agent_operate_required")
	p.ada.put("/client/edges/"+p.edge+"/operators/"+p.bob.login.User.ID).is(204, "")
	p.bob.post(path, nil).is(202, "")
	p.ada.delete("/client/sessions/"+p.session+"/members/"+p.agent).is(204, "")
	p.ada.post(path, nil).is(400, "agent_unknown").sentence("Add it first")
}
