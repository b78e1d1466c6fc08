package httpapi_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/switchyard-dev/switchyard/hub-server/internal/httpapi"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// sentence checks that a problem tells a person what to do.
func (a answer) sentence(part string) {
	a.t.Helper()
	var problem struct {
		Detail string `json:"detail"`
		Trace  string `json:"traceId"`
	}
	a.into(&problem)
	if !strings.Contains(problem.Detail, part) || len(problem.Trace) != 32 {
		a.t.Errorf("problem %s, want a sentence with %q", a.body, part)
	}
}

func TestBadInputGetsACodeAndASentenceAndChangesNothing(t *testing.T) {
	p := newPlace(t)
	demo := "/client/sessions/" + p.session
	send := func(body any) answer { return p.ada.post(demo+"/messages", body) }
	client := uuid.NewString()
	send(object{"client_msg_id": client, "content": object{"text": " "}}).is(400, "empty_prompt").sentence("empty")
	send(object{"client_msg_id": client, "content": object{"text": "@scout"}}).is(400, "empty_prompt").sentence("scout")
	send(object{"client_msg_id": client, "content": object{"text": "hi"}, "mentions": []string{string(id.NewAgent())}}).
		is(400, "agent_unknown").sentence("Add it first")
	send(object{"client_msg_id": "7", "content": object{"text": "hi"}}).is(400, "invalid_request").sentence("UUID")
	send(object{"client_msg_id": client, "content": object{"text": 7}}).is(400, "invalid_request").sentence("string")
	send(object{"client_msg_id": client, "content": object{"text": strings.Repeat("x", 64<<10+1)}}).is(422, "too_large").sentence("65536")
	send(object{"client_msg_id": client, "content": object{"text": "hi"}, "content_type": "video"}).is(400, "invalid_request")
	send(object{"client_msg_id": client, "content": object{"text": "hi"}, "mention": []string{}}).is(400, "invalid_request").sentence("mention")
	send(object{"client_msg_id": client, "content": object{"text": "hi"}, "api_key": "k"}).is(400, "invalid_request").sentence("api_key") // R19
	p.ada.post(demo+"/runs", object{"prompt": "hi", "metadata": object{"token": "t"}}).is(400, "invalid_request").sentence("metadata")
	send(`{"client_msg_id": `).is(400, "invalid_json").sentence("JSON")
	send("{}\xff").is(400, "invalid_json")
	send(`{} {}`).is(400, "invalid_json")
	send(`[]`).is(400, "invalid_request")
	send(strings.Repeat("[", 10_000)+strings.Repeat("]", 10_000)).is(400, "invalid_json").sentence("32")
	send(`{"content":`+strings.Repeat(`{"a":`, 33)+"1"+strings.Repeat("}", 34)).is(400, "invalid_json")
	send(`{"x":"`+strings.Repeat("x", 2<<20)+`"}`).is(413, "body_too_large").sentence("bytes")
	p.ada.with("Content-Type", "").post(demo+"/messages", text("hi")).is(415, "invalid_request").sentence("application/json")

	p.ada.with("Idempotency-Key", "").post("/client/sessions/group", object{"name": "x"}).is(400, "invalid_request").sentence("Idempotency-Key")
	p.ada.with("Idempotency-Key", "short").post("/client/sessions/group", object{"name": "x"}).is(400, "invalid_request").sentence("UUID")
	p.ada.post("/client/sessions/group", object{"name": ""}).is(400, "invalid_request").sentence("name")
	p.ada.post("/client/sessions/private", object{"member_id": p.ada.login.User.ID}).is(400, "invalid_request")
	p.ada.post("/client/sessions/private", object{"member_id": "user_1"}).is(400, "invalid_request").sentence("member_id")
	p.ada.post("/web/agent-tasks", object{"session_id": p.session, "agent_id": p.agent}).is(400, "empty_prompt")
	p.ada.post("/web/agent-tasks", object{"session_id": p.session, "agent_id": string(id.NewAgent()), "prompt": "x"}).is(400, "agent_unknown")

	for _, query := range []string{"limit=0", "limit=101", "limit=x", "before_seq=0", "before_seq=-1", "before_seq=1e3"} {
		p.ada.get(demo+"/messages?"+query).is(400, "invalid_request")
	}
	p.ada.get(demo+"/messages/sync?after_seq=99").is(422, "cursor_ahead").sentence("99")
	p.ada.get("/web/agent-tasks/"+p.task+"/events?after_seq=99").is(422, "cursor_ahead").sentence("99")
	p.ada.get("/client/sessions?after=garbage").is(400, "cursor_invalid").sentence("first page")
	p.ada.get("/web/agent-tasks?after=garbage").is(400, "cursor_invalid")
	p.ada.get("/web/agent-tasks?state=dancing").is(400, "invalid_request")
	p.ada.get("/client/sessions?limit=9&limit=9").is(400, "invalid_request")

	send(object{"client_msg_id": client, "content": object{"text": "good at last"}}).is(201, "")
	if page := p.ada.get(demo+"/messages").is(200, ""); strings.Count(string(page.body), `"seq_id"`) != 2 {
		t.Fatalf("refused messages left something behind: %s", page.body)
	}
}

func TestARunWithoutAnEdgeWaitsVisibly(t *testing.T) {
	p := newPlace(t)
	p.online.set(id.Edge(p.edge), false)
	sent := p.ada.post("/client/sessions/"+p.session+"/messages", text("@scout later")).receipt()
	if task := p.ada.get("/web/agent-tasks/"+sent.Tasks[0]).is(200, ""); task.field("state") != "waiting_edge" {
		t.Fatalf("task %s", task.body)
	}
	if list := p.ada.get("/web/agent-tasks?state=waiting_edge&agent_id="+p.agent).is(200, ""); !strings.Contains(string(list.body), sent.Tasks[0]) {
		t.Fatalf("list %s", list.body)
	}
	p.online.set(id.Edge(p.edge), true)
	if err := p.deps.Runs.DispatchWaiting(t.Context(), id.Edge(p.edge)); err != nil {
		t.Fatal(err)
	}
	if task := p.ada.get("/web/agent-tasks/"+sent.Tasks[0]).is(200, ""); task.field("state") != "dispatched" {
		t.Fatalf("task %s", task.body)
	}
}

func TestARunWhoseProfileIsGoneSaysSo(t *testing.T) {
	p := newPlace(t)
	p.announces("laptop-only")
	sent := p.ada.post("/client/sessions/"+p.session+"/messages", text("@scout later")).receipt()
	task := "/web/agent-tasks/" + sent.Tasks[0]
	for _, from := range []string{task, "/web/agent-tasks?state=waiting_edge"} {
		if got := p.ada.get(from).is(200, ""); !strings.Contains(string(got.body), `The profile \"scout\", which scout runs with, is on no machine any more.`) {
			t.Errorf("%s: %s", from, got.body)
		}
	}
	p.announces("scout")
	p.online.set(id.Edge(p.edge), false)
	if got := p.ada.get(task).is(200, ""); strings.Contains(string(got.body), "waits_for") {
		t.Errorf("it only has to come online: %s", got.body)
	}
	p.ada.delete("/client/edges/"+p.edge).is(204, "")
	if got := p.ada.get(task).is(200, "").field("waits_for"); !strings.Contains(got, "was removed") {
		t.Errorf("it waits for %q", got)
	}
}

// announces says hello anew as the place's edge, with one profile.
func (p *place) announces(profile string) {
	p.t.Helper()
	hello := wire.Hello{Protocol: wire.Protocol, Incarnation: "0123456789abcdef", BootNonce: "0123456789abcdef", Profiles: []wire.Profile{{Name: profile, Runtime: "events"}}}
	if err := p.deps.Edges.Announce(p.t.Context(), id.Edge(p.edge), hello); err != nil {
		p.t.Fatal(err)
	}
}

func TestAGrantForOneEdgeIsNoGrantForAnother(t *testing.T) {
	p := newPlace(t)
	p.ada.put("/client/edges/"+p.edge+"/operators/"+p.bob.login.User.ID).is(204, "")
	other, _, _ := p.ada.enrolled("server")
	p.online.set(id.Edge(p.edge), false) // only the other one is online
	p.ada.post("/client/sessions/"+p.session+"/members", object{"member_id": p.bob.login.User.ID}).is(201, "")
	sent := p.bob.post("/client/sessions/"+p.session+"/messages", text("@scout go")).receipt()
	for range 2 {
		if task := p.bob.get("/web/agent-tasks/"+sent.Tasks[0]).is(200, ""); task.field("state") != "waiting_edge" {
			t.Fatalf("bob's run went to an edge that he may not operate: %s", task.body)
		}
		if err := p.deps.Runs.DispatchWaiting(t.Context(), other); err != nil {
			t.Fatal(err)
		}
	}
}

func TestARepeatedMessageGetsTheFirstAnswer(t *testing.T) {
	p := newPlace(t)
	demo := "/client/sessions/" + p.session
	m := text("once")
	m["mentions"] = []string{p.agent}
	first := p.ada.post(demo+"/messages", m).receipt()
	receipts := make([]receipt, 10)
	var repeats sync.WaitGroup
	for i := range receipts {
		repeats.Go(func() { receipts[i] = p.ada.post(demo+"/messages", m).receipt() })
	}
	repeats.Wait()
	for _, r := range receipts {
		if r.Message != first.Message || r.Seq != first.Seq || r.Tasks[0] != first.Tasks[0] || !r.Again {
			t.Fatalf("first %+v, again %+v", first, r)
		}
	}
	p.ada.delete(demo+"/members/"+p.agent).is(204, "")
	if again := p.ada.post(demo+"/messages", m).receipt(); again.Message != first.Message || !again.Again {
		t.Errorf("once its agent has left, first %+v, again %+v", first, again)
	}
	p.ada.put("/client/edges/"+p.edge+"/operators/"+p.bob.login.User.ID).is(204, "")
	p.ada.post(demo+"/members", object{"member_id": p.bob.login.User.ID}).is(201, "")
	p.bob.post(demo+"/messages", m).is(409, "conflict").sentence("UUID") // an id that somebody else has used
}

func TestCreatingRequestsCanBeRepeated(t *testing.T) {
	p := newPlace(t)
	for path, body := range map[string]any{
		"/client/sessions/group":                     object{"name": "x"},
		"/client/sessions/private":                   object{"member_id": p.bob.login.User.ID},
		"/client/agents":                             object{"name": "x", "profile": "scout", "runtime": "events"},
		"/client/devices":                            object{"type": "cli", "name": "x"},
		"/client/edges/enrolments":                   object{"name": "x"},
		"/client/invitations":                        nil,
		"/web/agent-tasks":                           object{"session_id": p.session, "agent_id": p.agent, "prompt": "x"},
		"/client/sessions/" + p.session + "/members": object{"member_id": p.bob.login.User.ID},
	} {
		c := p.ada.with("Idempotency-Key", "key-of-"+uuid.NewString())
		answers := make([]answer, 8)
		var repeats sync.WaitGroup
		for i := range answers {
			repeats.Go(func() { answers[i] = c.post(path, body).is(201, "") })
		}
		repeats.Wait()
		for _, a := range answers {
			if strip(a) != strip(answers[0]) {
				t.Errorf("%s answers differ:\n%s\n%s", path, answers[0].body, a.body)
			}
		}
		if body != nil {
			c.post(path, strings.Replace(fmt.Sprint(`{"name":"`, uuid.NewString(), `"}`), "x", "y", 1)).isOneOf(400, 422)
		}
	}
	c := p.ada.with("Idempotency-Key", "key-of-another")
	c.post("/client/edges/enrolments", object{"name": "x"}).is(201, "")
	c.post("/client/edges/enrolments", object{"name": "y"}).is(422, "idempotency_conflict").sentence("new key")
	p.bob.with("Idempotency-Key", "key-of-another").post("/client/edges/enrolments", object{"name": "y"}).is(201, "")
}

// strip takes away what is made anew for each answer: the access token of a device.
func strip(a answer) string {
	var fields map[string]any
	a.into(&fields)
	delete(fields, "joined_at")
	return fmt.Sprint(fields)
}

func (a answer) isOneOf(statuses ...int) {
	a.t.Helper()
	for _, s := range statuses {
		if a.status == s {
			return
		}
	}
	a.t.Fatalf("answered %d %s", a.status, a.body)
}

func TestSEC9ABurstIsHeldBackPerPerson(t *testing.T) {
	h := newHub(t, func(d *httpapi.Deps) { d.Limits.Person = httpapi.Rate{Burst: 5, PerMinute: 1} })
	ada := h.first("ada") // costs nothing: no credential
	for range 5 {
		ada.get("/client/auth/me").is(200, "")
	}
	ada.get("/client/auth/me").is(429, "rate_limited").sentence("Wait")
}

func TestSEC9GuessingTokensIsHeldBackPerAddress(t *testing.T) {
	h := newHub(t, func(d *httpapi.Deps) { d.Limits.Unsolicited = httpapi.Rate{Burst: 3, PerMinute: 1} })
	for range 3 {
		h.as("guess").get("/client/auth/me").is(401, "unauthenticated")
	}
	h.as("guess").get("/client/auth/me").is(429, "rate_limited")
}

func TestSEC9SocketsAreHeldBackPerAddress(t *testing.T) {
	h := newHub(t, func(d *httpapi.Deps) { d.Limits.Socket = httpapi.Rate{Burst: 2, PerMinute: 1} })
	for range 2 {
		if a := h.anonymous().raw("/client/ws"); a != http.StatusTeapot { // reached the socket's own handler
			t.Fatalf("answered %d", a)
		}
	}
	if a := h.anonymous().raw("/client/ws"); a != http.StatusTooManyRequests {
		t.Fatalf("answered %d", a)
	}
}

// raw sends a request that the contract has nothing to say about.
func (c *client) raw(path string) int {
	c.hub.t.Helper()
	resp, err := c.hub.server.Client().Get(c.hub.server.URL + path)
	if err != nil {
		c.hub.t.Fatal(err)
	}
	defer resp.Body.Close()
	return resp.StatusCode
}

func TestAPanicIsAProblemAndTheHubGoesOn(t *testing.T) {
	h := newHub(t, func(d *httpapi.Deps) {
		d.EdgeUplink = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("canary of the panic") })
	})
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.server.URL+"/edge/uplink", nil)
	if err != nil {
		t.Fatal(err)
	}
	a := h.send(r).is(500, "internal")
	if strings.Contains(string(a.body), "canary") || !h.logs.contains("canary of the panic") {
		t.Fatalf("answer %s", a.body)
	}
	h.anonymous().get("/healthz").is(200, "")
}

// A device that goes to sleep in the middle of a request is no failure of the hub: nobody should be woken for it.
func TestACallerWhoLeavesIsNoFailure(t *testing.T) {
	entered, ended := make(chan struct{}), make(chan struct{})
	h := newHub(t, func(d *httpapi.Deps) {
		problem := httpapi.AnswerProblem(d.Log)
		d.EdgeUplink = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			defer close(ended)
			close(entered)
			<-r.Context().Done()
			problem(w, r, fmt.Errorf("read page: %w", context.Cause(r.Context())))
		})
	})
	ctx, leave := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, h.server.URL+"/edge/uplink", nil)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		<-entered
		leave()
	}()
	if resp, err := h.server.Client().Do(r); err == nil {
		resp.Body.Close()
		t.Fatal("somebody who had left was answered")
	}
	<-ended
	h.server.Close() // waits for what is under way
	if h.logs.contains("request failed") || !h.logs.contains(`"status":499`) {
		t.Error("the hub takes it for a failure of its own")
	}
}

func TestTheTraceOfTheCallerIsTheTraceOfTheAnswer(t *testing.T) {
	h := newHub(t)
	const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	a := h.anonymous().with("Traceparent", "00-"+trace+"-00f067aa0ba902b7-01").get("/client/auth/me").is(401, "unauthenticated")
	if !strings.Contains(string(a.body), trace) || !h.logs.contains(trace) {
		t.Fatalf("answer %s", a.body)
	}
}

// A client that promises a body and then falls silent must not hold its handler. The whole patience is too long for a test; that there
// is a deadline at all shows when the other side has closed: the hub answers or hangs up, it does not wait.
func TestSEC9AHalfSentBodyIsNoRequest(t *testing.T) {
	h := newHub(t)
	conn, err := net.Dial("tcp", h.server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	const head = "POST /client/auth/login HTTP/1.1\r\nHost: hub\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"user"
	if _, err := io.WriteString(conn, head); err != nil {
		t.Fatal(err)
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err == nil {
		defer resp.Body.Close()
	}
	if err == nil && resp.StatusCode < 400 || err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		t.Fatalf("answered %+v, %v", resp, err)
	}
}
