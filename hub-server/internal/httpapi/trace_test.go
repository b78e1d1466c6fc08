package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/omni"
	"github.com/switchyard-dev/switchyard/shared/omni/trace"
)

// foreign lines, as some other program writes them.
const (
	metaLine  = `{"timestamp":"2026-07-18T07:30:00Z","type":"session_meta","payload":{"session_id":"s1","provider":"p","model_id":"m","model_context_window":1,"system_prompt":"","tools":[],"agent_state":"","workspace":"/secret/dir"}}`
	askedLine = `{"timestamp":"2026-07-18T07:30:01Z","type":"model_msg","payload":{"type":"text","role":"user","text":"Count the zebras."}}`
	saidLine  = `{"timestamp":"2026-07-18T07:30:02Z","type":"model_msg","payload":{"type":"text","role":"assistant","text":"Two <zebras>."}}`
)

var aTrace = strings.Join([]string{metaLine, askedLine, saidLine, ""}, "\n")

func (c *client) bringsTrace(key, lines string) answer {
	c.hub.t.Helper()
	r, err := http.NewRequestWithContext(c.hub.t.Context(), http.MethodPost, c.hub.server.URL+"/api/traces", strings.NewReader(lines))
	if err != nil {
		c.hub.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-ndjson")
	r.Header.Set("Authorization", "Bearer "+c.bearer)
	r.Header.Set("Idempotency-Key", key)
	return c.hub.send(r)
}

// imports makes a conversation of a trace.
func (c *client) imports(lines string) string {
	c.hub.t.Helper()
	return c.bringsTrace(uuid.NewString(), lines).is(201, "").field("sessionId")
}

func TestAnImportedConversationIsThereToBeRead(t *testing.T) {
	p := newPlace(t)
	session := p.ada.imports(aTrace)
	demo := "/client/sessions/" + session
	for _, path := range []string{demo, "/client/sessions"} {
		if found := p.ada.get(path).is(200, ""); !strings.Contains(string(found.body), `"read_only":true`) {
			t.Errorf("%s is %s", path, found.body)
		}
	}
	if own := p.ada.get("/client/sessions/"+p.session).is(200, ""); strings.Contains(string(own.body), "read_only") {
		t.Errorf("an ordinary one is %s", own.body)
	}
	said := p.ada.get(demo+"/messages").is(200, "")
	for _, text := range []string{`{"text":"Count the zebras."}`, `"Two <zebras>."`} {
		if strings.Count(string(said.body), text) != 1 {
			t.Errorf("messages are %s", said.body)
		}
	}
	var page struct {
		Items []struct {
			ID string `json:"id"`
		} `json:"items"`
	}
	said.into(&page)
	p.ada.post(demo+"/messages", text("hi")).is(409, "read_only")
	p.ada.post(demo+"/messages", text("@m go on")).is(409, "read_only")
	p.ada.post(demo+"/runs", object{"prompt": "hi"}).is(409, "read_only")
	p.ada.post("/web/agent-tasks", object{"session_id": session, "agent_id": p.agent, "prompt": "hi"}).is(409, "read_only")
	first := "/client/messages/" + page.Items[0].ID
	p.ada.do(http.MethodPut, first, object{"content": object{"text": "else"}}).is(409, "read_only")
	p.ada.post("/client/messages/"+p.ada.post("/client/sessions/"+p.session+"/messages", text("mine")).receipt().Message+"/forward",
		object{"to": []object{{"session_id": session, "client_msg_id": uuid.NewString()}}}).is(409, "read_only")
	p.ada.patch(demo+"/info", object{"name": "Zoo"}).is(200, "")
	p.bob.get(demo).is(404, "not_found")
	p.ada.post(demo+"/members", object{"member_id": p.bob.login.User.ID}).is(201, "")
	p.bob.get(demo+"/messages").is(200, "")
	p.bob.post(demo+"/messages", text("hi")).is(409, "read_only")
	p.ada.post(demo+"/dissolve", nil).is(200, "")
}

// tracesOf are the files that a reader of a conversation gets from its history.
func (c *client) tracesOf(session string) map[string]string {
	c.hub.t.Helper()
	files, split := map[string]string{}, trace.NewSplitter(session)
	for _, line := range c.whole("/api/sessions/"+session+"/messages", 3) {
		m, err := omni.Decode([]byte(line))
		if err != nil {
			c.hub.t.Fatal(err)
		}
		if record, ok := split.Add(m); ok {
			files[record.File] += string(record.Message.Line())
		}
	}
	return files
}

// wantDigests wants the traces that the hub tells to be the files that a reader gets.
func (c *client) wantDigests(session string) (names []string) {
	c.hub.t.Helper()
	files := c.tracesOf(session)
	var list struct {
		Traces []struct {
			Name      string `json:"name"`
			Lines     int    `json:"lines"`
			Bytes     int64  `json:"bytes"`
			SHA256    string `json:"sha256"`
			SessionID string `json:"sessionId"`
			From, To  string
		} `json:"traces"`
	}
	c.get("/api/sessions/"+session+"/traces").is(200, "").into(&list)
	for _, t := range list.Traces {
		want, err := trace.DigestOf(t.Name, strings.NewReader(files[t.Name]))
		if err != nil || (trace.Digest{Name: t.Name, Lines: t.Lines, Bytes: t.Bytes, SHA256: t.SHA256}) != want || t.From == "" || t.To == "" || t.SessionID == "" {
			c.hub.t.Errorf("%+v, want %+v", t, want)
		}
		names = append(names, t.Name)
	}
	if len(names) != len(files) {
		c.hub.t.Errorf("the traces are %v, the files %d", names, len(files))
	}
	return names
}

func TestTheTracesOfAConversationAreWhatItsReadersHave(t *testing.T) {
	p := newPlace(t)
	p.ada.post("/client/sessions/"+p.session+"/members", object{"member_id": p.bob.login.User.ID}).is(201, "")
	if names := p.ada.wantDigests(p.session); names != nil {
		t.Errorf("before anything was said there are %v", names)
	}
	p.reporter().tale(id.NewRequest())
	names := p.ada.wantDigests(p.session)
	if len(names) == 0 || names[0] != trace.Name(p.session, 1) {
		t.Errorf("names are %v", names)
	}
	p.bob.wantDigests(p.session) // whose lines have no paths
	carl := p.ada.invite("carl")
	carl.get("/api/sessions/"+p.session+"/traces").is(404, "not_found")
}

func TestAnImportedTraceComesBackAsItWas(t *testing.T) {
	p := newPlace(t)
	session := p.ada.imports(aTrace)
	p.ada.post("/client/sessions/"+session+"/members", object{"member_id": p.bob.login.User.ID}).is(201, "")
	for who, c := range map[string]*client{"the owner": p.ada, "a member": p.bob} {
		if files := c.tracesOf(session); len(files) != 1 || files["s1_001.jsonl"] != aTrace {
			t.Errorf("%s has %q", who, files)
		}
		if names := c.wantDigests(session); len(names) != 1 || names[0] != "s1_001.jsonl" {
			t.Errorf("%s is told of %v", who, names)
		}
		var streamed careful
		for _, b := range c.follow("/api/sessions/" + session + "/stream?after=0").until(has("task_state")) {
			streamed.take(b)
		}
		if got := strings.Join(streamed.have, "\n") + "\n"; got != aTrace {
			t.Errorf("%s is streamed\n%s", who, got)
		}
	}
}

func TestTheAgentOfAnImportedConversationIsNobodys(t *testing.T) {
	p := newPlace(t)
	session := p.ada.imports(aTrace)
	var found struct {
		Members []struct {
			ID   string `json:"member_id"`
			Type string `json:"member_type"`
			Name string `json:"name"`
		} `json:"members"`
	}
	p.ada.get("/client/sessions/"+session).is(200, "").into(&found)
	if len(found.Members) != 2 || found.Members[0].Type != "agent" || found.Members[0].Name != "m" {
		t.Fatalf("members are %+v", found.Members)
	}
	agent := found.Members[0].ID
	p.ada.post("/client/sessions/"+p.session+"/members", object{"member_id": agent}).is(403, "agent_operate_required")
	p.ada.post("/client/sessions/private", object{"member_id": agent}).is(403, "agent_operate_required")
}

func TestTheSameTraceUnderTheSameKeyIsOneConversation(t *testing.T) {
	p := newPlace(t)
	key := uuid.NewString()
	first := p.ada.bringsTrace(key, aTrace).is(201, "").field("sessionId")
	if again := p.ada.bringsTrace(key, aTrace).is(201, "").field("sessionId"); again != first {
		t.Errorf("%s and %s", first, again)
	}
	p.ada.bringsTrace(key, aTrace+saidLine+"\n").is(422, "idempotency_conflict")
	p.ada.bringsTrace("short", aTrace).is(400, "invalid_request")
}

func TestTracesThatAreNoneAreRefused(t *testing.T) {
	p := newPlace(t)
	origin := strings.Replace(saidLine, `"payload"`, `"origin":["s2"],"payload"`, 1)
	partial := strings.Replace(saidLine, `"type":"text"`, `"type":"partial_text","event_type":"delta"`, 1)
	other := strings.Replace(metaLine, `"s1"`, `"s2"`, 1)
	for name, c := range map[string]struct {
		lines, why string
	}{
		"nothing":          {"\n\n", "The trace is empty."},
		"no meta":          {saidLine, "line 1: a trace begins with session_meta."},
		"no message":       {metaLine + "\n\nhello\n", "line 3: not a message"},
		"cut off":          {aTrace + saidLine[:40], "line 4: the last line was cut off"},
		"a fragment":       {metaLine + "\n" + partial, "line 2: fragments are not in a trace"},
		"an origin":        {metaLine + "\n" + origin, "line 2: what a sub-agent says is in a trace of its own"},
		"a wrong field":    {metaLine + "\n" + strings.Replace(saidLine, `"Two <zebras>."`, `7`, 1), "line 2: payload.text: is no string"},
		"many wrong lines": {metaLine + strings.Repeat("\n{}", 100), "line 11: not a message: one line of JSON, an object with a type and a payload; and more."},
		"a long line":      {metaLine + "\n" + strings.Replace(saidLine, "Two", strings.Repeat("x", chat.MaxTraceLine), 1), "line 2: a line may have at most 4194304 bytes"},
		"two sessions":     {metaLine + "\n" + other, "no trace of a conversation"},
	} {
		t.Run(name, func(t *testing.T) {
			a := p.ada.bringsTrace(uuid.NewString(), c.lines).is(400, "invalid_request")
			var problem struct {
				Detail string `json:"detail"`
			}
			if a.into(&problem); !strings.Contains(problem.Detail, c.why) {
				t.Errorf("detail is %s, want %s", problem.Detail, c.why)
			}
		})
	}
	p.ada.bringsTrace(uuid.NewString(), metaLine+strings.Repeat("\n"+saidLine, 20000)).is(422, "too_large")
	p.ada.bringsTrace(uuid.NewString(), metaLine+"\n"+strings.Repeat(" ", chat.MaxTraceBytes)).is(413, "body_too_large")
	if all := p.ada.get("/client/sessions").is(200, ""); strings.Contains(string(all.body), "read_only") {
		t.Errorf("one was made: %s", all.body)
	}
}

func TestALongTextIsCutInTheMessageAndWholeInTheTrace(t *testing.T) {
	p := newPlace(t)
	long := strings.Repeat("斑马", chat.MaxContent)
	session := p.ada.imports(metaLine + "\n" + fmt.Sprintf(`{"timestamp":"2026-07-18T07:30:02Z","type":"model_msg","payload":{"type":"text","role":"user","text":%q}}`, long))
	page := p.ada.get("/client/sessions/"+session+"/messages").is(200, "")
	if n := strings.Count(string(page.body), "斑"); n < chat.MaxContent/6-2 || n > chat.MaxContent/6 || !strings.Contains(string(page.body), `…"`) {
		t.Errorf("%d of %d are said", n, chat.MaxContent)
	}
}
