package board

import (
	"encoding/json"
	"slices"
	"unicode/utf8"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/screen"
	"github.com/switchyard-dev/switchyard/shared/event"
)

const (
	maxWords = 16 << 10 // bytes of what an agent says in a run that are kept until it is a message
	maxTools = 8        // tool calls of a run that are shown
	telling  = 60       // runes of a tool's arguments
)

// run is one execution of an agent, as it goes on.
type run struct {
	id    client.RunID
	agent client.AgentID
	after client.SeqID // the message that it stands behind
	cause client.MessageID
	seq   int64 // of the newest event that was taken
	state client.RunState
	note  string // what it waits for, or why it failed

	words   string
	cut     bool            // the beginning of the words was dropped
	said    map[string]bool // messages of which words came piece by piece
	thinks  bool            // it thinks, and says nothing yet
	tools   []tool
	used    int  // tools
	settled bool // its last words are a message of the conversation
	laid    laid
}

// tool is a call.
type tool struct {
	agent               event.SubAgent // that calls it
	id, name, arguments string
	done, failed        bool
}

// RunLog is a run with the end of its log, as the record has it.
type RunLog struct {
	Task   client.AgentTask
	Events []client.RunEvent
}

func (x *run) over() bool {
	switch x.state {
	case client.RunStateCompleted, client.RunStateFailed, client.RunStateCancelled, client.RunStateInterrupted:
		return true
	}
	return false
}

// shown says whether there is something to see: a run that has ended well is seen by its message.
func (x *run) shown() bool { return !x.settled || x.state != client.RunStateCompleted }

// run returns a run of the conversation, made if it is new.
func (r *room) run(id client.RunID, agent client.AgentID) *run {
	for _, x := range r.runs {
		if x.id == id {
			return x
		}
	}
	x := &run{id: id, agent: agent, after: r.last, state: client.RunStateDispatched, said: map[string]bool{}}
	r.runs = append(r.runs, x)
	r.prune()
	return x
}

// prune forgets the oldest of too many runs that have ended.
func (r *room) prune() {
	many := -maxEnded
	for _, x := range r.runs {
		if x.over() {
			many++
		}
	}
	r.runs = slices.DeleteFunc(r.runs, func(x *run) bool {
		if x.over() && many > 0 {
			many--
			return true
		}
		return false
	})
}

// place puts a run behind the message that it came from, if that is there.
func (r *room) place(x *run) {
	if m := r.message(x.cause); m != nil {
		x.after = m.SeqID
	}
}

// known takes a run as the record has it. The stream may have told more meanwhile.
func (b *Board) known(r *room, l RunLog) {
	x := r.run(l.Task.ID, l.Task.AgentID)
	x.cause = l.Task.TriggerMessageID
	r.place(x)
	if x.seq == 0 {
		x.state, x.note = l.Task.State, l.Task.WaitsFor
		if l.Task.Unknown {
			x.note = "its machine is away"
		}
	}
	if len(l.Events) > 0 && x.seq == 0 && l.Events[0].EventSeq > 1 {
		x.cut = true
	}
	for _, e := range l.Events {
		x.take(e.EventSeq, e.WireType, e.Payload)
	}
	x.laid = laid{}
}

// ran takes a frame of a run.
func (b *Board) ran(f client.HubWebSocketFrame) {
	p, ok := read[struct {
		client.AgentStreamPayload
		Trigger client.MessageID `json:"trigger_message_id"`
		Name    string           `json:"display_name"`
		Error   client.RunError  `json:"error"`
	}](f.Payload)
	if !ok || p.TaskID == "" || b.rooms[p.SessionID] == nil {
		return
	}
	r := b.rooms[p.SessionID]
	x := r.run(p.TaskID, p.AgentInstanceID)
	x.laid = laid{}
	switch f.Type {
	case client.HubWebSocketFrameTypeAgentDispatch:
		b.learn([]client.SessionMember{{MemberID: p.AgentInstanceID, Name: p.Name}})
		x.cause = p.Trigger
		r.place(x)
	case client.HubWebSocketFrameTypeAgentStream:
		if !p.Late {
			x.take(p.EventSeq, p.EventType, json.RawMessage(p.Payload))
		}
	case client.HubWebSocketFrameTypeAgentDone:
		x.end(client.RunStateCompleted, "")
	case client.HubWebSocketFrameTypeAgentCancel:
		x.end(client.RunStateCancelled, "")
	case client.HubWebSocketFrameTypeAgentFailed:
		state := client.RunStateFailed
		if p.Error.Code == "interrupted" {
			state = client.RunStateInterrupted
		}
		x.end(state, p.Error.Message)
	}
}

func (x *run) end(state client.RunState, why string) {
	if !x.over() {
		x.state, x.note, x.thinks = state, why, false
	}
}

// take takes an event; one that was taken before changes nothing.
func (x *run) take(seq int64, wire string, payload json.RawMessage) {
	if seq <= x.seq {
		return
	}
	x.seq = seq
	switch t := event.Stored(event.WireType(wire), payload); t {
	case event.Thinking:
		x.thinks = x.thinks || inner(payload) == ""
	case event.MessageDelta, event.MessageDone:
		x.speak(t, payload)
	case event.ToolStarted, event.ToolCompleted, event.ToolFailed:
		x.tool(t, payload)
	default:
		x.advance(t, payload)
	}
}

// inner returns the sub-agent that an event happened in: its words are for the agent, not for the person.
func inner(payload json.RawMessage) event.SubAgent {
	p, _ := read[struct {
		AgentID event.SubAgent `json:"agent_id"`
	}](payload)
	return p.AgentID
}

func (x *run) speak(t event.Type, payload json.RawMessage) {
	if inner(payload) != "" {
		return
	}
	x.thinks = false
	if t == event.MessageDelta {
		if d, ok := read[event.DeltaPayload](payload); ok {
			x.said[string(d.MessageID)] = true
			x.say(d.Delta)
		}
		return
	}
	if m, ok := read[event.MessageCompletedPayload](payload); ok {
		if !x.said[string(m.MessageID)] {
			x.say(m.Content)
		}
		delete(x.said, string(m.MessageID))
		x.say("\n")
	}
}

// say adds words; of very many the newest stay.
func (x *run) say(text string) {
	x.words += text
	if over := len(x.words) - maxWords; over > 0 {
		for over < len(x.words) && !utf8.RuneStart(x.words[over]) {
			over++
		}
		x.words, x.cut = x.words[over:], true
	}
}

func (x *run) tool(t event.Type, payload json.RawMessage) {
	x.thinks = false
	if t == event.ToolStarted {
		if p, ok := read[event.ToolStartedPayload](payload); ok {
			x.used++
			x.tools = append(x.tools, tool{agent: p.AgentID, id: p.ToolCallID, name: p.ToolName, arguments: screen.Arguments(p.Arguments, telling)})
			x.tools = x.tools[max(len(x.tools)-maxTools, 0):]
		}
		return
	}
	p, ok := read[event.ToolFailedPayload](payload) // a completed one has no error
	if !ok {
		return
	}
	for i := range x.tools {
		if x.tools[i].agent == p.AgentID && x.tools[i].id == p.ToolCallID {
			x.tools[i].done, x.tools[i].failed = true, t == event.ToolFailed
		}
	}
}

// advance takes how the run as a whole stands.
func (x *run) advance(t event.Type, payload json.RawMessage) {
	switch t {
	case event.RunQueued:
		p, _ := read[event.RunQueuedPayload](payload)
		x.state, x.note = client.RunStateQueued, p.Reason
	case event.RunStarted, event.PromptAnswered, event.PromptExpired:
		x.state, x.note = client.RunStateRunning, ""
	case event.PromptRequested:
		if p, ok := read[event.PromptRequestedPayload](payload); ok && p.Asks == event.Person {
			x.state = client.RunStateWaitingPerson
		}
	case event.RunCancelling:
		x.state = client.RunStateCancelling
	case event.RunCompleted:
		x.end(client.RunStateCompleted, "")
	case event.RunCancelled:
		x.end(client.RunStateCancelled, "")
	case event.RunFailed:
		p, _ := read[event.RunFailedPayload](payload)
		x.end(client.RunStateFailed, p.Error.Message)
	case event.RunInterrupted:
		p, _ := read[event.RunInterruptedPayload](payload)
		x.end(client.RunStateInterrupted, string(p.ReasonCode))
	}
}

// final notes that a run's last words have become a message.
func (r *room) final(m client.Message) {
	c, _ := read[struct {
		AgentTask struct {
			TaskID client.RunID `json:"task_id"`
		} `json:"agent_task"`
	}](m.Content)
	for _, x := range r.runs {
		if x.id == c.AgentTask.TaskID {
			x.settled, x.words, x.tools, x.laid = true, "", nil, laid{}
		}
	}
}
