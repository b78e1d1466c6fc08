package card

import (
	"bytes"
	"encoding/json"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
)

// Answer is a response in the words of the record.
type Answer struct {
	Decision event.Decision
	Reason   string          // why, in the person's words; a note of a step decision
	Response json.RawMessage // what was answered beside the decision: event.QuestionResponse or event.PlanResponse; nil for nothing
	Scope    string          // of a permission: once, session, or ""
}

// Answer reads the response to a prompt of the kind (S0 §7.3). A decision that a step_decision does not have is cancel, so that nothing waits for
// ever on a slip of the client; for the other kinds it is refused, and so is a payload that says something else than the decision, or that has keys
// that would be ignored. Whether it answers what was asked is for event.CheckResponse.
func (f PromptResponse) Answer(kind event.PromptKind) (Answer, error) {
	if kind == event.PromptStepDecision {
		return f.onStep(), nil
	}
	decision, ok := map[string]event.Decision{string(Approved): event.Allow, string(Denied): event.Deny}[f.Decision]
	if !ok {
		return Answer{}, refuse(fault.InvalidRequest, "decision is %s or %s.", Approved, Denied)
	}
	a := Answer{Decision: decision}
	if len(f.Payload) == 0 || string(f.Payload) == "null" {
		return a, nil
	}
	switch kind {
	case event.PromptQuestion:
		return a.onQuestion(f.Payload)
	case event.PromptPlanReview:
		return a.onPlan(f.Payload)
	}
	return a.onPermission(f.Payload)
}

// onStep takes the decision from where it is (facts 0.9: it may be in the payload).
func (f PromptResponse) onStep() Answer {
	var p struct {
		Decision string `json:"decision"`
		Note     string `json:"note"`
	}
	// Whatever else is wrong with the payload must not leave the step waiting.
	_ = json.Unmarshal(f.Payload, &p) //nolint:errcheck // see above
	a := Answer{Decision: event.Decision(f.Decision), Reason: p.Note}
	if f.Decision == "" {
		a.Decision = event.Decision(p.Decision)
	}
	if !event.PromptStepDecision.Takes(a.Decision) {
		a.Decision = event.GiveUp
	}
	return a
}

func (a Answer) onPermission(payload json.RawMessage) (Answer, error) {
	var p struct {
		Approved *bool  `json:"approved"`
		Scope    string `json:"scope"`
		Message  string `json:"message"`
	}
	if err := strictly(payload, &p); err != nil {
		return Answer{}, err
	}
	if !oneOf(p.Scope, "", "once", "session") {
		return Answer{}, refuse(fault.InvalidRequest, "scope is once or session.")
	}
	a.Scope, a.Reason = p.Scope, p.Message
	return a, a.agrees(p.Approved)
}

func (a Answer) onQuestion(payload json.RawMessage) (Answer, error) {
	var p event.QuestionResponse
	if err := strictly(payload, &p); err != nil {
		return Answer{}, err
	}
	if a.Decision == event.Allow {
		a.Response = raw(p)
	}
	return a, nil
}

func (a Answer) onPlan(payload json.RawMessage) (Answer, error) {
	var p struct {
		Approved     *bool            `json:"approved"`
		UpdatedSteps []event.PlanStep `json:"updated_steps"`
		Reason       string           `json:"reason"`
	}
	if err := strictly(payload, &p); err != nil {
		return Answer{}, err
	}
	a.Reason = p.Reason
	if a.Decision == event.Allow && len(p.UpdatedSteps) > 0 {
		a.Response = raw(event.PlanResponse{UpdatedSteps: p.UpdatedSteps})
	}
	return a, a.agrees(p.Approved)
}

// agrees refuses an answer that says yes in one place and no in another.
func (a Answer) agrees(approved *bool) error {
	if approved != nil && *approved != (a.Decision == event.Allow) {
		return refuse(fault.InvalidRequest, "payload.approved says the opposite of decision.")
	}
	return nil
}

// strictly refuses keys that would be ignored: a person meant something by them.
func strictly(payload json.RawMessage, into any) error {
	dec := json.NewDecoder(bytes.NewReader(payload))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return fault.Wrap(err, fault.InvalidRequest, "payload is not that of this kind of prompt: %s.", misfit(err))
	}
	return nil
}

// ReplyTo is what a prompt.reply says of a decision, and the reason that it gives where nobody gave one (R27).
func ReplyTo(d event.Decision) (decision ReplyDecision, reason string) {
	switch d {
	case event.Allow:
		return Approved, ""
	case event.GoOn, event.TryAgain:
		return Approved, string(d)
	case event.GiveUp:
		return ReplyCancelled, ""
	case event.NoAnswer:
		return TimedOut, ""
	}
	return Denied, ""
}
