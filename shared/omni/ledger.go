package omni

import (
	"maps"
	"slices"
)

// ledger is what the messages of a session owe each other, fragments apart.
type ledger struct {
	spoken     bool // in this context
	meta       bool // of this context
	requesting bool
	calls      map[string]callState
	usage      *TokenCounts // of the session; nil before the first
	compaction *CompactionBeginPayload
}

// callState is how far a tool call has come.
type callState string

const (
	calledInRequest callState = "called"    // the request is not over
	committed       callState = "committed" // an output is owed
	given           callState = "given up"  // the request failed or the run was stopped: an output may come or not
	answered        callState = "answered"
)

func newLedger() ledger { return ledger{calls: map[string]callState{}} }

// enter takes a message.
func (s *sessionCheck) enter(c *Checker, m Message) {
	body, _ := m.Body() //nolint:errcheck // nil, and told as a problem of its shape
	begun := s.spoken
	s.spoken = true
	switch b := body.(type) {
	case SessionMetaPayload:
		if s.meta || begun {
			c.breach(RuleMeta, "this context has begun")
		}
		s.meta = true
	case ToolCallPayload:
		s.call(c, b.ToolCallID)
	case ToolCallOutputPayload:
		s.output(c, b.ToolCallID)
		s.calls[b.ToolCallID] = answered
	case PartialToolCallOutputPayload:
		if b.EventType == Start {
			s.output(c, b.ToolCallID)
		}
	case ApprovalDecisionPayload:
		if state := s.calls[b.ToolCallID]; state == "" || state == answered {
			c.breach(RuleApproval, "call "+b.ToolCallID+" "+missingOr(state))
		}
	case TokenUsagePayload:
		s.used(c, b)
	case AbortPayload:
		s.giveUp()
		c.left(s, func(*openFragment) bool { return true })
		s.requesting = false
	default:
		s.enterSpan(c, body)
	}
}

// enterSpan takes what has a begin and an end.
func (s *sessionCheck) enterSpan(c *Checker, body Payload) {
	switch b := body.(type) {
	case RequestBeginPayload:
		if s.requesting {
			c.breach(RuleRequest, "the one before has not ended")
		}
		s.requesting = true
	case RequestEndPayload:
		s.requestEnded(c, b.Status)
	case CompactionBeginPayload:
		if s.compaction != nil {
			c.breach(RuleCompacted, "the one before has not ended")
		}
		s.compaction = &b
	case CompactionEndPayload:
		s.compacted(c, b)
	}
}

func (s *ledger) call(c *Checker, id string) {
	if s.calls[id] != "" {
		c.breach(RulePairs, "there is a call "+id+" already")
	}
	s.calls[id] = committed
	if s.requesting {
		s.calls[id] = calledInRequest
	}
}

func (s *ledger) output(c *Checker, id string) {
	if state := s.calls[id]; state == "" || state == answered {
		c.breach(RulePairs, "call "+id+" "+missingOr(state))
	}
}

func missingOr(state callState) string {
	if state == "" {
		return "is not there"
	}
	return "has its output"
}

// requestEnded commits the calls of a request, or gives them up. What tools put out may still be open.
func (s *sessionCheck) requestEnded(c *Checker, status StopReason) {
	if !s.requesting {
		c.breach(RuleRequest, "none has begun")
	}
	s.requesting = false
	s.closeModel(c)
	for id, state := range s.calls {
		if state == calledInRequest && status == Completed {
			s.calls[id] = committed
		} else if state == calledInRequest {
			s.calls[id] = given
		}
	}
}

// closeModel is where all that the model says has been said.
func (s *sessionCheck) closeModel(c *Checker) {
	c.left(s, func(f *openFragment) bool { return f.whole != TypeToolCallOutput })
}

// giveUp takes from all calls that they owe an output.
func (s *ledger) giveUp() {
	for id, state := range s.calls {
		if state != answered {
			s.calls[id] = given
		}
	}
}

func (s *ledger) used(c *Checker, b TokenUsagePayload) {
	if s.usage != nil && s.usage.Plus(b.Request) != b.Session {
		c.breach(RuleUsage, "it does not")
	}
	session := b.Session
	s.usage = &session
}

// compacted ends a compaction. If that went well, another context begins.
func (s *sessionCheck) compacted(c *Checker, b CompactionEndPayload) {
	switch begun := s.compaction; {
	case begun == nil:
		c.breach(RuleCompacted, "none has begun")
	case begun.Reason != b.Reason || begun.Mode != b.Mode:
		c.breach(RuleCompacted, "reason or mode differ")
	}
	s.compaction = nil
	s.closeModel(c)
	if b.Status == Completed {
		s.meta, s.spoken = false, false
	}
}

// end says what is owed at the end of the stream.
func (s *ledger) end(c *Checker) {
	for _, id := range slices.Sorted(maps.Keys(s.calls)) {
		if s.calls[id] == committed {
			c.breach(RulePairs, "call "+id+" has no output")
		}
	}
	if s.requesting {
		c.breach(RuleRequest, "one has not ended")
	}
	if s.compaction != nil {
		c.breach(RuleCompacted, "one has not ended")
	}
}
