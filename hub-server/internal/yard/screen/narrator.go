package screen

import (
	"encoding/json"
	"io"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/client"
)

// Names says what people call things.
type Names interface {
	// Session is the name of a conversation, or something short that stands for it.
	Session(id client.SessionID) string
	// Member is the name of a user or an agent, or something short that stands for it.
	Member(id client.MemberID) string
}

// Narrator tells frames as a running story. It expects each fact once and a run's events in order (see client.Feed). Not safe for
// concurrent use.
type Narrator struct {
	out     io.Writer
	style   Style
	names   Names
	runs    map[client.RunID]*story
	speaker client.RunID // whose block the last line belongs to
	channel channel      // what the open line holds
	tool    string       // the call that the open line is about
	text    strings.Builder
}

// channel is what an unfinished line holds.
type channel uint8

const (
	closed channel = iota
	saying
	thinking
	calling
)

// story is what has been told of a run.
type story struct {
	agent   client.AgentID
	session client.SessionID
	started time.Time
	calls   map[string]call
	said    map[client.MessageID]bool // messages that were told piece by piece
	ended   bool
}

type call struct {
	name  string
	since time.Time
}

// NewNarrator returns a narrator that writes to out.
func NewNarrator(out io.Writer, style Style, names Names) *Narrator {
	return &Narrator{out: out, style: style, names: names, runs: map[client.RunID]*story{}}
}

// Frame tells one frame; those that mean nothing to a person are passed over.
func (n *Narrator) Frame(f client.HubWebSocketFrame) error {
	switch f.Type {
	case client.HubWebSocketFrameTypeMessageNew:
		n.message(f.Payload)
	case client.HubWebSocketFrameTypeMessageRecall:
		n.recall(f.Payload)
	case client.HubWebSocketFrameTypeAgentStream:
		n.stream(f.Payload)
	case client.HubWebSocketFrameTypeAgentDispatch:
		n.dispatch(f.Payload)
	case client.HubWebSocketFrameTypeAgentDone, client.HubWebSocketFrameTypeAgentFailed, client.HubWebSocketFrameTypeAgentCancel:
		n.outcome(f.Type, f.Payload)
	case client.HubWebSocketFrameTypeSessionCreated, client.HubWebSocketFrameTypeSessionDissolved,
		client.HubWebSocketFrameTypeSessionMemberJoined, client.HubWebSocketFrameTypeSessionMemberLeft:
		n.session(f.Type, f.Payload)
	}
	return n.flush()
}

// Notice tells something about the telling itself: a lost connection, what is waited for.
func (n *Narrator) Notice(text string) error {
	n.line(n.style.Yellow("● ") + n.style.Dim(Clean(text)))
	return n.flush()
}

// Close ends an unfinished line.
func (n *Narrator) Close() error {
	n.end()
	return n.flush()
}

func (n *Narrator) flush() error {
	_, err := io.WriteString(n.out, n.text.String())
	n.text.Reset()
	return err
}

// end finishes the open line, if there is one.
func (n *Narrator) end() {
	if n.channel != closed {
		n.text.WriteString("\n")
		n.channel = closed
	}
}

// line tells a line that belongs to no run.
func (n *Narrator) line(text string) {
	n.end()
	n.speaker = ""
	n.text.WriteString(text + "\n")
}

// of tells a line of a conversation.
func (n *Narrator) of(session client.SessionID, text string) {
	n.line(n.style.Dim(Line(n.names.Session(session), maxInTable)+" │ ") + text)
}

func (n *Narrator) name(member client.MemberID) string {
	return n.style.Name(Line(n.names.Member(member), maxInTable))
}

// block begins or continues the block of a run's own lines: whose it is, is said when somebody else was told in between.
func (n *Narrator) block(run client.RunID, s *story) {
	if n.speaker == run {
		return
	}
	n.of(s.session, n.name(s.agent))
	n.speaker = run
}

// piece continues running text.
func (n *Narrator) piece(run client.RunID, s *story, c channel, text string) {
	if text == "" {
		return
	}
	if n.speaker != run || n.channel != c {
		n.end()
		n.block(run, s)
	}
	text = Clean(text)
	body := strings.TrimSuffix(text, "\n")
	if c == thinking {
		body = n.style.Dim(body)
	}
	n.text.WriteString(body)
	n.channel = c
	if strings.HasSuffix(text, "\n") {
		n.end()
		// The next piece goes on below: no new block begins.
	}
}

// own tells a whole line of a run's block.
func (n *Narrator) own(run client.RunID, s *story, text string) {
	n.end()
	n.block(run, s)
	n.text.WriteString("  " + text + "\n")
}

func read[T any](payload json.RawMessage) (T, bool) {
	var v T
	return v, json.Unmarshal(payload, &v) == nil
}
