package cards

import (
	"encoding/json"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/card"
)

// scenario is what a person says to an agent, and what has to be done until the turn ends.
type scenario struct {
	name    string // of its transcript
	message card.UserMessage
	steps   []step
	asks    bool // the last of the steps answers a question
}

// step is what is done when the hub tells something.
type step struct {
	at string // in the payload of the event
	do func(*line, card.Event)
}

// scenarios are the five of S0 §13, in its order, and one for each kind of question that is not in them (S0 §7.1).
func scenarios() []scenario {
	return []scenario{
		{name: "1-plain-turn", message: text("Hi"), steps: []step{{`"chunk":"Hello"`, cue}}},
		{name: "2-tool-call", message: text("List files"), steps: []step{{`"chunk":"Here are the files:"`, cue}}},
		{name: "3-sub-agent", message: text("Search auth bugs"), steps: []step{{`"stage":"searching"`, cue}}},
		{
			name:    "4-plan-with-review",
			message: card.UserMessage{Content: text("调研 X 写 Y").Content, CoordinatorMode: "plan", PlanConfirmation: "required"},
			steps: []step{
				{`"kind":"plan_review"`, answer("approved", `{"approved":true,"updated_steps":[{"id":"s1","subagent_type":"writer","description":"调研并撰写"}]}`)},
				{`"chunk":"邮件已经准备好："`, cue},
			},
			asks: true,
		},
		{name: "5-long-tool-with-ticks", message: text("Fetch the vLLM paper"), steps: []step{
			{`"uptime_ms":5000`, cue}, {`"uptime_ms":10000`, cue}, {`"items_processed":12`, cue}, {`"items_processed":25`, cue},
		}},
		{name: "question", message: text("Ask me"), steps: []step{
			{`"kind":"question"`, answer("approved", `{"selected_options":["都看"],"custom_text":""}`)},
		}, asks: true},
		{name: "permission", message: text("Remove the scratch folder"), steps: []step{
			{`"kind":"permission"`, answer("approved", `{"approved":true,"scope":"once","message":""}`)},
		}, asks: true},
		{name: "step-decision", message: text("Try hard"), steps: []step{
			{`"kind":"step_decision"`, answer("retry", `{"note":"once more"}`)}, {`"kind":"step_decision"`, answer("continue", "")},
		}, asks: true},
	}
}

func text(words string) card.UserMessage {
	return card.UserMessage{Content: card.Content{{Type: card.TextBlock, Text: words}}}
}

// answer answers the question that is shown.
func answer(decision, payload string) func(*line, card.Event) {
	return func(l *line, _ card.Event) {
		l.s.t.Helper()
		l.say(card.PromptResponse{RequestID: string(l.request()), Decision: decision, Payload: json.RawMessage(payload)}, "")
	}
}

// play does what the steps say, each in its time.
func (l *line) play(steps []step) {
	l.s.t.Helper()
	for _, one := range steps {
		one.do(l, l.until(one.at))
	}
}

// What is said in each scenario is what testdata has; who comes later, or again, is told the same (S0 §13).
func TestScenariosAreWhatTheTranscriptsSay(t *testing.T) {
	t.Parallel()
	s := newStage(t, "worker")
	for _, sc := range scenarios() {
		l := s.writeFirst("worker", sc)
		l.play(sc.steps)
		l.end()
		l.nothing()
		l.script.mustBe(sc.name)
		late := s.dial(&script{t: t}, client.NewCardForest())
		late.say(card.SessionResume{TraceID: string(l.trace)}, "")
		late.opened()
		late.told(card.Resumed)
		late.end()
		late.nothing()
		if got, want := numbered(late.script.text()), numbered(l.script.text()); got != want {
			t.Errorf("%s: who comes later is told\n%s\nwho was there\n%s", sc.name, got, want)
		}
		l.sameAs(late)
		l.hangUp()
		late.hangUp()
	}
}

// sameAs checks that two clients have the same forest.
func (l *line) sameAs(other *line) {
	l.s.t.Helper()
	mine, err := l.forest.Digest()
	if err != nil {
		l.s.t.Fatal(err)
	}
	if theirs, err := other.forest.Digest(); err != nil || theirs != mine {
		l.s.t.Errorf("the cards of one client are %s, of another %s, %v", mine, theirs, err)
	}
}
