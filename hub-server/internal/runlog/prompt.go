package runlog

import (
	"encoding/json"
	"math"
	"slices"
	"time"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// PromptChanges is what a log that grows says about questions to people, in the order of its events. The list of questions is kept up from
// nothing else, so it can never say anything that the log does not.
type PromptChanges struct {
	Asked     []Question
	Answered  []event.PromptAnsweredPayload // of questions that were pending
	Expired   []id.Request                  // too
	Delivered []Delivery
	Moves     []PromptMove // of all that people have to be told
	Outlived  []id.Request // questions whose process was ended before it had an answer
	Abandoned bool         // the process was ended: Outlived is all of them
	Dropped   []id.Request // calls of clients' tools whose process was ended: nobody waits for them any more
	Called    bool         // Head.Calls is not what it was
}

// PromptMove is a question that was opened or settled by an event.
type PromptMove struct {
	Request id.Request
	By      EventSeq
}

// Question is a question to a person, or a call that a client is asked to carry out.
type Question struct {
	ID       id.Request
	Kind     event.PromptKind
	Digest   string
	Payload  json.RawMessage // of run.prompt.requested, as it is stored
	Seq      EventSeq
	Limit    time.Duration // how long it waits for an answer; 0 for no limit
	ByHub    bool          // no process at an edge waits for the answer
	Outlived bool          // it came when its process was gone
	Call     string        // the agent's own id of the call that it is about; "" for none
}

func (q Question) byClient() bool { return q.Kind == event.PromptClientTool }

// Delivery says when an answer had reached the agent, by the edge's clock.
type Delivery struct {
	Request id.Request
	At      time.Time
}

// promptNote is what an event says about questions; at most one field is set.
type promptNote struct {
	asked     *Question
	answered  *event.PromptAnsweredPayload
	expired   id.Request
	delivered id.Request
	ended     *event.ProcessEndedPayload
}

// throughHub says that somebody has answered of whom only the hub knows who they are: a person, or a client of theirs.
func (n promptNote) throughHub() bool {
	return n.answered != nil && (n.answered.By == event.Person || n.answered.By == event.Client)
}

func (e *Entry) readPrompt() {
	switch e.Type {
	case event.PromptRequested:
		e.readQuestion()
	case event.PromptAnswered:
		var p event.PromptAnsweredPayload
		if json.Unmarshal(e.Body.Payload, &p) == nil {
			p.Policy, p.Reason = remark(p.Policy, maxCode), remark(p.Reason, maxReason)
			e.Prompt.answered = &p
		}
	case event.PromptExpired:
		var p event.PromptExpiredPayload
		if json.Unmarshal(e.Body.Payload, &p) == nil {
			e.Prompt.expired = p.RequestID
		}
	case event.PromptDelivered:
		var p event.PromptDeliveredPayload
		if json.Unmarshal(e.Body.Payload, &p) == nil {
			e.Prompt.delivered = p.RequestID
		}
	case event.RunProcessEnded:
		p := &event.ProcessEndedPayload{}
		json.Unmarshal(e.Body.Payload, p) //nolint:errcheck // that the process has ended is said by the type
		e.Prompt.ended = p
	}
}

// readQuestion passes over a request that the policy of the profile answers: nobody is asked.
func (e *Entry) readQuestion() {
	var p event.PromptRequestedPayload
	if json.Unmarshal(e.Body.Payload, &p) != nil || !asks(p) {
		return
	}
	_, idErr := id.ParseRequest(string(p.RequestID))
	_, digestErr := ParseBlobHash(p.Digest)
	if idErr != nil || digestErr != nil || !fitsLabel(string(p.Kind)) {
		return
	}
	e.names(p.InputBlob)
	e.Prompt.asked = &Question{
		ID: p.RequestID, Kind: p.Kind, Digest: p.Digest, Payload: e.Body.Payload, Limit: limitOf(p.TimeoutMS),
	}
	if fitsLabel(p.ToolCallID) {
		e.Prompt.asked.Call = p.ToolCallID
	}
}

// asks says whether somebody is asked of whom the hub knows: a person, or for a call of its tool a client, and never one in the other's place.
func asks(p event.PromptRequestedPayload) bool {
	if p.Kind == event.PromptClientTool {
		return p.Asks == event.Client && fitsLabel(p.ToolCallID)
	}
	return p.Asks == event.Person
}

// limitOf takes a limit that no clock has room for as none.
func limitOf(ms int64) time.Duration {
	if ms < 0 || ms > math.MaxInt64/int64(time.Millisecond) {
		return 0
	}
	return time.Duration(ms) * time.Millisecond
}

// notePrompt comes before the state is judged: that depends on how many questions are pending.
func (g *Growth) notePrompt(e Entry) {
	switch note := e.Prompt; {
	case note.asked != nil:
		asked := *note.asked
		asked.ByHub = e.ProducerSeq == 0
		g.ask(asked)
	case note.answered != nil && g.waits(note.answered.RequestID):
		g.Prompts.Answered = append(g.Prompts.Answered, *note.answered)
		g.settle(note.answered.RequestID)
	case note.expired != "" && g.waits(note.expired):
		g.Prompts.Expired = append(g.Prompts.Expired, note.expired)
		g.settle(note.expired)
	case note.delivered != "":
		g.Prompts.Delivered = append(g.Prompts.Delivered, Delivery{Request: note.delivered, At: e.OccurredAt})
	case note.ended != nil && !g.State.Ended() && !g.ProcessEnded:
		g.ProcessEnded, g.Prompts.Abandoned = true, true
		g.Prompts.Outlived = append(slices.Clone(g.Pending), note.ended.Pending...)
		g.dropCalls()
	}
}

// dropCalls gives up what an agent has called whose process is gone: nothing can be taken back to it.
func (g *Growth) dropCalls() {
	dropped := g.Calls
	g.Prompts.Outlived = slices.DeleteFunc(g.Prompts.Outlived, func(r id.Request) bool { return slices.Contains(dropped, r) })
	g.Prompts.Dropped, g.Prompts.Called = append(g.Prompts.Dropped, dropped...), g.Prompts.Called || len(dropped) > 0
	g.Calls = nil
}

// ask opens a question. One that comes late is kept too, for whoever reads the list, though nobody can answer it.
func (g *Growth) ask(q Question) {
	if g.waits(q.ID) {
		return
	}
	q.Seq, q.Outlived = g.Last+1, g.ProcessEnded && !q.ByHub && !q.byClient()
	g.Prompts.Asked = append(g.Prompts.Asked, q)
	switch {
	case g.State.Ended():
	case q.byClient():
		g.Calls, g.Prompts.Called = append(slices.Clone(g.Calls), q.ID), true
		if g.ProcessEnded {
			g.dropCalls()
		}
	default:
		g.Pending = append(slices.Clone(g.Pending), q.ID)
		g.tell(q.ID)
	}
}

// settle ends the waiting. What a client has answered is no news for people.
func (g *Growth) settle(request id.Request) {
	if slices.Contains(g.Calls, request) {
		g.Calls, g.Prompts.Called = without(g.Calls, request), true
		return
	}
	g.Pending = without(g.Pending, request)
	g.tell(request)
}

func without(all []id.Request, one id.Request) []id.Request {
	return slices.DeleteFunc(slices.Clone(all), func(r id.Request) bool { return r == one })
}

// tell notes that the next event opens or settles a question.
func (g *Growth) tell(request id.Request) {
	g.Prompts.Moves = append(g.Prompts.Moves, PromptMove{request, g.Last + 1})
}

// cancelPrompts settles what the end of the run leaves open.
func (g *Growth) cancelPrompts() {
	for _, request := range g.Pending {
		g.tell(request)
	}
}
