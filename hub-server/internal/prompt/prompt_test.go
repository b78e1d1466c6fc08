package prompt

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const allow, deny = event.Allow, event.Deny

// asked is a question to use Bash.
func asked(input string) Prompt {
	raw, err := event.Encode(event.PromptRequestedPayload{ToolName: "Bash", Input: json.RawMessage(input)})
	if err != nil {
		panic(err) // the tests write JSON
	}
	return Prompt{ID: id.NewRequest(), Payload: raw, State: Pending}
}

func TestTheAgentIsToldEachDecisionInPlainWords(t *testing.T) {
	answer := func(d event.Decision, reason, input string) event.PromptAnsweredPayload {
		return event.PromptAnsweredPayload{Decision: d, Reason: reason, UpdatedInput: json.RawMessage(input)}
	}
	odd := Prompt{Payload: json.RawMessage(`[]`)}
	ls, long := asked(`{"command":"ls"}`), asked(`{"x":"`+strings.Repeat("ü", maxShown)+`"}`)
	for want, decided := range map[string][]decision{
		`The request to use Bash with {"command":"ls"} was allowed. Go on.`:               {{asked: ls, answer: answer(allow, "", "")}},
		`The request to use Bash was allowed. Go on.`:                                     {{asked: asked(`{}`), answer: answer(allow, "fine", "")}},
		`The request to use Bash with {"command":"ls"} was denied. Go on without it.`:     {{asked: ls, answer: answer(deny, "", "")}},
		`The request to use Bash with {"command":"ls"} was denied: no. Go on without it.`: {{asked: ls, answer: answer(deny, "no", "")}},
		`The request to use Bash was allowed with another input: {"n":2}. Go on.`:         {{asked: asked(`{}`), answer: answer(allow, "", `{"n":2}`)}},
		`The request to use a tool was allowed. Go on.`:                                   {{asked: odd, answer: answer(allow, "", "")}},
		"The request to use Bash was denied.\nThe request to use Bash was allowed. Go on.": {
			{asked: asked(`{}`), answer: answer(deny, "", "")}, {asked: asked(`{}`), answer: answer(allow, "", "")},
		},
	} {
		if got := tell(decided); got != want {
			t.Errorf("told %q, want %q", got, want)
		}
	}
	if got := tell([]decision{{asked: long, answer: answer(allow, "", "")}}); len(got) > maxShown+100 || !strings.Contains(got, "… was allowed.") {
		t.Errorf("a long input is told in %d bytes: %.80s", len(got), got)
	}
}

func TestWhatADispatchHasNoRoomForIsLeftOutAndCounted(t *testing.T) {
	var decided []decision
	large := json.RawMessage(`{"x":"` + strings.Repeat("y", wire.MaxUpdatedInput/2) + `"}`)
	for range 200 {
		decided = append(decided, decision{asked: asked(`{"x":"` + strings.Repeat("y", maxShown) + `"}`), answer: event.PromptAnsweredPayload{
			Decision: allow, UpdatedInput: large,
		}})
	}
	all := grants(decided)
	if len(all) != 2 {
		t.Errorf("%d grants of 64 KiB each, want 2", len(all))
	}
	text := tell(decided)
	if len(text) > maxTold+100 || !strings.HasSuffix(text, "more requests were answered. Go on.") {
		t.Errorf("told in %d bytes: …%s", len(text), text[len(text)-80:])
	}
	few := []decision{
		{asked: asked(`{}`), answer: event.PromptAnsweredPayload{Decision: allow}}, {answer: event.PromptAnsweredPayload{Decision: deny}},
	}
	if small := grants(few); len(small) != 1 {
		t.Errorf("grants %+v", small)
	}
}

func TestAnAnswerIsTheSameWhenAllOfItIs(t *testing.T) {
	recorded := func(d event.Decision, reason, input string) Prompt {
		return Prompt{State: Answered, Answer: &Answer{Decision: d, By: event.Person, Reason: reason, UpdatedInput: json.RawMessage(input), At: time.Now()}}
	}
	with := func(input string) wire.Answer {
		return wire.Answer{Decision: allow, UpdatedInput: json.RawMessage(input)}
	}
	for name, c := range map[string]struct {
		recorded Prompt
		answer   wire.Answer
		want     fault.Code
	}{
		"the same":            {recorded(allow, "", ""), wire.Answer{Decision: allow}, ""},
		"input spelt anew":    {recorded(allow, "", `{"a":1,"b":2}`), with(`{ "b":2, "a":1 }`), ""},
		"another decision":    {recorded(allow, "", ""), wire.Answer{Decision: deny}, fault.AlreadyAnswered},
		"another reason":      {recorded(deny, "no", ""), wire.Answer{Decision: deny, Reason: "never"}, fault.AlreadyAnswered},
		"another input":       {recorded(allow, "", `{"a":1}`), with(`{"a":2}`), fault.AlreadyAnswered},
		"no input":            {recorded(allow, "", `{"a":1}`), wire.Answer{Decision: allow}, fault.AlreadyAnswered},
		"nobody is there now": {Prompt{State: Cancelled}, wire.Answer{Decision: allow}, fault.PromptCancelled},
	} {
		if got := fault.CodeOf(Reply{Answer: c.answer}.settled(c.recorded)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	policy := Prompt{State: Answered, Answer: &Answer{Decision: deny, By: event.Policy}}
	if err := (Reply{Answer: wire.Answer{Decision: allow}}).settled(policy); err == nil || !strings.Contains(err.Error(), "by the policy") {
		t.Errorf("an answer after the policy's: %v", err)
	}
}

func TestWhatAProcessDidNotLiveToHearIsTakenBackToTheAgent(t *testing.T) {
	answered := func(outlived bool) Prompt {
		p := asked(`{}`)
		p.State, p.Outlived, p.Answer = Answered, outlived, &Answer{Decision: deny, User: "user_1", At: time.Unix(1, 0)}
		return p
	}
	heard, unheard, last, open := answered(false), answered(true), asked(`{}`), asked(`{}`)
	reply := event.PromptAnsweredPayload{RequestID: last.ID, Decision: allow}
	decided, waiting := outlived([]Prompt{heard, unheard, last}, reply)
	ids := make([]id.Request, len(decided))
	for i, d := range decided {
		ids[i] = d.asked.ID
	}
	if waiting || !slices.Equal(ids, []id.Request{unheard.ID, last.ID}) || decided[0].answer.Decision != deny || decided[1].answer.Decision != allow {
		t.Errorf("decided %+v, waiting %v", decided, waiting)
	}
	if _, waiting := outlived([]Prompt{unheard, open, last}, reply); !waiting {
		t.Error("a question that is open does not count")
	}
}
