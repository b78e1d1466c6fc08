package sqlstore

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/hub-server/internal/prompt"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
)

// notices are what everybody is told of questions, in order: whom, and the state.
func (a *asker) notices() (told []string) {
	a.t.Helper()
	rows, err := a.store.Rows(a.t.Context(), 0, 1000)
	if err != nil {
		a.t.Fatal(err)
	}
	log := a.logOf(a.t, a.n.ID)
	for _, row := range rows {
		if row.Kind != delivery.KindPrompt {
			continue
		}
		asked, err := NewPrompts(a.store, a.writer).Prompt(a.t.Context(), row.Run, row.Prompt)
		if err != nil {
			a.t.Fatal(err)
		}
		payload, err := prompt.Notification(asked, log[row.From-1])
		if err != nil {
			a.t.Fatal(err)
		}
		var n struct {
			ID      id.Request
			Type    string
			Read    bool
			Payload struct{ State prompt.State }
		}
		if err := json.Unmarshal(payload, &n); err != nil {
			a.t.Fatalf("%s: %v", payload, err)
		}
		if n.ID != row.Prompt || n.Type != "prompt" || n.Read != (n.Payload.State != prompt.Pending) {
			a.t.Errorf("notification %s", payload)
		}
		if want := `,"payload":` + string(asked.Payload) + `}}`; !strings.HasSuffix(string(payload), want) {
			a.t.Errorf("notification %s does not end in the bytes %s", payload, want)
		}
		told = append(told, string(row.Audience)+" "+string(n.Payload.State))
	}
	return told
}

func TestR20EverybodyWhoMayAnswerIsToldAndNobodyElse(t *testing.T) {
	for outcome, c := range map[prompt.State]struct {
		settle func(a *asker, request id.Request)
	}{
		prompt.Answered: {func(a *asker, request id.Request) { a.must(request, event.Allow) }},
		prompt.Expired:  {func(a *asker, _ id.Request) { a.sweep(2 * ttl) }},
		prompt.Cancelled: {func(a *asker, _ id.Request) {
			a.j.write(a.t, a.n.ID, wireFinished, event.RunCompletedPayload{})
			a.j.flush(a.t, a.record)
		}},
	} {
		t.Run(string(outcome), func(t *testing.T) {
			eachAsker(t, func(t *testing.T, a *asker) {
				bob, carol := id.NewUser(), id.NewUser()
				a.operator(bob)
				a.admit(carol) // reads, and may not answer
				request := a.ask(event.Person, `{"command":"ls  <é>", "n":1.0}`)
				c.settle(a, request)
				var want []string
				for _, state := range []prompt.State{prompt.Pending, outcome} {
					both := []string{string(delivery.ToUser(a.ada.User)) + " " + string(state), string(delivery.ToUser(bob)) + " " + string(state)}
					slices.Sort(both)
					want = append(want, both...)
				}
				if got := a.notices(); !slices.Equal(got, want) {
					t.Errorf("told %q, want %q", got, want)
				}
			})
		})
	}
}

func TestWhatThePolicyAnswersIsNoNotice(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		request := a.ask(event.Policy, `{}`)
		a.j.write(t, a.n.ID, wireDecided, event.PromptAnsweredPayload{RequestID: request, Decision: event.Allow, By: event.Policy, Policy: "allow-all"})
		a.j.flush(t, a.record)
		if got := a.notices(); len(got) != 0 {
			t.Errorf("told %q", got)
		}
	})
}

func TestANoticeOfALostProcessesQuestionComesBeforeTheRunThatGoesOn(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		request := a.inquire(event.PromptQuestion, anything, time.Hour)
		a.ended(event.EndedUnseen, request)
		a.must(request, event.Deny)
		user := string(delivery.ToUser(a.ada.User))
		if got := a.notices(); !slices.Equal(got, []string{user + " pending", user + " answered"}) || a.state() != run.StateFailed {
			t.Errorf("told %q, run %s", got, a.state())
		}
	})
}
