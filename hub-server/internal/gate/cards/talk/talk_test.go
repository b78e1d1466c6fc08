package talk

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/switchyard-dev/switchyard/hub-server/internal/project/cards"
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const session, trace = id.Session("sess_0190b4c2-7f7a-7cc1-a94e-2f0d3c1b9a55"), id.Trace("tr_00112233445566778899aabb")

var noon = time.Date(2026, 5, 7, 12, 0, 0, 0, time.UTC)

// entry is a conversation whose trace has so many frames.
func entry(head card.Seq, pending ...card.Seq) Entry {
	e := Entry{At: card.Opening{Session: session, Trace: trace}, About: Subject{Title: "a talk", Members: []string{"ada", "scout"}}, Head: head}
	for _, seq := range pending {
		e.Pending = append(e.Pending, frame(seq))
	}
	return e
}

func frame(seq card.Seq) cards.Frame {
	return cards.Frame{Seq: seq, Bytes: fmt.Appendf(nil, "frame %d\n", seq)}
}

// opened is a connection with its conversation, all of whose greeting is read.
func opened(t *testing.T, head card.Seq) *Talk {
	t.Helper()
	c := New(string(session), card.English)
	if act, ok := c.Start().(Enter); !ok || act.Named != string(session) {
		t.Fatalf("a named conversation begins with %#v", act)
	}
	c.Entered(noon, entry(head))
	saying(t, c)
	return c
}

// saying takes what there is to say: of a session event its kind and, of an error, the code; of anything else the bytes.
func saying(t *testing.T, c *Talk) (all []string) {
	t.Helper()
	for _, raw := range c.Next().Say {
		e, err := card.Decode(raw)
		if err != nil || e.Type != card.SessionEvent {
			all = append(all, strings.TrimSpace(string(raw)))
			continue
		}
		all = append(all, kindOf(t, e))
	}
	return all
}

func kindOf(t *testing.T, e card.Event) string {
	t.Helper()
	var p card.SessionPayload
	if err := json.Unmarshal(e.Payload, &p); err != nil {
		t.Fatal(err)
	}
	body, err := p.Body()
	if err != nil {
		t.Fatal(err)
	}
	switch b := body.(type) {
	case *card.ErrorInner:
		return "error " + string(b.Error.Type) + " " + b.Error.Code
	case *card.ResumedInner:
		return fmt.Sprintf("resumed %d to %d", b.FromSeq, b.ToSeq)
	case *card.ResumeFailedInner:
		return "resume_failed " + string(b.Reason)
	}
	return string(p.Kind)
}

func same(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if strings.Join(got, " | ") != strings.Join(want, " | ") {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

func hear(c *Talk, f card.ClientFrame) Act { return c.Hear(noon, Heard{Frame: f, EventID: "c1"}, nil) }

func TestBothOrdersOfTheHandshakeOpenTheConversationOnce(t *testing.T) {
	t.Run("from the address", func(t *testing.T) {
		c := New(string(session), card.English)
		if _, ok := c.Start().(Enter); !ok {
			t.Fatal("it is not entered at once")
		}
		if next := c.Entered(noon, entry(7, 2, 5, 9)); next != nil {
			t.Errorf("and then %#v", next)
		}
		same(t, "first", saying(t, c), "opened", "frame 2", "frame 5") // 9 is live
		if r := c.Next().Read; r == nil || r.After != 7 || r.Trace != trace {
			t.Errorf("what is live begins at %+v", r)
		}
		hear(c, card.SessionCreate{SessionID: string(session)})
		same(t, "a second session.create", saying(t, c), "error invalid_input invalid_request")
	})
	t.Run("with session.create", func(t *testing.T) {
		c := New("", card.English)
		if act := c.Start(); act != nil {
			t.Errorf("it begins with %#v", act)
		}
		if step := c.Next(); step.Say != nil || step.Read != nil {
			t.Errorf("before that is said %+v", step)
		}
		if act, ok := hear(c, card.SessionCreate{SessionID: "mine"}).(Create); !ok || act.Wanted != "mine" || act.Key != "c1" || act.Tools != nil {
			t.Fatalf("session.create is %#v", act)
		}
		c.Entered(noon, entry(0))
		same(t, "answer", saying(t, c), "opened")
		if act, ok := hear(c, card.SessionCreate{SessionID: string(session), Tools: []card.ClientTool{}}).(Offer); !ok || act.Session != session || act.Tools == nil {
			t.Errorf("tools of the conversation that is open are %#v", act)
		}
		hear(c, card.SessionCreate{SessionID: string(session)})
		hear(c, card.SessionCreate{SessionID: "other", Tools: []card.ClientTool{}})
		same(t, "another session.create", saying(t, c), "error invalid_input invalid_request", "error invalid_input invalid_request")
	})
	t.Run("with a message", func(t *testing.T) {
		c := New("", card.English)
		if act, ok := hear(c, card.UserMessage{CoordinatorMode: "plan"}).(Create); !ok || act.Wanted != "" || act.Key != "c1" || act.Tools != nil {
			t.Fatalf("a first message is %#v", act)
		}
		if next, ok := c.Entered(noon, entry(0)).(Post); !ok || next.Message.CoordinatorMode != "plan" || next.Session != session {
			t.Errorf("and then %#v", next)
		}
		same(t, "answer", saying(t, c), "opened")
	})
	t.Run("with a resume", func(t *testing.T) {
		c := New("", card.English)
		resume := card.SessionResume{TraceID: string(trace), LastSeq: 3}
		if act, ok := hear(c, resume).(Find); !ok || act.Resume.TraceID != string(trace) {
			t.Fatalf("a first resume is %#v", act)
		}
		if next, ok := c.Found(noon, Heard{Frame: resume}, session).(Enter); !ok || next.Named != string(session) {
			t.Fatalf("a trace that is found leads to %#v", next)
		}
		if next, ok := c.Entered(noon, entry(5)).(Look); !ok || next.Session != session {
			t.Fatalf("and then %#v", next)
		}
		c.Resumed(noon, Heard{}, resume, 0, 5)
		same(t, "answer", saying(t, c), "opened", "resumed 4 to 5")
	})
	t.Run("with an address that names none", func(t *testing.T) {
		c := New("mine", card.English)
		c.Start()
		c.NotEntered(noon)
		hear(c, card.SessionResume{TraceID: string(trace)})
		same(t, "answers", saying(t, c), "error invalid_input session_not_found", "resume_failed session_not_found")
		if _, ok := hear(c, card.SessionCreate{}).(Create); !ok {
			t.Error("it cannot be created then")
		}
	})
	t.Run("with a message that no agent could take", func(t *testing.T) {
		c := New("", card.English)
		hear(c, card.UserMessage{})
		c.Failed(noon, Heard{}, fault.New(fault.AgentUnknown, "none"))
		same(t, "answer", saying(t, c), "error invalid_input agent_unknown")
		hear(c, card.SessionCreate{})
		if next := c.Entered(noon, entry(0)); next != nil {
			t.Errorf("the message that failed is sent after all: %#v", next)
		}
	})
}

func TestWhateverIsWrongTheClientIsToldAndTheTalkGoesOn(t *testing.T) {
	const wrong = "error invalid_input invalid_request"
	table := map[string]struct {
		frame  card.ClientFrame
		first  string // where no conversation is open
		second string // where one is
	}{
		"user.inject":                   {card.UserInject{}, wrong, wrong},
		"tool.result of no call":        {card.ToolResult{ToolUseID: strings.Repeat("x", 4096)}, wrong, ""},
		"answer without a conversation": {card.PromptResponse{}, wrong, ""},
		"interrupt of another trace":    {card.SessionInterrupt{TraceID: "tr_x"}, wrong, wrong},
		"resume of another trace":       {card.SessionResume{TraceID: "tr_x"}, "", "resume_failed unknown_trace"},
		"nothing":                       {nil, wrong, wrong},
	}
	for name, c := range table {
		t.Run(name, func(t *testing.T) {
			for at, want := range map[*Talk]string{New("", card.English): c.first, opened(t, 3): c.second} {
				act := at.Hear(noon, Heard{Frame: c.frame}, nil)
				if (act == nil) != (want != "") {
					t.Errorf("leads to %#v", act)
				}
				if want != "" {
					same(t, "answer", saying(t, at), want)
				}
				at.Hear(noon, Heard{Type: "x"}, fault.New(fault.InvalidJSON, "no"))
				hear(at, card.Ping{})
				same(t, "afterwards", saying(t, at), "error invalid_input invalid_json", `{"type":"pong"}`)
			}
		})
	}
}

func TestAnErrorSaysWhichFrameItIsAbout(t *testing.T) {
	c := opened(t, 0)
	c.Failed(noon, Heard{Type: "prompt.user_response", EventID: "c9", Frame: card.PromptResponse{RequestID: "req_1"}}, fault.New(fault.NotFound, "no"))
	e, err := card.Decode(c.Next().Say[0])
	if err != nil {
		t.Fatal(err)
	}
	if e.Envelope.Severity != card.Error || e.Envelope.SessionID != session || e.Envelope.TraceID != trace || e.Envelope.Seq != 0 {
		t.Errorf("envelope is %+v", e.Envelope)
	}
	for _, part := range []string{`"request_id":"req_1"`, `"event_id":"c9"`, `"type":"prompt.user_response"`, `"code":"not_found"`, `"retryable":false`} {
		if !strings.Contains(string(e.Payload), part) {
			t.Errorf("%s lacks %s", e.Payload, part)
		}
	}
	c.Failed(noon, Heard{}, fmt.Errorf("password of the store is x"))
	if said := string(c.Next().Say[0]); strings.Contains(said, "password") {
		t.Errorf("an error of ours says %s", said)
	}
}

func TestAConversationThatIsLeftIsSaidNothingMoreOf(t *testing.T) {
	c := opened(t, 4)
	c.Changed(noon, Subject{Title: "secret"})
	c.Left(noon)
	c.Left(noon)
	if say := c.Took(Range{Trace: trace, After: 4, turn: c.place.turn}, []cards.Frame{frame(5)}); say != nil {
		t.Errorf("it is told %q after it has left", say)
	}
	c.Changed(noon, Subject{Title: "secret"})
	if act := hear(c, card.UserMessage{}); act != nil || !c.Over() {
		t.Errorf("it may still do %#v", act)
	}
	same(t, "last", saying(t, c), "error invalid_input session_not_found")
	if step := c.Next(); step.Read != nil || step.Say != nil {
		t.Errorf("and then %+v", step)
	}
}

func TestUpdatedTellsWhatHasChangedAndNothingElse(t *testing.T) {
	c := opened(t, 0)
	c.Changed(noon, Subject{Title: "a talk", Members: []string{"ada", "scout"}})
	if step := c.Next(); step.Say != nil {
		t.Errorf("nothing changed, and it says %q", step.Say)
	}
	for _, one := range []struct {
		now  Subject
		want string
	}{
		{Subject{Title: "b", Members: []string{"ada", "scout"}}, `{"kind":"updated","inner":{"title":"b"}}`},
		{Subject{Title: "b", Members: []string{"ada"}}, `{"kind":"updated","inner":{"members":["ada"]}}`},
		{Subject{Title: "b", Members: []string{"ada"}, Model: "m"}, `{"kind":"updated","inner":{"model":"m"}}`},
	} {
		c.Changed(noon, one.now)
		e, err := card.Decode(c.Next().Say[0])
		if err != nil || string(e.Payload) != one.want {
			t.Errorf("%+v is told as %s, error %v", one.now, e.Payload, err)
		}
	}
}
