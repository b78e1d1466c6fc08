package runlog

import (
	"slices"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Head is where a run's log ends, and all that deciding about the next event takes.
type Head struct {
	Run     id.Run
	Session id.Session
	Agent   id.Agent
	Edge    id.Edge
	Lease   wire.Lease
	TraceID string

	State run.State
	Last  EventSeq
	Said  id.Message // the agent's last whole message
	Final id.Message // the message that was made of the final text

	Pending      []id.Request // questions that wait for a person
	Calls        []id.Request // calls that wait for a client; a run is at work meanwhile
	ProcessEnded bool         // see Run
}

// waits says whether somebody is still to answer the request.
func (h Head) waits(request id.Request) bool {
	return slices.Contains(h.Pending, request) || slices.Contains(h.Calls, request)
}

// Cancellable says whether asking the run to stop would be news.
func (h Head) Cancellable() bool { return !h.State.Ended() && h.State != run.StateCancelling }

// Growth is a log that grows within one transaction: a pure step per event. What it gathers is stored in the end.
type Growth struct {
	Head
	From      EventSeq // of the first event here
	Events    []Placed
	Started   bool            // the agent process began to run
	Ended     bool            // the outcome came
	Continued bool            // it came in favour of a run that goes on with this one's answers
	Failure   *event.ErrorObj // with the outcome of a failed run
	Spoken    *Said           // replaces the agent's last whole message
	Post      bool            // Head.Final is to be stored as a message of the conversation
	Artifacts []Artifact
	Prompts   PromptChanges
	Bytes     int // of payloads
}

// Placed is an event with its number.
type Placed struct {
	Entry
	Seq  EventSeq
	Late bool
}

// Grow begins to append to the log that ends at h.
func (h Head) Grow() *Growth { return &Growth{Head: h, From: h.Last + 1} }

// Append gives e the next number. It never refuses: what comes after the outcome is late, and a second outcome is stored as
// run.late_outcome (architecture 10).
func (g *Growth) Append(e Entry) {
	g.notePrompt(e)
	state, verdict := run.Advance(g.State, e.Type, len(g.Pending))
	late := verdict == run.Late || verdict == run.LateOutcome
	g.note(e)
	if verdict == run.Apply {
		g.move(state, e)
	}
	if verdict == run.LateOutcome {
		e.Type, e.WireType, e.Body = event.RunLateOutcome, event.Wire(event.RunLateOutcome), *e.Outcome
	}
	g.trace(&e)
	g.Last++
	g.Bytes += len(e.Body.Payload)
	g.Events = append(g.Events, Placed{Entry: e, Seq: g.Last, Late: late})
}

// trace names the trace and the span of an event that does not: one of the hub's own, or of an edge that knows none.
func (g *Growth) trace(e *Entry) {
	if e.TraceID == "" {
		e.TraceID = g.TraceID
	}
	if e.SpanID == "" && e.TraceID != "" {
		e.SpanID = event.SpanOf(g.Run, e.Type, e.Body.Payload)
	}
}

func (g *Growth) move(state run.State, e Entry) {
	g.Started = g.Started || e.Type == event.RunStarted
	g.State = state
	if state.Ended() {
		g.Ended, g.Failure = true, e.Failure
		g.cancelPrompts()
	}
}

// note keeps what the agent said, made and meant as its final text; a late one counts as much as one in time, and the first one counts.
func (g *Growth) note(e Entry) {
	if e.Said != nil {
		g.Spoken, g.Said = e.Said, e.Said.Message
	}
	if e.Artifact != nil {
		made := *e.Artifact
		made.Run, made.Seq = g.Run, g.Last+1
		g.Artifacts = append(g.Artifacts, made)
	}
	if e.Type == event.RunCompleted && e.Final != "" && e.Final == g.Said && g.Final == "" {
		g.Final, g.Post = e.Final, true
	}
}
