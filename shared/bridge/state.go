package bridge

import (
	"encoding/json"

	"github.com/switchyard-dev/switchyard/shared/fault"
)

// Profile is what the rules of a turn depend on.
type Profile struct {
	Streaming  bool // partials are passed on at once
	Permission bool // the agent may ask; stdin is open
}

// TurnState applies the rules of S4 to the lines of one turn. It is a pure reducer: Step and Finish return what to do, and the caller does it.
// Make one with NewTurnState.
type TurnState struct {
	profile   Profile
	sessionID string
	streamed  bool // some text of the reply went out as partials
	result    *Line
	failure   *Line
	usage     json.RawMessage
	asked     map[string]bool // permission requests of this turn
}

// NewTurnState returns the state before the first line.
func NewTurnState(p Profile) *TurnState {
	return &TurnState{profile: p, asked: map[string]bool{}}
}

// Effect is something the caller has to do because of a line.
type Effect interface{ effect() }

// Effects.
type (
	// EmitPartial shows the next piece of text. A Role other than Thinking is part of the reply.
	EmitPartial struct {
		Role Role
		Text string
	}
	// KeepSession stores the agent's session id for the next turn, even if this turn fails. At most one per turn.
	KeepSession struct{ SessionID string }
	// AskPerson puts a permission request before a person; its answer is written to stdin.
	AskPerson struct{ Request PermissionRequest }
	// Respond writes an answer to the agent's stdin that nobody needs to be asked for.
	Respond struct{ Response PermissionResponse }
	// ReportError shows the agent's own error. The turn has failed; the process may still be running.
	ReportError struct{ Message string }
	// Warn is for the log: something was not used.
	Warn struct{ Reason Reason }
)

func (EmitPartial) effect() {}
func (KeepSession) effect() {}
func (AskPerson) effect()   {}
func (Respond) effect()     {}
func (ReportError) effect() {}
func (Warn) effect()        {}

// SessionID returns the agent's session id as far as it is known.
func (s *TurnState) SessionID() string { return s.sessionID }

// Failed says whether the agent has reported an error. Reading may stop then.
func (s *TurnState) Failed() bool { return s.failure != nil }

// StepBytes is Step for an unparsed line.
func (s *TurnState) StepBytes(data []byte) []Effect {
	line, err := ParseLine(data)
	if err != nil {
		return []Effect{Warn{reasonOf(err)}}
	}
	return s.Step(line)
}

// Step takes the next event of the agent.
func (s *TurnState) Step(l Line) []Effect {
	var out []Effect
	for _, reason := range l.Warnings {
		out = append(out, Warn{reason})
	}
	out = append(out, s.keepSession(l)...)
	if s.failure != nil {
		return append(out, Warn{ReasonAfterError})
	}
	switch l.Type {
	case TypePartial:
		return append(out, s.partial(l)...)
	case TypeResult:
		return append(out, s.takeResult(l)...)
	case TypeError:
		s.failure = &l
		s.takeUsage(l)
		return append(out, ReportError{s.failureMessage()})
	case TypePermissionRequest:
		return append(out, s.ask(l.Request)...)
	}
	return out
}

// keepSession: the first id wins. An id counts after an error too, but not on a result that is itself dropped.
func (s *TurnState) keepSession(l Line) []Effect {
	dropped := l.Type == TypeResult && (s.failure != nil || s.result != nil)
	switch {
	case l.SessionID == "" || l.SessionID == s.sessionID || dropped:
		return nil
	case s.sessionID != "":
		return []Effect{Warn{ReasonOtherSession}}
	}
	s.sessionID = l.SessionID
	return []Effect{KeepSession{l.SessionID}}
}

// partial counts as streamed reply only when it brings text that is not reasoning, so that an agent which streams its thoughts alone still
// has its result shown.
func (s *TurnState) partial(l Line) []Effect {
	if !s.profile.Streaming || l.Text == "" {
		return nil
	}
	s.streamed = s.streamed || l.Role != Thinking
	return []Effect{EmitPartial{l.Role, l.Text}}
}

func (s *TurnState) takeResult(l Line) []Effect {
	if s.result != nil {
		return []Effect{Warn{ReasonSecondResult}}
	}
	s.result = &l
	s.takeUsage(l)
	return nil
}

func (s *TurnState) takeUsage(l Line) {
	if l.Usage != nil {
		s.usage = l.Usage
	}
}

// maxRequests bounds what a turn remembers of its requests: an agent that asks more often does not work, and a person would not read it.
const maxRequests = 4096

// ask never lets the agent wait for nothing: what cannot be shown to a person is denied at once.
func (s *TurnState) ask(r PermissionRequest) []Effect {
	if !s.profile.Permission {
		return []Effect{Warn{ReasonPermissionOff}}
	}
	if s.asked[r.RequestID] {
		return []Effect{Warn{ReasonRepeatedRequest}}
	}
	if len(s.asked) == maxRequests {
		return refuse(r, ReasonManyRequests, "The turn has asked too often.")
	}
	s.asked[r.RequestID] = true
	if r.Malformed {
		return refuse(r, ReasonBadRequest, "The request was malformed.")
	}
	return []Effect{AskPerson{r}}
}

func refuse(r PermissionRequest, reason Reason, message string) []Effect {
	return []Effect{Warn{reason}, Respond{PermissionResponse{RequestID: r.RequestID, Behavior: Deny, Message: message}}}
}

func (s *TurnState) failureMessage() string {
	if s.failure.Text != "" {
		return s.failure.Text
	}
	return "The agent reported an error without saying which."
}

// Exit is how the process ended.
type Exit struct {
	Code     int    // 128 + signal number when a signal ended it
	TimedOut bool   // the bridge ended it at the turn limit
	Stderr   string // its last output there; read only to diagnose a silent failure
}

// Outcome is how the turn ended.
type Outcome struct {
	ExitCode  int        // 0, 1, 124 or the process's own
	Code      fault.Code // "" for success, else timeout, agent_error or agent_exited
	Message   string     // for people; "" for success
	Text      string     // the reply, unless Streamed
	Streamed  bool       // the reply is what the partials carried
	SessionID string     // for the next turn; "" when the agent gave none
	Usage     json.RawMessage
}

// OK says whether the turn succeeded.
func (o Outcome) OK() bool { return o.Code == "" }

// Finish ends the turn. Of several failures the timeout counts before the error event, and that before the exit code (R14).
func (s *TurnState) Finish(exit Exit) Outcome {
	o := Outcome{ExitCode: exit.Code, SessionID: s.sessionID, Usage: s.usage, Streamed: s.streamed}
	switch {
	case exit.TimedOut:
		o.ExitCode, o.Code, o.Message = ExitTimeout, fault.Timeout, "The agent did not finish within its time limit and was stopped."
	case s.failure != nil:
		o.ExitCode, o.Code, o.Message = ExitError, fault.AgentError, s.failureMessage()
	case exit.Code != ExitOK:
		o.Code, o.Message = fault.AgentExited, diagnose(exit)
	case s.result != nil && !s.streamed:
		o.Text = s.result.Text
	}
	return o
}
