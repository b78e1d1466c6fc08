package httpapi_test

import (
	"encoding/json"
	"maps"
	"net/http"
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

func TestSEC11WhatIsNotYoursIsNotThere(t *testing.T) {
	p := newPlace(t)
	for _, c := range []struct {
		method, path string
		body         any
		theirs       string
		random       string
	}{
		{"GET", "/client/sessions/%", nil, p.session, string(id.NewSession())},
		{"GET", "/client/sessions/%/messages", nil, p.session, string(id.NewSession())},
		{"GET", "/client/sessions/%/messages/sync", nil, p.session, string(id.NewSession())},
		{"POST", "/client/sessions/%/messages", text("hi"), p.session, string(id.NewSession())},
		{"POST", "/client/sessions/%/runs", object{"prompt": "hi"}, p.session, string(id.NewSession())},
		{"POST", "/client/sessions/%/read", object{"last_read_seq": 1}, p.session, string(id.NewSession())},
		{"POST", "/client/sessions/%/members", object{"member_id": p.bob.login.User.ID}, p.session, string(id.NewSession())},
		{"DELETE", "/client/sessions/%/members/" + p.bob.login.User.ID, nil, p.session, string(id.NewSession())},
		{"GET", "/client/agents/%", nil, p.agent, string(id.NewAgent())},
		{"GET", "/client/edges/%", nil, p.edge, string(id.NewEdge())},
		{"DELETE", "/client/edges/%", nil, p.edge, string(id.NewEdge())},
		{"PUT", "/client/edges/%/operators/" + p.bob.login.User.ID, nil, p.edge, string(id.NewEdge())},
		{"DELETE", "/client/edges/%/operators/" + p.bob.login.User.ID, nil, p.edge, string(id.NewEdge())},
		{"DELETE", "/client/devices/%", nil, p.ada.login.Device.ID, string(id.NewDevice())},
		{"GET", "/web/agent-tasks/%", nil, p.task, string(id.NewRun())},
		{"POST", "/web/agent-tasks/%/cancel", nil, p.task, string(id.NewRun())},
		{"POST", "/web/agent-tasks/%/regenerate", nil, p.task, string(id.NewRun())},
		{"GET", "/web/agent-tasks/%/events", nil, p.task, string(id.NewRun())},
		{"GET", "/api/agent-runs/%/events", nil, p.task, string(id.NewRun())},
		{"GET", "/web/agent-tasks/%/approvals", nil, p.task, string(id.NewRun())},
		{"GET", "/web/agent-tasks/%/approvals/" + string(id.NewRequest()), nil, p.task, string(id.NewRun())},
		{"POST", "/web/agent-tasks/%/approvals/" + string(id.NewRequest()), object{"decision": "allow"}, p.task, string(id.NewRun())},
		{"GET", "/web/agent-tasks/%/artifacts", nil, p.task, string(id.NewRun())},
		{"GET", "/client/artifacts/%", nil, string(id.NewArtifact()), string(id.NewArtifact())},
	} {
		theirs := p.bob.do(c.method, strings.Replace(c.path, "%", c.theirs, 1), c.body).is(404, "not_found")
		random := p.bob.do(c.method, strings.Replace(c.path, "%", c.random, 1), c.body).is(404, "not_found")
		garbage := p.bob.do(c.method, strings.Replace(c.path, "%", "x", 1), c.body).is(404, "not_found")
		if withoutTrace(t, theirs) != withoutTrace(t, random) || withoutTrace(t, random) != withoutTrace(t, garbage) {
			t.Errorf("%s %s tells theirs from nothing:\n%s\n%s\n%s", c.method, c.path, theirs.body, random.body, garbage.body)
		}
	}
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

func TestSEC10NothingIsOpenWithoutACredential(t *testing.T) {
	p := newPlace(t)
	_, credential, _ := p.ada.enrolled("server")
	blob := "/edge/blobs/" + strings.Repeat("0", 64)
	for _, c := range []struct {
		method, path string
		body         any
	}{
		{"GET", "/client/auth/me", nil}, {"POST", "/client/auth/logout", nil}, {"POST", "/client/invitations", nil},
		{"GET", "/client/devices", nil}, {"POST", "/client/devices", deviceA}, {"DELETE", "/client/devices/" + p.ada.login.Device.ID, nil},
		{"GET", "/client/sessions", nil}, {"POST", "/client/sessions/group", object{"name": "x"}}, {"GET", "/client/sessions/" + p.session, nil},
		{"POST", "/client/sessions/" + p.session + "/messages", text("x")}, {"GET", "/client/agents", nil}, {"GET", "/client/edges", nil},
		{"POST", "/client/edges/enrolments", object{"name": "x"}}, {"GET", "/web/agent-tasks", nil}, {"GET", "/web/agent-tasks/" + p.task, nil},
		{"GET", p.stream(), nil}, {"PUT", blob, "x"}, {"GET", "/client/artifacts/" + string(id.NewArtifact()), nil},
	} {
		p.anonymous().do(c.method, c.path, c.body).is(401, "unauthenticated")
		p.as("garbage").do(c.method, c.path, c.body).is(401, "unauthenticated")
		if c.path != blob { // an edge is nobody's user …
			p.as(credential).do(c.method, c.path, c.body).is(401, "unauthenticated")
		} else { // … and a user is no edge
			p.as(p.ada.bearer).do(c.method, c.path, c.body).is(401, "unauthenticated")
		}
	}
	p.anonymous().get("/no/such/path").is(404, "not_found")
	p.anonymous().do(http.MethodPatch, "/client/sessions/"+p.session, nil).is(404, "not_found")
}

func TestSEC12NobodySetsWhatIsNotTheirsToSet(t *testing.T) {
	p := newPlace(t)
	demo := "/client/sessions/" + p.session
	bodies := map[string]object{
		demo + "/messages":         text("hi"),
		demo + "/members":          {"member_id": p.bob.login.User.ID},
		demo + "/read":             {"last_read_seq": 1},
		"/client/sessions/group":   {"name": "x"},
		"/client/sessions/private": {"member_id": p.bob.login.User.ID},
		"/client/agents":           {"name": "x", "profile": "scout", "runtime": "events"},
		"/client/devices":          {"type": "cli", "name": "x"},
		"/client/edges/enrolments": {"name": "x"},
		"/web/agent-tasks":         {"session_id": p.session, "agent_id": p.agent, "prompt": "x"},
		demo + "/runs":             {"prompt": "x"},
	}
	forbidden := object{
		"seq_id": 7, "sender_id": p.bob.login.User.ID, "sender_type": "agent", "role": "owner", "owner_id": p.bob.login.User.ID, "id": "x",
		"created_at": "2020-01-01T00:00:00Z", "task_ids": []string{}, "user_id": p.bob.login.User.ID, "requested_by": p.bob.login.User.ID,
	}
	for path, body := range bodies {
		for field, value := range forbidden {
			forged := object{field: value}
			maps.Copy(forged, body)
			p.ada.post(path, forged).is(400, "invalid_request")
		}
		if a := p.ada.post(path, body); a.status >= 300 { // positive control
			t.Errorf("%s: answered %d %s", path, a.status, a.body)
		}
	}
	login := credentials("ada", password)
	login["role"] = "admin"
	p.anonymous().post("/client/auth/login", login).is(400, "invalid_request")
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
