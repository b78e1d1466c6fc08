package httpapi_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/switchyard-dev/switchyard/hub-server/internal/httpapi"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// withoutTrace is a problem without what differs from request to request.
func withoutTrace(t *testing.T, a answer) string {
	t.Helper()
	var problem map[string]any
	a.into(&problem)
	delete(problem, "traceId")
	text, err := json.Marshal(problem)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// place is a hub with somebody's things in it, and a stranger to them.
type place struct {
	*hub
	ada, bob                      *client
	edge, agent, session, message string
	task, credential              string
}

func newPlace(t *testing.T, adjust ...func(*httpapi.Deps)) *place {
	t.Helper()
	h := newHub(t, adjust...)
	p := &place{hub: h, ada: h.first("ada")}
	p.bob = p.ada.invite("bob")
	edge, credential, agent := p.ada.enrolled("laptop")
	p.edge, p.agent, p.credential = string(edge), agent, credential
	p.session = strings.TrimPrefix(p.ada.group("demo", agent), "/client/sessions/")
	sent := p.ada.post("/client/sessions/"+p.session+"/messages", text("@scout go")).receipt()
	p.message, p.task = sent.Message, sent.Tasks[0]
	return p
}

func TestSEC11ForeignIDsInABodyAreNotThereEither(t *testing.T) {
	p := newPlace(t)
	for _, c := range []struct {
		path           string
		theirs, random object
	}{
		{"/client/sessions/private", object{"member_id": p.agent}, object{"member_id": string(id.NewAgent())}},
		{"/client/sessions/group", object{"name": "x", "member_ids": []string{p.agent}}, object{"name": "x", "member_ids": []string{string(id.NewAgent())}}},
		{"/client/agents", object{"name": "x", "profile": "scout", "runtime": "events", "edge_id": p.edge},
			object{"name": "x", "profile": "scout", "runtime": "events", "edge_id": string(id.NewEdge())}},
		{"/web/agent-tasks", object{"session_id": p.session, "agent_id": p.agent, "prompt": "x"},
			object{"session_id": string(id.NewSession()), "agent_id": p.agent, "prompt": "x"}},
	} {
		theirs := p.bob.post(c.path, c.theirs).is(404, "not_found")
		random := p.bob.post(c.path, c.random).is(404, "not_found")
		if withoutTrace(t, theirs) != withoutTrace(t, random) {
			t.Errorf("%s tells theirs from nothing:\n%s\n%s", c.path, theirs.body, random.body)
		}
	}
	own := p.bob.group("own")
	file := p.ada.uploaded("plan", "", []byte("plan"))
	theirs := p.bob.post(own+"/messages", attached("hi", file.URL)).is(404, "not_found")
	random := p.bob.post(own+"/messages", attached("hi", "attachment:"+string(id.NewAttachment()))).is(404, "not_found")
	if withoutTrace(t, theirs) != withoutTrace(t, random) {
		t.Errorf("a message tells their file from nothing:\n%s\n%s", theirs.body, random.body)
	}
	for _, reply := range []string{p.message, string(id.NewMessage())} {
		m := text("hi")
		m["reply_to_message_id"] = reply
		p.bob.post(own+"/messages", m).is(404, "not_found")
	}
	if list := p.bob.get("/web/agent-tasks?session_id="+p.session).is(200, ""); strings.Contains(string(list.body), p.task) {
		t.Fatalf("tasks of a foreign conversation: %s", list.body)
	}
}

func TestSEC10AMemberWithoutOperateReadsButDoesNotSteer(t *testing.T) {
	p := newPlace(t)
	demo := "/client/sessions/" + p.session
	p.ada.post(demo+"/members", object{"member_id": p.bob.login.User.ID}).is(201, "")
	p.bob.get(demo).is(200, "")
	p.bob.get("/web/agent-tasks/"+p.task).is(200, "")
	p.bob.get("/client/agents/"+p.agent).is(200, "")
	p.bob.post(demo+"/messages", text("a word among people")).is(201, "")

	mention := text("@scout do as I say")
	p.bob.post(demo+"/messages", mention).is(403, "agent_operate_required")
	byID := text("do as I say")
	byID["mentions"] = []string{p.agent}
	p.bob.post(demo+"/messages", byID).is(403, "agent_operate_required")
	p.bob.post("/web/agent-tasks", object{"session_id": p.session, "agent_id": p.agent, "prompt": "x"}).is(403, "agent_operate_required")
	p.bob.post(demo+"/runs", object{"prompt": "x"}).is(403, "agent_operate_required")
	p.bob.post("/web/agent-tasks", object{"session_id": p.session, "agent_id": p.agent, "trigger_message_id": p.message}).
		is(403, "agent_operate_required")
	p.bob.post("/web/agent-tasks/"+p.task+"/cancel", nil).is(403, "agent_operate_required")
	p.bob.post("/client/sessions/private", object{"member_id": p.agent}).is(403, "agent_operate_required")
	p.bob.get("/client/edges/"+p.edge).is(404, "not_found")
	p.bob.delete(demo+"/members/"+p.agent).is(403, "forbidden")

	p.ada.put("/client/edges/"+p.edge+"/operators/"+p.bob.login.User.ID).is(204, "")
	if got := p.bob.post(demo+"/messages", mention).receipt(); got.Seq != 3 || len(got.Tasks) != 1 { // refused messages took no number
		t.Fatalf("receipt %+v", got)
	}
	seen := p.bob.get("/client/edges/"+p.edge).is(200, "")
	if strings.Contains(string(seen.body), "operators") {
		t.Fatalf("an operator sees the operators: %s", seen.body)
	}
	p.bob.delete("/client/edges/"+p.edge).is(403, "forbidden")
	p.bob.put("/client/edges/"+p.edge+"/operators/"+p.bob.login.User.ID).is(403, "forbidden")
	p.bob.post("/web/agent-tasks/"+p.task+"/cancel", nil).is(202, "")

	p.ada.delete("/client/edges/"+p.edge+"/operators/"+p.bob.login.User.ID).is(204, "")
	p.bob.post(demo+"/messages", text("@scout again")).is(403, "agent_operate_required")
}

func TestSEC13ARemovedMemberReadsNothingMore(t *testing.T) {
	p := newPlace(t)
	demo := "/client/sessions/" + p.session
	bobID := p.bob.login.User.ID
	p.ada.post(demo+"/members", object{"member_id": bobID}).is(201, "")
	p.bob.get(demo+"/messages/sync?after_seq=0").is(200, "")
	p.ada.delete(demo+"/members/"+bobID).is(204, "")
	p.ada.post(demo+"/messages", object{"client_msg_id": uuid.NewString(), "content": object{"text": "among us"}}).is(201, "")
	for _, path := range []string{"", "/messages", "/messages/sync?after_seq=0"} {
		p.bob.get(demo+path).is(404, "not_found")
	}
	p.bob.post("/client/messages/"+p.message+"/recall", nil).is(404, "not_found")
	p.bob.get("/web/agent-tasks/"+p.task).is(404, "not_found")
	p.bob.get("/web/agent-tasks/"+p.task+"/events").is(404, "not_found")
	p.bob.get(p.stream()).is(404, "not_found")
	p.bob.get("/client/agents/"+p.agent).is(404, "not_found")
	if in, err := p.deps.Sessions.IsMember(t.Context(), id.User(bobID), id.Session(p.session)); err != nil || in {
		t.Fatalf("may still type: %v, %v", in, err)
	}
	for _, list := range []string{"/client/sessions", "/web/agent-tasks", "/client/agents"} {
		if a := p.bob.get(list).is(200, ""); strings.Contains(string(a.body), p.session) {
			t.Errorf("%s still shows it: %s", list, a.body)
		}
	}
}
