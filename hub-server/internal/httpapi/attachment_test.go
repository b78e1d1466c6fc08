package httpapi_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// told is what the edge of a place is told about a run.
func (p *place) told(task string) (d wire.Dispatch) {
	p.t.Helper()
	commands, err := p.lanes.PendingCommands(p.t.Context(), id.Edge(p.edge))
	if err != nil {
		p.t.Fatal(err)
	}
	for _, c := range commands {
		if string(c.RunID) != task {
			continue
		}
		if err := json.Unmarshal(c.Body, &d); err != nil {
			p.t.Fatal(err)
		}
	}
	return d
}

func TestAttachmentsStayWithTheirMessageAndReachTheAgent(t *testing.T) {
	p := newPlace(t)
	demo := "/client/sessions/" + p.session
	image := object{"kind": "image", "url": "https://example.com/a.png?x=1&y=<2>", "filename": "a.png", "mime_type": "image/png", "size": 12}
	want := `"attachments":[{"filename":"a.png","kind":"image","mime_type":"image/png","size":12,"url":"https://example.com/a.png?x=1&y=<2>"}]`
	m := text("@scout")
	m["attachments"] = []object{image} // no text beside the name: the attachment is the message
	sent := p.ada.post(demo+"/messages", m).receipt()
	page := p.ada.get(demo+"/messages?limit=1").is(200, "")
	if !strings.Contains(string(page.body), want) {
		t.Errorf("page %s, want %s", page.body, want)
	}
	d := p.told(sent.Tasks[0])
	if d.Prompt != "" || len(d.Attachments) != 1 || d.Attachments[0] != (wire.Attachment{
		Kind: "image", URL: "https://example.com/a.png?x=1&y=<2>", Filename: "a.png", MIMEType: "image/png", Size: 12,
	}) {
		t.Errorf("dispatch %+v", d)
	}

	again := p.ada.post("/web/agent-tasks", object{"session_id": p.session, "agent_id": p.agent, "trigger_message_id": sent.Message}).is(201, "")
	if d := p.told(again.field("id")); len(d.Attachments) != 1 {
		t.Errorf("a run for the message is told %+v", d)
	}
	alone := p.ada.post("/web/agent-tasks", object{"session_id": p.session, "agent_id": p.agent, "attachments": []object{image}}).is(201, "")
	if d := p.told(alone.field("id")); len(d.Attachments) != 1 || d.Prompt != "" {
		t.Errorf("a run for an attachment is told %+v", d)
	}
}

func TestAttachmentsThatCannotBeMeantAreRefused(t *testing.T) {
	p := newPlace(t)
	many := make([]object, wire.MaxAttachments+1)
	for i := range many {
		many[i] = object{"kind": "file", "url": fmt.Sprintf("https://example.com/%d", i)}
	}
	for name, c := range map[string]struct {
		attachments any
		status      int
		code        string
	}{
		"a file of another machine": {[]object{{"kind": "file", "url": "file:///etc/passwd"}}, 400, "invalid_request"},
		"no scheme":                 {[]object{{"kind": "file", "url": "a.png"}}, 400, "invalid_request"},
		"unknown kind":              {[]object{{"kind": "smell", "url": "https://example.com"}}, 400, "invalid_request"},
		"a path for a name":         {[]object{{"kind": "file", "url": "https://example.com", "filename": "../x"}}, 400, "invalid_request"},
		"unknown field":             {[]object{{"kind": "file", "url": "https://example.com", "path": "x"}}, 400, "invalid_request"},
		"too much data":             {[]object{{"kind": "file", "url": "data:," + strings.Repeat("x", wire.MaxAttachmentData)}}, 422, "too_large"},
		"too many":                  {many, 422, "too_large"},
	} {
		a := p.ada.post("/client/sessions/"+p.session+"/messages",
			object{"client_msg_id": uuid.NewString(), "content": object{"text": "look"}, "attachments": c.attachments})
		if a.status != c.status || a.code() != c.code {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
}
