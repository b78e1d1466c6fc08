package card

import (
	"encoding/json"
	"fmt"

	"github.com/switchyard-dev/switchyard/shared/event"
)

// Body reads the payload into a pointer to the struct that type and kind decide: that of the card's kind for Add and Set, *AppendPayload,
// *TickPayload, *ClosePayload, *PromptPayload, *ReplyPayload, *SessionPayload. It is nil for a type or kind that is not known.
func (e Event) Body() (any, error) {
	return read(e.Payload, e.body())
}

func (e Event) body() any {
	switch e.Type {
	case Add, Set:
		return kindBody(e.Envelope.CardKind)
	case Append:
		return new(AppendPayload)
	case Tick:
		return new(TickPayload)
	case Close:
		return new(ClosePayload)
	case PromptUser:
		return new(PromptPayload)
	case PromptReply:
		return new(ReplyPayload)
	case SessionEvent:
		return new(SessionPayload)
	}
	return nil
}

// Body reads Inner into a pointer to the struct of the tick's kind; nil for a kind that is not known.
func (t TickPayload) Body() (any, error) {
	bodies := map[TickKind]any{
		Progress: new(ProgressTick), Heartbeat: new(HeartbeatTick), Intent: new(IntentTick), Note: new(NoteTick), Escalation: new(EscalationTick),
	}
	return read(t.Inner, bodies[t.Kind])
}

// Body reads Inner into a pointer to the payload of the closed card's kind; nil for a kind that is not known, and where there is no Inner.
func (c ClosePayload) Body(kind Kind) (any, error) {
	if len(c.Inner) == 0 {
		return nil, nil
	}
	return read(c.Inner, kindBody(kind))
}

// Body reads Inner into *Permission, *event.Question, *event.PlanReview or *event.StepDecision; nil for a kind that is not known.
func (p PromptPayload) Body() (any, error) {
	bodies := map[event.PromptKind]any{
		event.PromptPermission: new(Permission), event.PromptQuestion: new(event.Question),
		event.PromptPlanReview: new(event.PlanReview), event.PromptStepDecision: new(event.StepDecision),
	}
	return read(p.Inner, bodies[event.PromptKind(p.Kind)])
}

// Body reads Inner into a pointer to the struct of the session event's kind; nil for a kind that is not known.
func (s SessionPayload) Body() (any, error) {
	bodies := map[SessionKind]any{
		Opened: new(OpenedInner), Updated: new(UpdatedInner), SessionError: new(ErrorInner), Resumed: new(ResumedInner),
		ResumeFailed: new(ResumeFailedInner),
	}
	return read(s.Inner, bodies[s.Kind])
}

func kindBody(kind Kind) any {
	bodies := map[Kind]any{
		Turn: new(TurnPayload), Message: new(MessagePayload), Tool: new(ToolPayload), Agent: new(AgentPayload), Plan: new(PlanPayload),
		Step: new(StepPayload), Artifact: new(ArtifactPayload), Thinking: new(ThinkingPayload), MemoryOp: new(MemoryOpPayload),
		Budget: new(BudgetPayload), Todo: new(TodoPayload), Team: new(TeamPayload), System: new(SystemPayload),
	}
	return bodies[kind]
}

func read(raw json.RawMessage, body any) (any, error) {
	if body == nil {
		return nil, nil
	}
	if err := json.Unmarshal(raw, body); err != nil {
		return nil, fmt.Errorf("read %T: %w", body, err)
	}
	return body, nil
}
