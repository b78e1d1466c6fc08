package chat

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/omni"
	"github.com/switchyard-dev/switchyard/shared/omni/trace"
)

// Limits of a trace that becomes a conversation. It is stored in one transaction.
const (
	MaxTraceBytes = 32 << 20
	MaxTraceLine  = 4 << 20 // bytes of a line: it is one event
	maxTraceLines = 20000
	maxWrongLines = 10 // that are named
)

// Import is a conversation that was brought as a trace, ready to be stored: read-only, with everything that happened in it.
type Import struct {
	Session Session
	Agent   fleet.Agent // whose words they are; it is nobody's, and can do nothing
	Run     runlog.NewRun
	Steps   []ImportStep // in their order
	Created []byte       // payload of session.created
	Limits  Limits
	Bytes   int64 // of the lines
	Quota   int64 // bytes of all files and imports of the owner
}

// ImportStep is a part of it: some events of the run, and then the message that says the last of them, if it is one.
type ImportStep struct {
	Events  []runlog.Entry
	Message *Message
}

// ImportStore keeps imported conversations. Safe for concurrent use.
type ImportStore interface {
	// Import stores the conversation and tells its owner, in one transaction; *account.Repeated when the attempt was answered before, TooLarge when
	// the owner is in too many groups, or has no room for it.
	Import(ctx context.Context, i Import, claim account.Claim) error
}

// Imports makes conversations of traces. Safe for concurrent use.
type Imports struct {
	Store    ImportStore
	Attempts *account.Attempts
	Now      account.Clock
	Limits   Limits
	Quota    int64 // bytes of all files and imports of one person
}

// NewImport is a trace that is to become a conversation.
type NewImport struct {
	Lines   []omni.Message // of ReadTrace
	TraceID string         // 32 hex, of the request
}

// Import makes a conversation of a trace. The person who brings it is its owner.
func (i *Imports) Import(ctx context.Context, by account.Principal, n NewImport, at account.Attempt) (id.Session, error) {
	return account.Once(ctx, i.Attempts, at, func(claim func(id.Session) (account.Claim, error)) (id.Session, error) {
		imported, err := i.prepare(by, n)
		if err != nil {
			return "", err
		}
		c, err := claim(imported.Session.ID)
		if err != nil {
			return "", err
		}
		return imported.Session.ID, i.Store.Import(ctx, imported, c)
	})
}

func (i *Imports) prepare(by account.Principal, n NewImport) (Import, error) {
	stream, err := trace.Join(n.Lines)
	if err != nil {
		return Import{}, fault.Wrap(err, fault.InvalidRequest, "This is no trace of a conversation: %s.", err)
	}
	now := i.Now.Moment()
	agent := foreignAgent(n.Lines, now)
	s := Session{ID: id.NewSession(), Type: Group, Name: titleOf(n.Lines), Owner: by.User, ReadOnly: true, CreatedAt: now, UpdatedAt: now}
	s.Members = []Member{
		{ID: OfAgent(agent.ID), Name: agent.Name, Role: Participant, JoinedAt: now},
		{ID: OfUser(by.User), Name: by.Name, Role: OwnerRole, JoinedAt: now},
	}
	out := Import{Session: s, Agent: agent, Limits: i.Limits, Quota: i.Quota}
	if out.Run, err = runlog.NewImported(s.ID, agent, by.User, n.TraceID); err != nil {
		return Import{}, err
	}
	for _, line := range n.Lines {
		out.Bytes += int64(len(line.Bytes())) + 1
	}
	if out.Steps, err = out.steps(stream, now); err != nil {
		return Import{}, err
	}
	for _, step := range out.Steps {
		if step.Message != nil {
			s.LastSeq++
		}
	}
	out.Created, err = createdFrame(s)
	return out, err
}

// steps cuts the log behind each message.
func (i Import) steps(stream []omni.Message, now time.Time) (steps []ImportStep, err error) {
	var step ImportStep
	add := func(e runlog.Entry, failed error) {
		if err == nil {
			err = failed
		}
		step.Events = append(step.Events, e)
	}
	add(runlog.ImportedBegin(happened(stream[0], now)))
	for _, m := range stream {
		at := happened(m, now)
		add(runlog.ImportedLine(m.Bytes(), at))
		said, failed := i.said(m, at)
		if failed != nil {
			return nil, failed
		}
		if step.Message = said; said != nil {
			steps, step = append(steps, step), ImportStep{}
		}
	}
	stop, why := endOf(stream)
	add(runlog.ImportedEnd(stop, why, happened(stream[len(stream)-1], now)))
	return append(steps, step), err
}

// endOf is how the last request of the main session ended, and why; somebody may have stopped it instead.
func endOf(stream []omni.Message) (stop omni.StopReason, why string) {
	stop = omni.Completed
	for _, m := range stream {
		if m.IsOfSubagent() {
			continue
		}
		body, _ := m.Body() //nolint:errcheck // it was found to be valid
		switch b := body.(type) {
		case omni.RequestBeginPayload:
			stop, why = omni.Completed, ""
		case omni.RequestEndPayload:
			stop, why = b.Status, b.ErrorMessage
		case omni.AbortPayload:
			stop = omni.Aborted
		}
	}
	return stop, why
}

// happened is when a message of a trace was made, as far as that can be.
func happened(m omni.Message, now time.Time) time.Time {
	if at := m.Time(); at.Year() >= 2000 && at.Before(now) {
		return at
	}
	return now
}

// said is the message of the conversation that a line is, nil if it is none: the texts of the person and of the agent that the person talks to.
func (i Import) said(m omni.Message, at time.Time) (*Message, error) {
	body, _ := m.Body() //nolint:errcheck // it was found to be valid
	p, ok := body.(omni.TextPayload)
	if !ok || strings.TrimSpace(p.Text) == "" || m.IsOfSubagent() || strings.HasPrefix(p.Text, "[context_summary]") {
		return nil, nil //nolint:nilnil // as said above
	}
	text := clipped(p.Text)
	if p.Role == omni.Assistant {
		said, err := AgentMessage(id.NewMessage(), i.Session.ID, i.Agent.ID, i.Run.ID, text, at)
		return &said, err
	}
	content, err := textContent(text)
	return &Message{
		ID: id.NewMessage(), Session: i.Session.ID, Sender: OfUser(i.Session.Owner), ContentType: Text, Content: content, CreatedAt: at,
	}, err
}

// clipped is a text as long as that of a message may be. The line has all of it.
func clipped(text string) string {
	if len(text) <= MaxContent {
		return text
	}
	end := MaxContent - len("…")
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}

// titleOf is what a conversation is called: as the first thing that a person says in it begins.
func titleOf(lines []omni.Message) string {
	for _, m := range lines {
		body, _ := m.Body() //nolint:errcheck // it was found to be valid
		p, ok := body.(omni.TextPayload)
		if !ok || p.Role != omni.User {
			continue
		}
		if words := []rune(strings.Join(strings.Fields(strings.ReplaceAll(p.Text, "\x00", " ")), " ")); len(words) > 60 {
			return string(words[:59]) + "…"
		} else if len(words) > 0 {
			return string(words)
		}
	}
	return "Imported trace"
}

// foreignAgent is the agent of a trace, named by its model. Its owner is no user, so that nobody can operate it.
func foreignAgent(lines []omni.Message, now time.Time) fleet.Agent {
	name := "agent"
	if body, err := lines[0].Body(); err == nil {
		if meta, ok := body.(omni.SessionMetaPayload); ok {
			name = agentName(meta.ModelID, name)
		}
	}
	return fleet.Agent{
		ID: id.NewAgent(), Name: name, Description: "Has worked elsewhere: its conversation was imported.", Owner: id.NewUser(), Profile: "imported",
		Runtime: "events", CreatedAt: now,
	}
}

// agentName is a name for people to mention, of what a model is called.
func agentName(model, otherwise string) string {
	name := strings.Trim(strings.Map(func(r rune) rune {
		if r < 128 && (r == '.' || r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') {
			return r
		}
		return '-'
	}, model), "-._")
	if name == "" {
		return otherwise
	}
	return name[:min(len(name), 50)]
}

// ReadTrace reads the lines of a trace, all of whose files may follow one another. Errors: BodyTooLarge, TooLarge, and InvalidRequest, which names
// the lines that are none.
func ReadTrace(body io.Reader) ([]omni.Message, error) {
	var lines []omni.Message
	var wrong []string
	bounded := &io.LimitedReader{R: body, N: MaxTraceBytes + 1}
	for line, err := range trace.Read(bounded) {
		switch {
		case err != nil:
			return nil, err
		case bounded.N <= 0:
			return nil, fault.New(fault.BodyTooLarge, "A trace may have at most %d bytes.", MaxTraceBytes)
		case len(lines) >= maxTraceLines:
			return nil, fault.New(fault.TooLarge, "A trace may have at most %d lines.", maxTraceLines)
		case len(wrong) > maxWrongLines:
			return nil, wrongLines(wrong)
		}
		problem := line.Wrong()
		if problem == nil && len(line.Message.Bytes()) > MaxTraceLine {
			problem = errLongLine
		}
		if problem != nil {
			wrong = append(wrong, fmt.Sprintf("line %d: %s", line.Number, problem))
			continue
		}
		lines = append(lines, line.Message)
	}
	switch {
	case bounded.N <= 0:
		return nil, fault.New(fault.BodyTooLarge, "A trace may have at most %d bytes.", MaxTraceBytes)
	case len(wrong) > 0:
		return nil, wrongLines(wrong)
	case len(lines) == 0:
		return nil, fault.New(fault.InvalidRequest, "The trace is empty.")
	case !lines[0].IsSessionMeta():
		return nil, fault.New(fault.InvalidRequest, "line 1: a trace begins with session_meta.")
	}
	return lines, nil
}

var errLongLine = fmt.Errorf("a line may have at most %d bytes", MaxTraceLine)

func wrongLines(wrong []string) error {
	more := ""
	if len(wrong) > maxWrongLines {
		wrong, more = wrong[:maxWrongLines], "; and more"
	}
	return fault.New(fault.InvalidRequest, "The trace is not as it should be: %s%s.", strings.Join(wrong, "; "), more)
}
