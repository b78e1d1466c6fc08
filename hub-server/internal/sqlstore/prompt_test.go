package sqlstore

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/prompt"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

const (
	wireAsked     event.WireType = "run.agent.permission_requested"
	wireDecided   event.WireType = "run.agent.permission_decided"
	wireDelivered event.WireType = "run.prompt.delivered"
	wireEnded     event.WireType = "run.process_ended"
)

// asker is a run that works, and whose agent asks its owner.
type asker struct {
	*record
	t   *testing.T
	j   *journal
	n   runlog.NewRun
	ada account.Principal // owns the edge and the agent
}

// eachAsker runs a contract over both stores.
func eachAsker(t *testing.T, contract func(t *testing.T, a *asker)) {
	t.Helper()
	eachRecord(t, func(t *testing.T, r *record) { contract(t, newAsker(t, r)) })
}

func newAsker(t *testing.T, r *record) *asker {
	t.Helper()
	j, n := launched(t, r)
	a := &asker{record: r, t: t, j: j, n: n, ada: account.Principal{User: r.fleet.owner, Device: id.NewDevice()}}
	a.admit(a.ada.User)
	do(t, r.writer, nil, func(ctx context.Context, tx *Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO edges (id, name, owner_id, hostname, version, refused, credential_hash, created_at)
VALUES ($1, 'laptop', $2, '', '', '', $3, 1)`, string(j.edge), string(a.ada.User), []byte(j.edge))
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `INSERT INTO agents (id, name, description, owner_id, profile, runtime, edge_id, permission_mode, created_at)
VALUES ($1, 'scout', '', $2, 'scout', 'events', '', 'default', 1)`, string(n.Agent), string(a.ada.User))
		if err != nil {
			return err
		}
		return a.join(ctx, tx, string(n.Agent))
	})
	j.answer(t, r, wire.Accepted, "")
	j.write(t, n.ID, wireStarted, json.RawMessage(`{}`))
	j.flush(t, r)
	return a
}

// admit lets somebody into the conversation.
func (a *asker) admit(user id.User) {
	a.t.Helper()
	do(a.t, a.writer, nil, func(ctx context.Context, tx *Tx) error { return a.join(ctx, tx, string(user)) })
}

func (a *asker) join(ctx context.Context, tx *Tx, member string) error {
	_, err := tx.Exec(ctx, `INSERT INTO session_members (session_id, member_id, role, last_read_seq, joined_at) VALUES ($1, $2, 'member', 0, 1)`,
		string(a.n.Session), member)
	return err
}

// ask lets the agent ask to use Bash.
func (a *asker) ask(asks event.Decider, input string) id.Request {
	a.t.Helper()
	request := a.wonder(asks, input)
	a.j.flush(a.t, a.record)
	return request
}

// wonder is ask for what the edge has written down and not sent yet.
func (a *asker) wonder(asks event.Decider, input string) id.Request {
	a.t.Helper()
	digest, err := event.PromptDigest("Bash", json.RawMessage(input))
	if err != nil {
		a.t.Fatal(err)
	}
	return a.write(event.PromptRequestedPayload{
		Kind: event.PromptPermission, ToolName: "Bash", Input: json.RawMessage(input), AgentRequestID: "1", Digest: digest, Asks: asks,
	})
}

// write gives what is asked an id and writes it down.
func (a *asker) write(asked event.PromptRequestedPayload) id.Request {
	a.t.Helper()
	asked.RequestID = id.NewRequest()
	raw, err := event.Encode(asked)
	if err != nil {
		a.t.Fatal(err)
	}
	a.j.write(a.t, a.n.ID, event.WireOf(event.PromptRequested, raw), asked)
	return asked.RequestID
}

// inquire lets the agent ask something else than a permission; limit 0 is none.
func (a *asker) inquire(kind event.PromptKind, inner string, limit time.Duration) id.Request {
	a.t.Helper()
	digest, err := event.InnerDigest(kind, json.RawMessage(inner))
	if err != nil {
		a.t.Fatal(err)
	}
	request := a.write(event.PromptRequestedPayload{
		Kind: kind, Inner: json.RawMessage(inner), AgentRequestID: "1", Digest: digest, Asks: event.Person, TimeoutMS: limit.Milliseconds(),
	})
	a.j.flush(a.t, a.record)
	return request
}

// operator lets somebody in who may answer.
func (a *asker) operator(user id.User) {
	a.t.Helper()
	a.admit(user)
	a.grant(user)
}

// grant lets a member answer.
func (a *asker) grant(user id.User) {
	a.t.Helper()
	do(a.t, a.writer, nil, func(ctx context.Context, tx *Tx) error {
		const profile = `INSERT INTO edge_profiles (edge_id, name, runtime, description) VALUES ($1, 'scout', 'events', '')`
		if _, err := tx.Exec(ctx, profile, string(a.j.edge)); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `INSERT INTO edge_operators (edge_id, user_id, granted_at) VALUES ($1, $2, 1)`, string(a.j.edge), string(user))
		return err
	})
}

func (a *asker) say(request id.Request, d event.Decision) (prompt.Prompt, error) {
	return a.reply(wire.Answer{RequestID: request, Decision: d})
}

func (a *asker) reply(answer wire.Answer) (prompt.Prompt, error) {
	return a.prompts.Answer(a.t.Context(), a.ada, prompt.Reply{Run: a.n.ID, Answer: answer})
}

// must is say for an answer that counts.
func (a *asker) must(request id.Request, d event.Decision) prompt.Prompt {
	a.t.Helper()
	p, err := a.say(request, d)
	if err != nil {
		a.t.Fatal(err)
	}
	return p
}

func (a *asker) list() []prompt.Prompt {
	a.t.Helper()
	all, err := a.prompts.List(a.t.Context(), prompt.Query{Run: a.n.ID})
	if err != nil {
		a.t.Fatal(err)
	}
	return all
}

func (a *asker) state() run.State {
	a.t.Helper()
	return a.get(a.t, a.n.ID).State
}

// answers are the commands that take answers to the edge.
func (a *asker) answers() []wire.Answer {
	a.t.Helper()
	var found []wire.Answer
	for _, c := range a.pending(a.t, a.j.edge) {
		if c.Kind != wire.AnswerPrompt {
			continue
		}
		var body wire.Answer
		if err := json.Unmarshal(c.Body, &body); err != nil {
			a.t.Fatal(err)
		}
		if !a.signer.CheckCommand(a.j.edge, c) || c.Lease != a.n.Lease {
			a.t.Errorf("command %+v is not of this run's dispatch", c)
		}
		found = append(found, body)
	}
	return found
}

func TestAQuestionIsKeptAsItWasAskedAndTheRunWaits(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		const input = `{"command":"ls  <é>", "n":1.0}`
		request := a.ask(event.Person, input)
		if got := a.state(); got != run.StateWaitingPerson {
			t.Errorf("run is %s", got)
		}
		all := a.list()
		if len(all) != 1 || all[0].ID != request || all[0].State != prompt.Pending || all[0].Answer != nil || all[0].Seq != 2 {
			t.Fatalf("list is %+v", all)
		}
		log := a.logOf(t, a.n.ID)
		if got := string(all[0].Payload); got != string(log[1].Payload) || log[1].Type != event.PromptRequested {
			t.Errorf("kept %s, asked %s", got, log[1].Payload)
		}
	})
}

func TestP11TheFirstAnswerCountsAndTheOthersLearnIt(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		request := a.ask(event.Person, `{"command":"ls"}`)
		first := a.must(request, event.Allow)
		if first.State != prompt.Answered || first.Answer.User != a.ada.User || first.Answer.Device != a.ada.Device ||
			first.Answer.By != event.Person || first.Answer.At.IsZero() || !first.Answer.DeliveredAt.IsZero() {
			t.Fatalf("recorded %+v", first.Answer)
		}
		if again := a.must(request, event.Allow); again.Answer.At != first.Answer.At {
			t.Errorf("again: %+v", again.Answer)
		}
		_, err := a.say(request, event.Deny)
		var settled *prompt.SettledError
		if fault.CodeOf(err) != fault.AlreadyAnswered || !errors.As(err, &settled) || settled.Prompt.Answer.Decision != event.Allow {
			t.Errorf("another answer: %v", err)
		}
		if got := a.answers(); len(got) != 1 || got[0].Decision != event.Allow || got[0].Digest != first.Digest || got[0].UserID != a.ada.User {
			t.Errorf("commands %+v", got)
		}
		if got := a.state(); got != run.StateRunning {
			t.Errorf("run is %s", got)
		}
	})
}

func TestARunWaitsUntilTheLastOfItsQuestionsIsAnswered(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		first, second := a.ask(event.Person, `{"n":1}`), a.ask(event.Person, `{"n":2}`)
		a.must(second, event.Deny)
		if got := a.state(); got != run.StateWaitingPerson {
			t.Errorf("run is %s with a question open", got)
		}
		a.must(first, event.Allow)
		if got := a.state(); got != run.StateRunning {
			t.Errorf("run is %s with all answered", got)
		}
	})
}

func TestWhatThePolicyAnswersAsksNobody(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		request := a.ask(event.Policy, `{}`)
		a.j.write(t, a.n.ID, wireDecided, event.PromptAnsweredPayload{RequestID: request, Decision: event.Allow, By: event.Policy, Policy: "allow-all"})
		a.j.flush(t, a.record)
		if got := a.list(); len(got) != 0 || a.state() != run.StateRunning {
			t.Errorf("list %+v, run %s", got, a.state())
		}
	})
}

func TestAnEdgeCannotSayThatAPersonAnswered(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		request := a.ask(event.Person, `{}`)
		a.j.write(t, a.n.ID, wireDecided, event.PromptAnsweredPayload{RequestID: request, Decision: event.Allow, By: event.Person, UserID: a.ada.User})
		if res := a.j.flush(t, a.record); !slices.Equal(res.Refused, []fault.Code{fault.RowNotAppendable}) {
			t.Errorf("refused %v", res.Refused)
		}
		if got := a.list(); got[0].State != prompt.Pending || a.state() != run.StateWaitingPerson {
			t.Errorf("the question is %s", got[0].State)
		}
	})
}

func TestTheEndOfARunCancelsWhatItAsked(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		request := a.ask(event.Person, `{}`)
		a.j.write(t, a.n.ID, wireFailed, event.RunFailedPayload{Error: event.ErrorObj{Code: fault.AgentExited, Message: "gone"}})
		a.j.flush(t, a.record)
		if _, err := a.say(request, event.Allow); fault.CodeOf(err) != fault.PromptCancelled {
			t.Errorf("answer after the end: %v", err)
		}
		late := a.ask(event.Person, `{"late":true}`)
		all := a.list()
		if len(all) != 2 || all[0].State != prompt.Cancelled || all[1].ID != late || all[1].State != prompt.Cancelled {
			t.Errorf("list is %+v", all)
		}
		if got := a.answers(); len(got) != 0 {
			t.Errorf("commands %+v", got)
		}
	})
}

func TestAnAnswerIsDeliveredOrSaysWhyNot(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		heard, unheard := a.ask(event.Person, `{"n":1}`), a.ask(event.Person, `{"n":2}`)
		a.must(heard, event.Allow)
		a.j.answer(t, a.record, wire.Accepted, "")
		a.must(unheard, event.Allow)
		a.j.answer(t, a.record, wire.Rejected, fault.TooLate)
		a.j.write(t, a.n.ID, wireDelivered, event.PromptDeliveredPayload{RequestID: heard, Decision: event.Allow})
		a.j.flush(t, a.record)
		all := a.list()
		if all[0].Answer.DeliveredAt.IsZero() || all[0].Answer.Refused != "" {
			t.Errorf("heard: %+v", all[0].Answer)
		}
		if all[1].State != prompt.Answered || !all[1].Answer.DeliveredAt.IsZero() || all[1].Answer.Refused != fault.TooLate {
			t.Errorf("unheard: %+v", all[1].Answer)
		}
	})
}

func TestAQuestionIsListedToThoseWhoMayAnswerIt(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		a.ask(event.Person, `{}`)
		bob := id.NewUser()
		mine := func() int {
			all, err := a.prompts.List(t.Context(), prompt.Query{User: bob, State: prompt.Pending})
			if err != nil {
				t.Fatal(err)
			}
			return len(all)
		}
		if n := mine(); n != 0 {
			t.Errorf("a stranger sees %d questions", n)
		}
		if a.admit(bob); mine() != 0 {
			t.Errorf("a member sees %d questions", mine())
		}
		if a.grant(bob); mine() != 1 {
			t.Errorf("an operator sees %d questions", mine())
		}
	})
}

func TestQuestionsAreListedInTheOrderInWhichTheyWereAsked(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		var want, got []id.Request
		for range 5 { // in one transaction
			want = append(want, a.wonder(event.Person, `{}`))
		}
		a.j.flush(t, a.record)
		q := prompt.Query{User: a.ada.User, State: prompt.Pending, Limit: 2}
		for {
			page, err := a.prompts.List(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			if len(page) == 0 {
				break
			}
			for _, p := range page {
				got = append(got, p.ID)
			}
			q.After = got[len(got)-1]
		}
		if !slices.Equal(got, want) {
			t.Errorf("listed %v, asked %v", got, want)
		}
	})
}
