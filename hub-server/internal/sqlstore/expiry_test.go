package sqlstore

import (
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/prompt"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
)

const (
	ttl      = 15 * 24 * time.Hour
	anything = `{"question":"Which one?","options":[{"label":"a"},{"label":"b"}]}`
)

// sweep expires what is due at that time after now.
func (a *asker) sweep(after time.Duration) {
	a.t.Helper()
	x := a.expiry()
	if err := x.Sweep(a.t.Context(), time.Now().Add(after)); err != nil {
		a.t.Fatal(err)
	}
}

func (a *asker) expiry() prompt.Expiry {
	return prompt.Expiry{Prompts: a.prompts, Timers: NewTimers(a.store, a.writer), TTL: ttl, Log: slog.New(slog.DiscardHandler)}
}

func (a *asker) states() (states []prompt.State) {
	a.t.Helper()
	for _, p := range a.list() {
		states = append(states, p.State)
	}
	return states
}

func TestAQuestionExpiresByItsOwnLimitOrByItsAge(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		limited := a.inquire(event.PromptQuestion, anything, time.Minute)
		patient := a.inquire(event.PromptQuestion, anything, 0)
		for _, step := range []struct {
			after time.Duration
			want  []prompt.State
			run   run.State
		}{
			{50 * time.Second, []prompt.State{prompt.Pending, prompt.Pending}, run.StateWaitingPerson},
			{time.Minute + time.Second, []prompt.State{prompt.Expired, prompt.Pending}, run.StateWaitingPerson},
			{ttl - time.Minute, []prompt.State{prompt.Expired, prompt.Pending}, run.StateWaitingPerson},
			{ttl + time.Second, []prompt.State{prompt.Expired, prompt.Expired}, run.StateRunning},
			{2 * ttl, []prompt.State{prompt.Expired, prompt.Expired}, run.StateRunning},
		} {
			a.sweep(step.after)
			if got := a.states(); !slices.Equal(got, step.want) || a.state() != step.run {
				t.Errorf("after %v: questions %v, run %s", step.after, got, a.state())
			}
		}
		log := a.logOf(t, a.n.ID)
		want := []event.Type{event.RunStarted, event.PromptRequested, event.PromptRequested, event.PromptExpired, event.PromptExpired}
		if got := typesOf(log); !slices.Equal(got, want) {
			t.Fatalf("log %v", got)
		}
		for i, want := range []string{
			`{"request_id":"` + string(limited) + `","kind":"question","reason":"timeout"}`,
			`{"request_id":"` + string(patient) + `","kind":"question","reason":"ttl"}`,
		} {
			if got := string(log[3+i].Payload); got != want {
				t.Errorf("event %s, want %s", got, want)
			}
		}
		if told := a.answers(); len(told) != 2 || told[0].Decision != event.NoAnswer || told[0].RequestID != limited || told[0].Digest == "" {
			t.Errorf("the edge is told %+v", told)
		}
		if _, err := a.say(limited, event.Deny); fault.CodeOf(err) != fault.PromptExpired {
			t.Errorf("answer after the end of its time: %v", err)
		}
	})
}

func TestAQuestionThatIsAnsweredDoesNotExpire(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		a.must(a.inquire(event.PromptQuestion, anything, time.Millisecond), event.Deny)
		a.sweep(2 * ttl)
		if got := a.states(); !slices.Equal(got, []prompt.State{prompt.Answered}) || len(a.answers()) != 1 {
			t.Errorf("questions %v, commands %+v", got, a.answers())
		}
	})
}

// Two hubs sweep, and people answer, at the same moment.
func TestAQuestionIsSettledOnceThoughHubsAndPeopleCompete(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		const rounds = 20
		for range rounds {
			request := a.inquire(event.PromptQuestion, anything, time.Millisecond)
			var racers sync.WaitGroup
			for range 2 {
				racers.Go(func() { a.sweep(time.Hour) })
			}
			racers.Go(func() {
				if _, err := a.say(request, event.Deny); err != nil && fault.CodeOf(err) != fault.PromptExpired {
					t.Errorf("answer: %v", err)
				}
			})
			racers.Wait()
		}
		settled := 0
		for _, e := range a.logOf(t, a.n.ID) {
			if e.Type == event.PromptAnswered || e.Type == event.PromptExpired {
				settled++
			}
		}
		if settled != rounds || len(a.answers()) != rounds {
			t.Errorf("%d settlements, %d commands for %d questions", settled, len(a.answers()), rounds)
		}
	})
}

func TestARunWithoutAProcessFailsWhenNobodyAnswersInTime(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, _ *Writer) {
		r, committed := watch(t, s, time.Hour)
		a := newAsker(t, r)
		request := a.inquire(event.PromptQuestion, anything, time.Minute)
		a.ended(event.EndedUnseen, request)
		a.sweep(time.Hour)
		r.until(t, committed, a.n.ID, run.StateFailed)
		if found := a.get(t, a.n.ID); found.Error.Code != fault.Timeout || found.ContinuedBy != "" || len(a.answers()) != 0 {
			t.Errorf("run %+v, error %+v, commands %v", found, found.Error, a.answers())
		}
	})
}

func TestWhatWasAnsweredIsToldThoughTheRestExpires(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, _ *Writer) {
		r, committed := watch(t, s, time.Hour)
		a := newAsker(t, r)
		answered := a.ask(event.Person, `{}`)
		open := a.inquire(event.PromptQuestion, anything, time.Minute)
		a.ended(event.EndedUnseen, answered, open)
		a.must(answered, event.Allow)
		a.sweep(time.Hour)
		r.until(t, committed, a.n.ID, run.StateFailed)
		_, d := a.next()
		want := "The request to use Bash was allowed.\nThe question \"Which one?\" was not answered in time. Go on."
		if d.Prompt != want || d.Continues.RequestID != answered || len(d.Continues.Grants) != 1 {
			t.Errorf("told %q, continues %+v", d.Prompt, d.Continues)
		}
	})
}

// due is in the order of asking.
func TestQuestionsExpireInTheOrderInWhichTheyWereAsked(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		var want, got []id.Request
		for range 70 { // more than a page
			want = append(want, a.inquire(event.PromptQuestion, anything, time.Second))
		}
		a.sweep(time.Hour)
		for _, told := range a.answers() {
			got = append(got, told.RequestID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d expired, %d asked, or in another order", len(got), len(want))
		}
	})
}
