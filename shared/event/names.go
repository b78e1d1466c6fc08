package event

import "encoding/json"

// Names that differ between the log and the wire.
const (
	wireMessageStarted WireType = "item.created"
	wireMessageDelta   WireType = "run.agent.text_delta"
	wireMessageDone    WireType = "run.agent.text_block"
	wireToolStarted    WireType = "run.agent.tool_call"
	wireToolResult     WireType = "run.agent.tool_result"
	wireRunCompleted   WireType = "run.finished"
	wirePromptAsked    WireType = "run.agent.permission_requested"
	wirePromptAnswered WireType = "run.agent.permission_decided"
)

// Names of the steps of a prompt that reviews a plan (R20). Prompts of the other kinds that S3 has no name for keep their stored one.
const (
	wirePlanProposed WireType = "run.agent.plan_proposed"
	wirePlanApproved WireType = "run.agent.plan_approved"
	wirePlanRejected WireType = "run.agent.plan_rejected"
	wirePlanExpired  WireType = "run.agent.plan_expired"
)

const maxTypeBytes = 96

// WellFormed says whether s can name an event: 1 to 96 of [A-Za-z0-9._-] (S3).
func WellFormed(s string) bool {
	if s == "" || len(s) > maxTypeBytes {
		return false
	}
	for i := range len(s) {
		if !typeByte(s[i]) {
			return false
		}
	}
	return true
}

func typeByte(c byte) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '_', c == '-':
		return true
	}
	return false
}

// Wire returns the name that a stored event has on the edge and hub plane.
func Wire(t Type) WireType {
	switch t {
	case MessageStarted:
		return wireMessageStarted
	case MessageDelta:
		return wireMessageDelta
	case MessageDone:
		return wireMessageDone
	case ToolStarted:
		return wireToolStarted
	case ToolCompleted, ToolFailed:
		return wireToolResult
	case RunCompleted:
		return wireRunCompleted
	case PromptRequested:
		return wirePromptAsked
	case PromptAnswered:
		return wirePromptAnswered
	}
	return WireType(t)
}

// WireOf is Wire for an event at hand: the name of a step of a prompt depends on the prompt's kind.
func WireOf(t Type, payload json.RawMessage) WireType {
	if t != PromptRequested && t != PromptAnswered && t != PromptExpired {
		return Wire(t)
	}
	var p struct {
		Kind     PromptKind `json:"kind"`
		Decision Decision   `json:"decision"`
	}
	if json.Unmarshal(payload, &p) != nil {
		return Wire(t)
	}
	switch p.Kind {
	case "", PromptPermission:
		return Wire(t)
	case PromptPlanReview:
		return wireOfPlan(t, p.Decision)
	}
	return WireType(t)
}

// OtherWires returns the names that an event may have on the wire besides the one of its row.
func OtherWires(t Type) []WireType {
	switch t {
	case PromptRequested:
		return []WireType{wirePlanProposed, WireType(t)}
	case PromptAnswered:
		return []WireType{wirePlanApproved, wirePlanRejected, WireType(t)}
	case PromptExpired:
		return []WireType{wirePlanExpired}
	}
	return nil
}

func wireOfPlan(t Type, d Decision) WireType {
	switch {
	case t == PromptRequested:
		return wirePlanProposed
	case t == PromptExpired:
		return wirePlanExpired
	case d == Allow:
		return wirePlanApproved
	}
	return wirePlanRejected
}

// Stored returns the name under which an event of the wire is stored. The payload tells a failed tool result from a completed one: only
// the failed one has an `error`. An unknown name, and a name that is a stored name already, stands for itself.
func Stored(w WireType, payload json.RawMessage) Type {
	switch w {
	case wireMessageStarted:
		return MessageStarted
	case wireMessageDelta:
		return MessageDelta
	case wireMessageDone:
		return MessageDone
	case wireToolStarted:
		return ToolStarted
	case wireToolResult:
		return toolResult(payload)
	case wireRunCompleted:
		return RunCompleted
	case wirePromptAsked, wirePlanProposed:
		return PromptRequested
	case wirePromptAnswered, wirePlanApproved, wirePlanRejected:
		return PromptAnswered
	case wirePlanExpired:
		return PromptExpired
	}
	return Type(w)
}

func toolResult(payload json.RawMessage) Type {
	var p struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(payload, &p) == nil && len(p.Error) > 0 {
		return ToolFailed
	}
	return ToolCompleted
}
