package cards

import (
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// asked plays the timeline of S0 §2.4.2 up to t=6: a question is asked, kill ends what waits for the answer, the same client comes back to the same
// conversation, is asked again in the same bytes, and answers.
func (s *stage) asked(kill func(), why string) *line {
	s.t.Helper()
	sc := scenarioOf("question")
	l := s.enter("worker", sc)
	l.script.note("t=0: the question is stored, and told")
	l.until(sc.steps[0].at)
	s.stored(l.request())
	kill()
	l.lost("t=1: " + why)
	l.script.note("t=2, 3: the client comes back with the same session_id")
	next := l.again(0)
	if !next.forest.MayWait() {
		s.t.Error("opened does not say that questions are kept")
	}
	l.script.note("t=4: it is asked again, in the same bytes")
	if e := next.hear(); e.Type != card.PromptUser {
		s.t.Fatalf("it is not, after\n%s", l.script.text())
	}
	l.script.note("t=5, 6: the client shows one question, and the person answers it") // request finds one
	sc.steps[0].do(next, card.Event{})
	return next
}

func scenarioOf(name string) scenario {
	for _, sc := range scenarios() {
		if sc.name == name {
			return sc
		}
	}
	panic("there is no scenario " + name)
}

// stored checks that the hub has the question on record.
func (s *stage) stored(request id.Request) {
	s.t.Helper()
	if list := s.questions(); len(list) != 1 || list[0].RequestID != string(request) || list[0].State != client.PromptStatePending {
		s.t.Errorf("stored is %+v, not %s", list, request)
	}
}

// answeredOnce plays t=9: the question is settled, whoever answers.
func (l *line) answeredOnce(request id.Request) {
	l.s.t.Helper()
	l.script.note("t=9: the answer counts once. The same again is told what is on record (R8)")
	response := card.PromptResponse{RequestID: string(request), Decision: "approved", Payload: []byte(`{"selected_options":["都看"],"custom_text":""}`)}
	l.say(response, "")
	if e := l.hear(); e.Type != card.PromptReply {
		l.s.t.Fatalf("it is not, after\n%s", l.script.text())
	}
	l.script.note("another one is refused")
	response.Payload = []byte(`{"selected_options":["否"],"custom_text":""}`)
	l.say(response, "")
	l.told(card.SessionError)
	l.script.note("and who comes back is asked nothing")
	l.again(0).nothing()
}

func TestAQuestionIsAnsweredOnceAfterTheHubWasKilled(t *testing.T) {
	t.Parallel()
	s := newStage(t, "worker")
	l := s.asked(func() {
		s.KillHub()
		s.StartHub()
	}, "the hub is killed, and started again")
	request := l.request()
	l.script.note("t=7, 8: the agent, which has waited, goes on with the answer")
	l.end()
	l.answeredOnce(request)
	l.script.mustBe("recovery")
}

func TestAQuestionIsAnsweredOnceAfterHubAndAgentWereKilled(t *testing.T) {
	t.Parallel()
	s := newStage(t, "worker")
	l := s.asked(func() {
		s.KillHub()
		s.edge.Kill()
		s.StartHub()
		s.edge.Start()
		s.edge.WaitOnline()
	}, "the hub, the edge and the agent are killed, and started again")
	request := l.request()
	l.script.note("t=7, 8: the answer is taken to a new process in a turn of its own, which goes on where the one was that is lost")
	l.end()
	l.end()
	l.answeredOnce(request)
	l.script.mustBe("recovery-without-agent")
}
