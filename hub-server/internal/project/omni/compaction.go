package omni

import (
	"encoding/json"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/omni"
)

// compacting is a compaction that has begun, and what the model said in it last: the summary.
type compacting struct {
	Begun   omni.CompactionBeginPayload `json:"begun"`
	Summary string                      `json:"summary,omitempty"`
}

// summaryMark begins the user's text that a new context has in place of what went (facts 1.3).
const summaryMark = "[context_summary]\n"

// compactionBegins is where an agent begins to make its context smaller. What it says until the end is its summary.
func (s *State) compactionBegins(f Fact) {
	p, ok := read[event.CompactionBeginPayload](f)
	if !ok {
		return
	}
	in := s.in(s.of(f.Run), p.AgentID)
	s.settle(in, end{stop: omni.Completed})
	if in.Compacting != nil {
		s.compacted(in, end{stop: omni.Failed})
	}
	s.compact(in, p.Reason, p.Mode, omni.Count(max(p.Context, 0)), omni.Count(max(p.Turns, 0)))
}

func (s *State) compact(in *session, reason event.CompactionReason, mode event.CompactionMode, context, turns omni.Count) {
	if turns == 0 {
		turns = in.Turns
	}
	begun := omni.CompactionBegin(omni.CompactionReason(reason), omni.CompactionMode(mode), context, turns)
	if s.tell(in, begun) {
		in.Compacting = &compacting{Begun: begun}
	}
}

// compactionEnds is its end. One that nobody has begun begins here.
func (s *State) compactionEnds(f Fact) {
	p, ok := read[event.CompactionEndPayload](f)
	if !ok {
		return
	}
	in := s.in(s.of(f.Run), p.AgentID)
	e := end{stop: omni.StopReason(p.Status), failure: p.ErrorMessage, attempt: omni.Count(max(p.Attempt, 0))}
	if p.RetryInMS != nil {
		wait := omni.Count(max(*p.RetryInMS, 0))
		e.retryIn = &wait
	}
	s.settle(in, e)
	if in.Compacting == nil {
		s.compact(in, p.Reason, p.Mode, 0, 0)
	}
	if in.Compacting != nil {
		s.compacted(in, e)
	}
}

// settle ends what the model says, and its request if the agent does not state them.
func (s *State) settle(in *session, e end) {
	s.close(in, e.reason())
	s.closeWritten(in, e.reason())
	if !in.Request.Stated {
		s.requestEnds(in, end{stop: e.stop, failure: e.failure})
	}
}

// compacted ends the compaction of a session. After one that went well another context begins, with the summary in place of what went.
func (s *State) compacted(in *session, e end) {
	done := in.Compacting
	in.Compacting = nil
	detail := omni.RetryDetail{ErrorMessage: e.failure, Attempt: e.attempt, RetryInMS: e.retryIn}
	if !s.tell(in, omni.CompactionEnd(done.Begun, e.stop, detail)) { // its words contradict each other
		s.tell(in, omni.CompactionEnd(done.Begun, e.stop, omni.RetryDetail{}))
	}
	if e.stop == omni.Completed {
		in.Meta, in.Carried = false, done.Summary
	}
}

// compaction is one of which only the end is told. Why and how the runtime did it is not in the log: it is told as one that the context's size
// called for, with a summary in place of what went, which is what runtimes do by themselves.
func (s *State) compaction(f Fact) {
	p, ok := read[event.CompactionPayload](f)
	if !ok {
		return
	}
	in := s.in(s.of(f.Run), p.AgentID)
	s.close(in, "")
	s.closeWritten(in, "")
	if in.Compacting != nil {
		return // its end tells it
	}
	s.compact(in, event.CompactedForContext, event.CompactionSummarize, 0, in.Turns)
	s.compacted(in, end{stop: omni.Completed})
}

// toolListReady and the two below it are S1's later events (R12).
func (s *State) toolListReady(f Fact) {
	p, ok := read[struct {
		AgentID event.SubAgent    `json:"agent_id"`
		Tools   []json.RawMessage `json:"tools"`
	}](f)
	if ok {
		s.tell(s.in(s.of(f.Run), p.AgentID), omni.ToolListReady(p.Tools...))
	}
}

func (s *State) toolServersAsked(f Fact) {
	p, ok := read[struct {
		AgentID event.SubAgent    `json:"agent_id"`
		Servers []json.RawMessage `json:"servers"`
	}](f)
	if ok {
		s.tell(s.in(s.of(f.Run), p.AgentID), omni.MCPConnectBegin(p.Servers...))
	}
}

func (s *State) toolServersReached(f Fact) {
	p, ok := read[struct {
		AgentID event.SubAgent   `json:"agent_id"`
		Status  omni.StopReason  `json:"status"`
		Results []omni.MCPResult `json:"results"`
	}](f)
	if ok {
		s.tell(s.in(s.of(f.Run), p.AgentID), omni.MCPConnectEnd(p.Status, p.Results...))
	}
}
