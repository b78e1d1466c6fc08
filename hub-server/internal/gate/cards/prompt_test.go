package cards

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/prompt"
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

const (
	question     = `{"question":"Which?","options":[{"label":"a"},{"label":"b"}],"allow_custom":false}`
	planReview   = `{"plan_id":"p","steps":[{"id":"s1","description":"d"}]}`
	stepDecision = `{"scope":"step","step_id":"s1","attempts":3,"allow_retry":true}`
	bash         = `{"command":"ls"}`
)

func isPrompt(request id.Request) func(card.Event) bool {
	return func(e card.Event) bool {
		return e.Type == card.PromptUser && strings.Contains(string(e.Payload), string(request))
	}
}

// reply reads up to the reply to a question.
func (c *client) reply(request id.Request) card.ReplyPayload {
	c.t.Helper()
	var p card.ReplyPayload
	c.until("the reply", func(e card.Event) bool {
		return e.Type == card.PromptReply && json.Unmarshal(e.Payload, &p) == nil && p.RequestID == string(request)
	})
	return p
}

// inquiry is a question, what is answered, and what becomes of it.
type inquiry struct {
	kind    event.PromptKind
	inner   string
	answer  string // decision and payload
	other   string
	want    card.ReplyPayload
	decided event.Decision
}

var inquiries = map[string]inquiry{
	"permission": {event.PromptPermission, bash, `"decision":"approved","payload":{"approved":true,"scope":"once","message":""}`,
		`"decision":"denied"`, card.ReplyPayload{Decision: card.Approved}, event.Allow},
	"permission denied": {event.PromptPermission, bash, `"decision":"denied","payload":{"approved":false,"message":"no"}`,
		`"decision":"approved"`, card.ReplyPayload{Decision: card.Denied, Reason: "no"}, event.Deny},
	"question": {event.PromptQuestion, question, `"decision":"approved","payload":{"selected_options":["a"]}`,
		`"decision":"approved","payload":{"selected_options":["b"]}`, card.ReplyPayload{Decision: card.Approved}, event.Allow},
	"plan_review": {event.PromptPlanReview, planReview, `"decision":"approved","payload":{"approved":true,"updated_steps":[{"id":"s2"}]}`,
		`"decision":"approved"`, card.ReplyPayload{Decision: card.Approved}, event.Allow},
	"step_decision": {event.PromptStepDecision, stepDecision, `"decision":"retry","payload":{"note":"again"}`,
		`"decision":"continue"`, card.ReplyPayload{Decision: card.Approved, Reason: "retry"}, event.TryAgain},
	"dirty step_decision": {event.PromptStepDecision, stepDecision, `"decision":"perhaps"`,
		`"decision":"retry"`, card.ReplyPayload{Decision: card.ReplyCancelled}, event.GiveUp},
}

func TestQuestionsOfEveryKindAreAnsweredOnceAndEverybodySeesTheReply(t *testing.T) {
	eachTown(t, func(t *testing.T, w *town) {
		s := newScene(w)
		phone, desk := s.hub.joined(s.ada, s.session), w.hub().joined(s.ada, s.session)
		run := s.asked(phone, "hi")
		s.begins(s.edge, run)
		for name, q := range inquiries {
			s.inquire(name, q, run, phone, desk)
		}
		late := s.hub.joined(s.ada, s.session)
		late.say(`{"type":"ping"}`)
		if late.next(); !strings.Contains(string(late.raw), "pong") {
			t.Errorf("an answered question is asked again: %s", late.raw)
		}
	})
}

// inquire has a run ask, one device answer, and another one answer after it.
func (s *scene) inquire(name string, q inquiry, run id.Run, phone, desk *client) {
	request := s.asks(s.edge, run, q.kind, q.inner)
	phone.until("the question", isPrompt(request))
	asked := slices.Clone(phone.raw)
	desk.until("the question", isPrompt(request))
	again := s.hub.joined(s.ada, s.session) // it is asked again after opened, in the same bytes
	if again.next(); string(again.raw) != string(asked) {
		s.t.Errorf("%s: asked again as %s, first as %s", name, again.raw, asked)
	}
	answer := func(c *client, what string) {
		c.say(`{"type":"prompt.user_response","request_id":%q,%s}`, request, what)
	}
	answer(phone, q.answer)
	want := q.want
	want.RequestID = string(request)
	for _, one := range []*client{phone, desk, again} {
		if got := one.reply(request); got != want {
			s.t.Errorf("%s: reply is %+v, want %+v", name, got, want)
		}
	}
	answer(desk, q.answer) // the same again: what was recorded
	if got := desk.reply(request); got != want {
		s.t.Errorf("%s: the same again is answered %+v", name, got)
	}
	answer(desk, q.other)
	desk.told("error invalid_input already_answered")
	if p, err := s.hub.Prompts.Get(s.t.Context(), run, request); err != nil || p.Answer.Decision != q.decided || p.Answer.Device != s.ada.Device {
		s.t.Errorf("%s: recorded is %+v, error %v", name, p.Answer, err)
	}
}

func TestAnAnswerByAnotherProtocolIsSeenHere(t *testing.T) {
	eachTown(t, func(t *testing.T, w *town) {
		s := newScene(w)
		c := s.hub.joined(s.ada, s.session)
		run := s.asked(c, "hi")
		s.begins(s.edge, run)
		request := s.asks(s.edge, run, event.PromptQuestion, question)
		c.until("the question", isPrompt(request))
		_, err := s.hub.Prompts.Answer(t.Context(), s.ada.Principal, prompt.Reply{Run: run, Answer: wire.Answer{ // as REST does
			RequestID: request, Decision: event.Allow, Response: json.RawMessage(`{"selected_options":["b"]}`),
		}})
		s.must(err)
		if got := c.reply(request); got.Decision != card.Approved {
			t.Errorf("reply is %+v", got)
		}
		c.say(`{"type":"prompt.user_response","request_id":%q,"decision":"approved","payload":{"selected_options":["a"]}}`, request)
		c.told("error invalid_input already_answered")
	})
}

func TestAnswersThatDoNotFitAreRefusedAndTheQuestionStaysOpen(t *testing.T) {
	s := newScene(sole(t))
	c := s.hub.joined(s.ada, s.session)
	run := s.asked(c, "hi")
	s.begins(s.edge, run)
	kinds := map[string]id.Request{
		"permission": s.asks(s.edge, run, event.PromptPermission, bash), "question": s.asks(s.edge, run, event.PromptQuestion, question),
		"plan_review": s.asks(s.edge, run, event.PromptPlanReview, planReview), "step_decision": s.asks(s.edge, run, event.PromptStepDecision, stepDecision),
	}
	for _, one := range []struct{ kind, answer string }{
		{"permission", `"decision":"maybe"`},
		{"permission", `"decision":"continue"`},
		{"permission", `"decision":""`},
		{"permission", `"decision":"approved","payload":{"approved":false}`},
		{"permission", `"decision":"approved","payload":{"approved":true,"scope":"for ever"}`},
		{"permission", `"decision":"approved","payload":{"approved":true,"scope":"session"}`},
		{"permission", `"decision":"approved","payload":[]`},
		{"question", `"decision":"approved"`},
		{"question", `"decision":"approved","payload":{"selected_options":["c"]}`},
		{"question", `"decision":"approved","payload":{"selected_options":["a","b"]}`},
		{"question", `"decision":"approved","payload":{"chosen":["a"]}`},
		{"question", `"decision":"retry"`},
		{"plan_review", `"decision":"approved","payload":{"approved":true,"updated_steps":[{"id":""}]}`},
		{"plan_review", `"decision":"cancel"`},
	} {
		c.say(`{"type":"prompt.user_response","request_id":%q,%s}`, kinds[one.kind], one.answer)
		c.told("error invalid_input invalid_request")
	}
	bob := s.person("bob")
	_, err := s.hub.Sessions.AddMember(t.Context(), s.ada.Principal, s.session, bob.member(), s.attempt(s.ada))
	s.must(err)
	reader := s.hub.joined(bob, s.session)
	reader.say(`{"type":"prompt.user_response","request_id":%q,"decision":"denied"}`, kinds["permission"])
	reader.told("error permission_denied agent_operate_required")
	elsewhere := s.hub.joined(s.ada, s.group(s.ada))
	elsewhere.say(`{"type":"prompt.user_response","request_id":%q,"decision":"denied"}`, kinds["permission"])
	elsewhere.told("error invalid_input not_found")
	for kind, request := range kinds {
		if p, err := s.hub.Prompts.Get(t.Context(), run, request); err != nil || p.State != prompt.Pending {
			t.Errorf("%s is %s, error %v", kind, p.State, err)
		}
	}
}
