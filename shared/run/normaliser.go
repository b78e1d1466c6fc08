package run

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Bounds of what one run may hold or put into one event.
const (
	maxDelta    = 16 << 10  // bytes of text in one delta; longer ones are cut at a character
	maxMessage  = 8 << 20   // bytes of text in one message; the rest becomes the next message
	maxScopes   = 64        // sub-agents with a message open at once; the first one's ends for one more
	maxOpen     = 1024      // tools running at once; the oldest is given up for one more
	maxClosed   = 8192      // ended tools remembered, to know a repeat
	maxText     = 8 << 10   // bytes of an error sentence
	maxName     = 255       // bytes of a name or a foreign id
	maxOmitted  = 16        // names of keys that were dropped from a fact
	maxMetadata = 8 << 10   // bytes of what says how to show a tool's result; more is left out
	maxFact     = 128 << 10 // bytes of a fact's payload; a larger one is replaced by its size
)

// Options are where the Normaliser gets ids from. Zero values make fresh random ones.
type Options struct {
	NewMessageID  func() id.Message
	NewToolCallID func() string // for calls to which the model gave no id
}

// Normaliser turns what an agent says into the events of one run (S2): it gives messages their ids, opens and closes them around deltas,
// pairs tool calls with their results, and lets at most one terminal through. One message spans the tools that are called while it is
// written, unless the agent says that it ends; its text is the deltas joined. Each sub-agent has messages and tools of its own.
//
// It is a pure state machine, owned by whoever runs the run and not safe for concurrent use. Its state is a function of the candidates it
// returned: Observe rebuilds it from the log.
type Normaliser struct {
	newMessageID  func() id.Message
	newToolCallID func() string

	own    scope
	subs   []*scope   // sub-agents with a message open, in the order of their messages
	final  id.Message // the last message of the run's own agent that had any text
	spoken bool       // some text of some message of it has been seen
	tools  tools
	asked  []id.Request    // of people, without a sign that the agent has the answer
	gone   bool            // the process has ended and the run waits: only a terminal may follow
	why    event.EndReason // of a process that is gone
	ended  bool
}

// New returns the Normaliser of a run that has no events yet.
func New(opts Options) *Normaliser {
	n := &Normaliser{newMessageID: opts.NewMessageID, newToolCallID: opts.NewToolCallID}
	if n.newMessageID == nil {
		n.newMessageID = id.NewMessage
	}
	if n.newToolCallID == nil {
		n.newToolCallID = func() string { return "call_" + strings.TrimPrefix(string(id.NewEvent()), "evt_") }
	}
	return n
}

// Ended says whether the run has had its terminal. Step and Close return nothing from then on.
func (n *Normaliser) Ended() bool { return n.ended }

// Unheard returns the requests to people of which the agent is not known to have got the answer, in the order in which they were made: those
// that would outlive its process.
func (n *Normaliser) Unheard() []id.Request { return slices.Clone(n.asked) }

// Queue is the run waiting for a free place on its edge. reason is a sentence.
func (n *Normaliser) Queue(reason string) []Candidate {
	return n.emit(Candidate{event.RunQueued, event.RunQueuedPayload{Reason: reason}})
}

// Start is the agent process running, since at. workDir is the directory that was really resolved for it, "" if none was (R25).
func (n *Normaliser) Start(workDir string, at time.Time) []Candidate {
	started := event.RunStartedPayload{StartedAt: at.UTC().Truncate(time.Microsecond), WorkDir: workDir}
	return n.emit(Candidate{event.RunStarted, started})
}

// Step returns the events that e stands for, none if it says nothing new.
func (n *Normaliser) Step(e AgentEvent) []Candidate {
	if n.silent() {
		return nil
	}
	switch e := e.(type) {
	case Delta:
		return n.delta(e)
	case ToolCall:
		return n.toolCall(e)
	case ToolResult:
		return n.toolResult(e)
	case Done:
		return n.done(e)
	case Failure:
		return n.Close(Failed(e.ErrorObj))
	case StateChange:
		return n.emit(Candidate{event.SessionState, event.SessionStatePayload{State: clean(e.State, maxName)}})
	case Artifact:
		return n.artifact(e)
	case Fact:
		return n.fact(e)
	}
	return n.prompt(e)
}

// silent says whether the agent can have nothing more to say.
func (n *Normaliser) silent() bool { return n.ended || n.gone }

// Close ends the run from outside: first the closings of whatever is open (the message with the text so far, the tools as failed), then
// the terminal. It returns nothing when the run has ended already. The outcome ProcessEnded is no terminal: one may follow it.
func (n *Normaliser) Close(o Outcome) []Candidate {
	if n.ended || n.gone && !o.last.Terminal() {
		return nil
	}
	out := n.closings(o.cut(n.why))
	n.ended, n.gone = o.last.Terminal(), true
	last := Candidate{o.last, o.payload(sofar{n.final, n.why})}
	if ended, ok := last.Payload.(event.ProcessEndedPayload); ok {
		n.why = ended.Reason
	}
	return append(out, last)
}

// emit lets candidates through that change no state of the Normaliser.
func (n *Normaliser) emit(c Candidate) []Candidate {
	if n.silent() {
		return nil
	}
	return []Candidate{c}
}

func (n *Normaliser) done(d Done) []Candidate {
	var out []Candidate
	if !n.spoken && d.Answer != "" {
		out = n.ensureOpen(out, &n.own)
		n.spoken = true
		out = append(out, n.completeWith(&n.own, valid(d.Answer), ending{}))
	}
	return append(out, n.Close(Completed())...)
}

// closings ends what is open, which was cut off for a reason unless that is "".
func (n *Normaliser) closings(why event.RequestStatus) []Candidate {
	var out []Candidate
	for len(n.subs) > 0 {
		out = append(out, n.cutOff(n.subs[0], why))
	}
	if n.own.open != "" {
		out = append(out, n.cutOff(&n.own, why))
	}
	for _, c := range n.tools.inside() {
		out = append(out, unfinished(c, "The run ended before this tool returned."))
	}
	n.tools.closeAll()
	return out
}

func (n *Normaliser) artifact(a Artifact) []Candidate {
	p := a.ArtifactCreatedPayload
	p.Filename, p.ContentType = clean(p.Filename, maxName), clean(p.ContentType, maxName)
	p.Description, p.Role = clean(p.Description, maxText), clean(p.Role, maxName)
	p.ToolCallID, p.AgentID = foreignID(p.ToolCallID), ScopeID(p.AgentID)
	return n.emit(Candidate{event.ArtifactCreated, p})
}

func (n *Normaliser) fact(f Fact) []Candidate {
	if !factual(f.Type) {
		return nil
	}
	if f.Type == event.SessionInit {
		return n.sessionInit(f)
	}
	payload, ok := object(f.Payload)
	if !ok {
		return nil
	}
	var out []Candidate
	if agent, ok := EndOf(Fact{f.Type, payload}); ok {
		out = n.leave(agent, payload)
	}
	if f.Type == event.RequestEnd {
		out = n.cutByRequest(payload)
	}
	return append(out, n.emit(Candidate{f.Type, withoutSecrets(payload)})...)
}

// sessionInit keeps the shape of the payload, so that what is large of it can lie beside the log. What tools take may have any name: no key is
// taken out of them (R19).
func (n *Normaliser) sessionInit(f Fact) []Candidate {
	p, ok := read[event.SessionInitPayload](f.Payload)
	if !ok {
		return nil
	}
	p.AgentSessionID, p.Model, p.Provider = valid(p.AgentSessionID), clean(p.Model, maxName), clean(p.Provider, maxName)
	p.SystemPrompt, p.AgentState = valid(p.SystemPrompt), clean(p.AgentState, maxText)
	p.ModelContextWindow, p.Tools = windowOf(p.ModelContextWindow), listOf(p.Tools)
	p.SystemPromptBlob, p.ToolsBlob = nil, nil
	return n.emit(Candidate{event.SessionInit, p})
}

// cutByRequest ends the message that a request was writing which did not end well: what the next attempt says is another one.
func (n *Normaliser) cutByRequest(payload json.RawMessage) []Candidate {
	p, ok := read[event.RequestEndPayload](payload)
	if !ok || p.Status == event.RequestCompleted || !stopReason(p.Status) {
		return nil
	}
	if s := n.scope(ScopeID(p.AgentID)); s.open != "" {
		return []Candidate{n.cutOff(s, p.Status)}
	}
	return nil
}
