package security

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// request is one bad request and how it must be refused.
type request struct {
	what   string
	method string
	path   string
	body   string
	token  string // "": the device's own
	status int
	code   fault.Code
}

// Bad input gets a code and a sentence, loses nothing and stops nothing else.
func TestBadInputIsRefusedWithACodeAndASentence(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{})
	r.AddEdge("laptop", map[string]string{"worker": r.TestAgent("--events", "5")})
	d := r.Device("a", r.HubURL())
	seen := d.Watch()
	seen.UntilConnected(1)
	session := d.Group("demo", "worker")
	run := d.Run(session, "@worker go")
	seen.UntilSettled(run)
	token := credentials(t, d).AccessToken
	messages := "/client/sessions/" + session + "/messages"
	message := func(text string) string {
		return fmt.Sprintf(`{"client_msg_id":%q,"content":{"text":%q}}`, uuid.NewString(), text)
	}
	events := "/web/agent-tasks/" + string(run) + "/events"
	for _, c := range []request{
		{what: "unknown agent in mentions", method: "POST", path: messages, status: 400, code: fault.AgentUnknown,
			body: fmt.Sprintf(`{"client_msg_id":%q,"content":{"text":"go"},"mentions":[%q]}`, uuid.NewString(), id.NewAgent())},
		{what: "unknown agent of a task", method: "POST", path: "/web/agent-tasks", status: 400, code: fault.AgentUnknown,
			body: fmt.Sprintf(`{"session_id":%q,"agent_id":%q,"prompt":"go"}`, session, id.NewAgent())},
		{what: "empty prompt", method: "POST", path: messages, body: message(" \n "), status: 400, code: fault.EmptyPrompt},
		{what: "mention and nothing else", method: "POST", path: messages, body: message("@worker "), status: 400, code: fault.EmptyPrompt},
		{what: "foreign session", method: "POST", path: "/client/sessions/" + string(id.NewSession()) + "/messages", body: message("hi"), status: 404, code: fault.NotFound},
		{what: "foreign run", method: "GET", path: "/web/agent-tasks/" + string(id.NewRun()), status: 404, code: fault.NotFound},
		{what: "foreign artifact", method: "GET", path: "/client/artifacts/" + string(id.NewArtifact()), status: 404, code: fault.NotFound},
		{what: "id of another kind", method: "GET", path: "/client/sessions/" + string(run), status: 404},
		{what: "after_seq that is no number", method: "GET", path: events + "?after_seq=x", status: 400, code: fault.InvalidRequest},
		{what: "after_seq below zero", method: "GET", path: events + "?after_seq=-1", status: 400, code: fault.InvalidRequest},
		{what: "after_seq ahead of the head", method: "GET", path: events + "?after_seq=999999", status: 422, code: fault.CursorAhead},
		{what: "not JSON", method: "POST", path: messages, body: `{"client_msg_id":`, status: 400, code: fault.InvalidJSON},
		{what: "JSON of another shape", method: "POST", path: messages, body: `[]`, status: 400},
		{what: "nested too deep", method: "POST", path: messages, status: 400, code: fault.InvalidJSON,
			body: `{"client_msg_id":"x","content":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `}`},
		{what: "unknown field", method: "POST", path: messages, body: fmt.Sprintf(`{"client_msg_id":%q,"content":{"text":"hi"},"seq_id":7}`, uuid.NewString()), status: 400},
		{what: "sender that is not theirs to say", method: "POST", path: messages, status: 400,
			body: fmt.Sprintf(`{"client_msg_id":%q,"content":{"text":"hi"},"sender_id":%q}`, uuid.NewString(), id.NewUser())},
		{what: "oversized body", method: "POST", path: messages, body: message(strings.Repeat("x", 4<<20)), status: 413, code: fault.BodyTooLarge},
		{what: "forged token", method: "GET", path: "/client/auth/me", token: token[:len(token)-4] + "AAAA", status: 401, code: fault.Unauthenticated},
		{what: "token without a signature", method: "GET", path: "/client/auth/me", token: unsigned(token), status: 401, code: fault.Unauthenticated},
		{what: "token of dots", method: "GET", path: "/client/auth/me", token: strings.Repeat(".", 8000), status: 401, code: fault.Unauthenticated},
		{what: "unknown route", method: "GET", path: "/client/nothing", status: 404},
		{what: "unknown method", method: "PATCH", path: messages, status: 404},
	} {
		c.token = firstOf(c.token, token)
		t.Run(c.what, func(t *testing.T) { c.mustBeRefused(t, r.HubURL()) })
	}
	seen.UntilSettled(d.Run(session, "@worker again"))
	seen.Check()
	list, err := client.Decode[client.MessageList](d.API().ListMessages(t.Context(), session, &client.ListMessagesParams{}))
	if err != nil || len(list.Items) != 4 {
		t.Errorf("the conversation has %d messages (%v), want 4: two that were sent and two answers", len(list.Items), err)
	}
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// unsigned is the token with its header saying that it needs no signature.
func unsigned(token string) string {
	_, rest, _ := strings.Cut(token, ".")
	claims, _, _ := strings.Cut(rest, ".")
	return "eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0." + claims + "."
}

func (c request) mustBeRefused(t *testing.T, hub string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), c.method, hub+c.path, strings.NewReader(c.body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", uuid.NewString())
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var problem struct {
		Code    fault.Code `json:"code"`
		Detail  string     `json:"detail"`
		TraceID string     `json:"traceId"`
	}
	if err := json.NewDecoder(bytes.NewReader(body)).Decode(&problem); err != nil || resp.Header.Get("Content-Type") != "application/problem+json" {
		t.Fatalf("answered %s %s: %s", resp.Status, resp.Header.Get("Content-Type"), body)
	}
	switch {
	case resp.StatusCode != c.status, c.code != "" && problem.Code != c.code:
		t.Errorf("answered %d %s, want %d %s", resp.StatusCode, problem.Code, c.status, c.code)
	case problem.Code == "", problem.Detail == "", problem.TraceID == "":
		t.Errorf("lacks a code, a sentence or a trace id: %s", body)
	}
}

// A repeat of a message is answered as the first one was, and starts nothing.
func TestAMessageSentTwiceCountsOnce(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{})
	r.AddEdge("laptop", map[string]string{"worker": r.TestAgent("--events", "5")})
	d := r.Device("a", r.HubURL())
	session := d.Group("demo", "worker")
	body := client.MessageInput{ClientMsgID: uuid.NewString(), Content: rig.Text("@worker go")}
	var answers []client.MessageReceipt
	for range 3 {
		receipt, err := client.Decode[client.MessageReceipt](d.API().SendMessage(t.Context(), session, body))
		if err != nil {
			t.Fatal(err)
		}
		answers = append(answers, receipt)
	}
	for i, again := range answers[1:] {
		if !again.Deduplicated || again.MessageID != answers[0].MessageID || again.SeqID != answers[0].SeqID || fmt.Sprint(again.TaskIds) != fmt.Sprint(answers[0].TaskIds) {
			t.Errorf("answer %d is %+v, the first was %+v", i+2, again, answers[0])
		}
	}
}

// A cursor that is of no use is answered with a reset and its reason, and the connection goes on.
func TestAUselessCursorIsAnsweredWithAResetAndItsReason(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{})
	other := rig.New(t, rig.Options{})
	cursorOf := func(r *rig.Rig) string {
		d := r.Device("donor", r.HubURL())
		seen := d.Watch()
		seen.UntilConnected(1)
		return d.Cursor()
	}
	mine, foreign := cursorOf(r), cursorOf(other)
	for what, cursor := range map[string]string{
		"garbage": "garbage", "cut short": mine[:len(mine)-1], "another store's": foreign, "very long": strings.Repeat("A", 256),
	} {
		t.Run(what, func(t *testing.T) {
			d := r.Device("b", r.HubURL())
			d.SetCursor(cursor)
			seen := d.Watch()
			seen.UntilConnected(1)
			if got := seen.Resumes(); len(got) != 1 || got[0].Resume != client.AuthOKPayloadResumeReset || got[0].Reason == "" || got[0].Message == "" {
				t.Errorf("resumes %+v, want one reset with a reason and a sentence", got)
			}
			d.Group("after the reset")
			seen.UntilFrames(1)
		})
	}
}
