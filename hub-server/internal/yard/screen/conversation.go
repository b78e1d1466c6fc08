package screen

import (
	"encoding/json"
	"strings"

	"github.com/switchyard-dev/switchyard/hub-server/client"
)

// content is what this package knows of a message's content.
type content struct {
	Text      string `json:"text"`
	AgentTask struct {
		TaskID client.RunID `json:"task_id"`
	} `json:"agent_task"`
}

// TextOf is the text of a message's content, "" if it has none.
func TextOf(raw json.RawMessage) string {
	c, _ := read[content](raw)
	return c.Text
}

func (n *Narrator) message(payload json.RawMessage) {
	m, ok := read[client.Message](payload)
	if !ok {
		return
	}
	c, _ := read[content](m.Content)
	if m.SenderType == client.SenderTypeAgent && n.heard(c.AgentTask.TaskID) {
		return
	}
	text := strings.TrimSpace(Clean(c.Text))
	for _, a := range m.Attachments {
		text = strings.TrimSpace(text + " " + n.style.Dim("["+Attachment(a)+"]"))
	}
	if text == "" {
		text = n.style.Dim("(" + Line(string(m.ContentType), maxInTable) + ")")
	}
	n.of(m.SessionID, n.name(m.SenderID)+": "+n.origin(m.Forwarded)+text)
}

// origin says whose words a message repeats, "" if its sender's own.
func (n *Narrator) origin(o client.MessageOrigin) string {
	if o.SentAt.IsZero() {
		return ""
	}
	return n.style.Dim("(from "+Line(o.SenderName, maxInTable)+", "+o.SentAt.Local().Format("2006-01-02 15:04")+")") + " "
}

// Attachment names what belongs to a message, in a few words.
func Attachment(a client.Attachment) string {
	if a.Filename != "" {
		return Line(string(a.Kind)+" "+a.Filename, argumentWidth)
	}
	return Line(string(a.Kind)+" "+a.URL, argumentWidth)
}

// heard says whether the run's words were told as they came, so that its final message would only repeat them.
func (n *Narrator) heard(run client.RunID) bool {
	s := n.runs[run]
	return s != nil && len(s.said) > 0
}

func (n *Narrator) recall(payload json.RawMessage) {
	if p, ok := read[client.MessageRecallPayload](payload); ok {
		n.of(p.SessionID, n.style.Dim("a message was taken back"))
	}
}

func (n *Narrator) session(t client.HubWebSocketFrameType, payload json.RawMessage) {
	p, ok := read[struct {
		client.SessionCreatedPayload
		MemberID client.MemberID `json:"member_id"`
	}](payload)
	if !ok {
		return
	}
	switch t {
	case client.HubWebSocketFrameTypeSessionCreated:
		names := make([]string, len(p.Members))
		for i, m := range p.Members {
			names[i] = n.name(m.MemberID)
		}
		n.of(p.SessionID, n.style.Dim("new conversation of ")+strings.Join(names, n.style.Dim(", ")))
	case client.HubWebSocketFrameTypeSessionDissolved:
		n.of(p.SessionID, n.style.Dim("the conversation is closed"))
	case client.HubWebSocketFrameTypeSessionMemberJoined:
		n.of(p.SessionID, n.name(p.MemberID)+n.style.Dim(" joined"))
	case client.HubWebSocketFrameTypeSessionMemberLeft:
		n.of(p.SessionID, n.name(p.MemberID)+n.style.Dim(" left"))
	}
}
