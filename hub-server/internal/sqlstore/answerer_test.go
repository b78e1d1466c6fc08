package sqlstore

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
	"github.com/switchyard-dev/switchyard/hub-server/internal/prompt"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// What a check of promise SEC14 finds.
const (
	strangerAnswers = "a stranger answers"
	memberAnswers   = "a member answers who may not operate the agent"
	newcomerWaits   = "who may operate since the question was asked cannot answer"
	formerAnswers   = "who may operate no more answers"
	otherTaken      = "an answer to something else counts"
	shownRefused    = "an answer to what was shown is refused"
)

// answer is how a person's answer is taken.
type answer func(ctx context.Context, by account.Principal, r prompt.Reply) (prompt.Prompt, error)

// wrongs collects what does not hold.
type wrongs []string

func (w *wrongs) unless(holds bool, wrong string) {
	if !holds {
		*w = append(*w, wrong)
	}
}

// wrongRights gives and takes bob's rights around two questions and says what was wrong with who could answer. asked is told of each question.
func (a *asker) wrongRights(bob account.Principal, answer answer, asked func()) (found wrongs) {
	a.t.Helper()
	try := func(request id.Request) fault.Code {
		_, err := answer(a.t.Context(), bob, prompt.Reply{Run: a.n.ID, Answer: wire.Answer{RequestID: request, Decision: event.Deny}})
		if err == nil {
			return ""
		}
		return fault.CodeOf(err)
	}
	first := a.ask(event.Person, `{"n":1}`)
	asked()
	found.unless(try(first) == fault.NotFound, strangerAnswers)
	a.admit(bob.User)
	found.unless(try(first) == fault.AgentOperateRequired, memberAnswers)
	a.grant(bob.User)
	found.unless(try(first) == "", newcomerWaits)
	second := a.ask(event.Person, `{"n":2}`)
	asked()
	do(a.t, a.writer, nil, func(ctx context.Context, tx *Tx) error {
		_, err := tx.Exec(ctx, `DELETE FROM edge_operators WHERE user_id = $1`, string(bob.User))
		return err
	})
	found.unless(try(second) == fault.AgentOperateRequired, formerAnswers)
	return found
}

// wrongDigests answers to something else than was shown, and then to what was.
func (a *asker) wrongDigests(answer answer) (found wrongs) {
	a.t.Helper()
	other, err := event.PromptDigest("Bash", json.RawMessage(`{"command":"rm -rf /"}`))
	if err != nil {
		a.t.Fatal(err)
	}
	request := a.ask(event.Person, `{"command":"ls"}`)
	reply := prompt.Reply{Run: a.n.ID, Answer: wire.Answer{RequestID: request, Decision: event.Allow, Digest: other}}
	_, err = answer(a.t.Context(), a.ada, reply)
	found.unless(fault.CodeOf(err) == fault.DigestMismatch && a.list()[0].State == prompt.Pending, otherTaken)
	reply.Digest = a.list()[0].Digest
	_, err = answer(a.t.Context(), a.ada, reply)
	found.unless(err == nil, shownRefused)
	return found
}

func TestSEC14RightsCountAtTheMomentOfTheAnswer(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		bob := account.Principal{User: id.NewUser(), Device: id.NewDevice()}
		for _, wrong := range a.wrongRights(bob, a.prompts.Answer, func() {}) {
			t.Error(wrong)
		}
	})
}

func TestSEC14AnAnswerHoldsForWhatWasShownAlone(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		for _, wrong := range a.wrongDigests(a.prompts.Answer) {
			t.Error(wrong)
		}
	})
}

// early is a store that goes by the rights that one person had when the question was asked.
type early struct {
	prompt.Store
	could bool
}

func (e early) Answer(ctx context.Context, r runlog.Reply) (bool, error) {
	if !e.could {
		return false, fleet.OperateRequired("scout")
	}
	r.By = "" // what nobody answers needs no rights
	return e.Store.Answer(ctx, r)
}

// The positive control: an answer that is judged by the rights at the time of asking is seen, both ways.
func TestSEC14RightsOfTheTimeOfAskingAreSeen(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		bob := account.Principal{User: id.NewUser(), Device: id.NewDevice()}
		lax := early{Store: a.prompts.Store}
		found := a.wrongRights(bob, func(ctx context.Context, by account.Principal, r prompt.Reply) (prompt.Prompt, error) {
			return (&prompt.Prompts{Store: lax, Runs: a.prompts.Runs}).Answer(ctx, by, r)
		}, func() {
			open, err := a.prompts.List(t.Context(), prompt.Query{User: bob.User, State: prompt.Pending})
			if err != nil {
				t.Fatal(err)
			}
			lax.could = len(open) > 0
		})
		if !slices.Contains(found, newcomerWaits) || !slices.Contains(found, formerAnswers) {
			t.Errorf("seen is %q: the test of this promise proves nothing", found)
		}
	})
}

// The positive control: an answer that is taken whatever it is to is seen.
func TestSEC14AnAnswerWhoseDigestIsIgnoredIsSeen(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		found := a.wrongDigests(func(ctx context.Context, by account.Principal, r prompt.Reply) (prompt.Prompt, error) {
			r.Digest = ""
			return a.prompts.Answer(ctx, by, r)
		})
		if !slices.Contains(found, otherTaken) {
			t.Errorf("seen is %q: the test of this promise proves nothing", found)
		}
	})
}
