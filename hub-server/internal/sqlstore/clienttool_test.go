package sqlstore

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
	"github.com/switchyard-dev/switchyard/hub-server/internal/prompt"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// calls has the agent call a tool of a client's.
func (a *asker) calls(call string, limit time.Duration) id.Request {
	a.t.Helper()
	const input = `{"url":"https://a.example/?b<c"}`
	digest, err := event.PromptDigest("open_url", json.RawMessage(input))
	if err != nil {
		a.t.Fatal(err)
	}
	request := a.write(event.PromptRequestedPayload{
		Kind: event.PromptClientTool, ToolName: "open_url", Input: json.RawMessage(input), ToolCallID: call, AgentRequestID: call, Digest: digest,
		Asks: event.Client, TimeoutMS: limit.Milliseconds(),
	})
	a.j.flush(a.t, a.record)
	return request
}

// returns is what a device of somebody says a call has come to.
func (a *asker) returns(by account.Principal, call, response string) error {
	a.t.Helper()
	r := prompt.Result{Session: a.n.Session, Call: call}
	if err := json.Unmarshal([]byte(response), &r.ClientToolResponse); err != nil {
		a.t.Fatal(err)
	}
	return a.prompts.Return(a.t.Context(), by, r)
}

func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	first, errA := event.Canonical(a)
	second, errB := event.Canonical(b)
	return errA == nil && errB == nil && string(first) == string(second)
}

func (a *asker) called(call string) prompt.Prompt {
	a.t.Helper()
	found, err := a.prompts.Store.Called(a.t.Context(), a.n.Session, a.ada.User, call)
	if err != nil {
		a.t.Fatal(err)
	}
	return found
}

func TestTheFirstResultOfACallCountsAndGoesToTheEdge(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		request := a.calls("t1", time.Hour)
		if got := a.state(); got != run.StateRunning {
			t.Errorf("a run that waits for a client is %s", got)
		}
		phone := account.Principal{User: a.ada.User, Device: id.NewDevice()}
		const result = `{"status":"ok","output":{"title":"<é>"},"metadata":{"render_hint":"url"}}`
		for range 2 { // the same again is taken without a word
			if err := a.returns(phone, "t1", result); err != nil {
				t.Fatal(err)
			}
		}
		if err := a.returns(a.ada, "t1", `{"status":"ok","output":{"title":"other"}}`); fault.CodeOf(err) != fault.AlreadyAnswered {
			t.Errorf("another result: %v", err)
		}
		got := a.called("t1")
		if got.ID != request || got.State != prompt.Answered || got.Answer.By != event.Client || got.Answer.Device != phone.Device || got.Answer.Decision != event.Allow {
			t.Errorf("recorded %+v with %+v", got, got.Answer)
		}
		answers := a.answers()
		if len(answers) != 1 || answers[0].RequestID != request || answers[0].Kind != event.PromptClientTool || answers[0].Decision != event.Allow ||
			!sameJSON(t, answers[0].Response, []byte(result)) || answers[0].Digest != got.Digest || answers[0].Check() != nil {
			t.Errorf("the edge is told %+v", answers)
		}
		log := a.logOf(t, a.n.ID)
		if last := log[len(log)-1]; last.Type != event.PromptAnswered || !strings.Contains(string(last.Payload), `"by":"client"`) {
			t.Errorf("the log ends with %s %s", last.Type, last.Payload)
		}
	})
}

func TestACallIsAnsweredByNobodyElseAndHoweverItEnds(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		a.calls("t1", time.Hour)
		const failed = `{"status":"failed","error":{"code":"gone","message":"It is gone.","retryable":false}}`
		bob := account.Principal{User: id.NewUser(), Device: id.NewDevice()}
		a.operator(bob.User)
		for name, err := range map[string]error{
			"of another member": a.returns(bob, "t1", failed), "of no call": a.returns(a.ada, "t2", failed), "of no id": a.returns(a.ada, "", failed),
		} {
			if fault.CodeOf(err) != fault.NotFound {
				t.Errorf("a result %s: %v", name, err)
			}
		}
		if err := a.returns(a.ada, "t1", `{"status":"done"}`); fault.CodeOf(err) != fault.InvalidRequest {
			t.Errorf("a result that does not fit: %v", err)
		}
		if err := a.returns(a.ada, "t1", failed); err != nil || a.answers()[0].Decision != event.Deny {
			t.Errorf("a failure: %v, %+v", err, a.answers())
		}
	})
}

// A person has left: their client is nobody's any more.
func TestWhoHasLeftReturnsNothing(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		a.calls("t1", time.Hour)
		do(t, a.writer, nil, func(ctx context.Context, tx *Tx) error {
			_, err := tx.Exec(ctx, `UPDATE session_members SET left_at = 2 WHERE member_id = $1`, string(a.ada.User))
			return err
		})
		if err := a.returns(a.ada, "t1", `{"status":"ok"}`); fault.CodeOf(err) != fault.NotFound || len(a.answers()) != 0 {
			t.Errorf("after leaving: %v", err)
		}
	})
}

func TestACallThatNobodyCarriesOutExpiresAndEndsWithItsRun(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		limited := a.calls("t1", time.Minute)
		a.calls("t2", time.Hour)
		a.sweep(time.Minute + time.Second)
		if got := a.answers(); len(got) != 1 || got[0].RequestID != limited || got[0].Decision != event.NoAnswer || got[0].Kind != event.PromptClientTool {
			t.Errorf("the edge is told %+v", got)
		}
		if err := a.returns(a.ada, "t1", `{"status":"ok"}`); fault.CodeOf(err) != fault.PromptExpired {
			t.Errorf("a late result: %v", err)
		}
		if got := a.called("t2").State; got != prompt.Pending || a.state() != run.StateRunning {
			t.Errorf("the other call is %s, the run %s", got, a.state())
		}
		a.j.write(t, a.n.ID, wireFinished, json.RawMessage(`{}`))
		a.j.flush(t, a.record)
		if err := a.returns(a.ada, "t2", `{"status":"ok"}`); fault.CodeOf(err) != fault.PromptCancelled {
			t.Errorf("a result after the end of the run: %v", err)
		}
	})
}

// The process of the agent is gone, and its run waits on for a person: nobody can take the result any more, and nothing is resumed for it.
func TestACallIsDroppedWithTheProcessThatMadeIt(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		call, question := a.calls("t1", time.Hour), a.ask(event.Person, `{"command":"ls"}`)
		a.j.write(t, a.n.ID, wireEnded, event.ProcessEndedPayload{Reason: event.EndedAtTurnLimit, Code: fault.Timeout, Pending: []id.Request{question, call}})
		a.j.flush(t, a.record)
		if got := a.called("t1"); got.State != prompt.Cancelled || got.Outlived {
			t.Errorf("the call is %s, outlived %v", got.State, got.Outlived)
		}
		if p := a.must(question, event.Allow); p.State != prompt.Answered || a.state() != run.StateFailed {
			t.Errorf("the question is %s, the run %s", p.State, a.state())
		}
	})
}

// Only the hub knows who a client is: an edge that says so is not believed, and a call that asks a person is none.
func TestAnEdgeNeitherAnswersForAClientNorAsksAPersonToBeOne(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		request := a.calls("t1", time.Hour)
		a.j.write(t, a.n.ID, wireDecided, event.PromptAnsweredPayload{
			RequestID: request, Kind: event.PromptClientTool, Decision: event.Allow, By: event.Client, Response: json.RawMessage(`{"status":"ok"}`),
		})
		a.write(event.PromptRequestedPayload{
			Kind: event.PromptClientTool, ToolName: "x", Input: json.RawMessage(`{}`), ToolCallID: "t2", Digest: strings.Repeat("a", 64), Asks: event.Person,
		})
		a.write(event.PromptRequestedPayload{
			Kind: event.PromptQuestion, Inner: json.RawMessage(anything), AgentRequestID: "3", Digest: strings.Repeat("a", 64), Asks: event.Client,
		})
		a.j.flush(t, a.record)
		if got := a.called("t1").State; got != prompt.Pending || a.state() != run.StateRunning {
			t.Errorf("the call is %s, the run %s", got, a.state())
		}
		if _, err := a.prompts.Store.Called(t.Context(), a.n.Session, a.ada.User, "t2"); fault.CodeOf(err) != fault.NotFound || len(a.list()) != 0 {
			t.Errorf("a call that asks a person: %v, %+v", err, a.list())
		}
	})
}

// What a client is asked is nobody's business: no list, no notification, no push, and no person can answer it.
func TestPeopleAreToldOfNoCall(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		told := func() (n int) {
			const query = `SELECT (SELECT COUNT(*) FROM outbox WHERE kind = $1) + (SELECT COUNT(*) FROM push_deliveries) + (SELECT COUNT(*) FROM notifications)`
			if err := a.store.readDB.QueryRowContext(t.Context(), query, "prompt").Scan(&n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		do(t, a.writer, nil, func(ctx context.Context, tx *Tx) error {
			const device = `
INSERT INTO push_registrations (device_id, user_id, channel, host, show_text, sealed, created_at, rest_until) VALUES ($1, $2, 'ntfy', 'x', FALSE, $3, 1, 0)`
			_, err := tx.Exec(ctx, device, string(a.ada.Device), string(a.ada.User), []byte("x"))
			return err
		})
		request := a.calls("t1", time.Hour)
		for name, all := range map[string]prompt.Query{
			"of the run": {Run: a.n.ID}, "that wait for somebody": {User: a.ada.User, State: prompt.Pending}, "of somebody": {User: a.ada.User},
		} {
			if got, err := a.prompts.List(t.Context(), all); err != nil || len(got) != 0 {
				t.Errorf("questions %s: %+v, %v", name, got, err)
			}
		}
		if _, err := a.prompts.Get(t.Context(), a.n.ID, request); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("it is shown: %v", err)
		}
		if _, err := a.prompts.Asked(t.Context(), a.n.Session, request); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("it is a question of the conversation: %v", err)
		}
		if _, err := a.say(request, event.Allow); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("a person answers it: %v", err)
		}
		if unheard, err := a.prompts.Store.Unheard(t.Context(), a.n.ID); err != nil || len(unheard) != 0 {
			t.Errorf("to be taken back to the agent: %+v, %v", unheard, err)
		}
		if err := a.returns(a.ada, "t1", `{"status":"ok"}`); err != nil {
			t.Fatal(err)
		}
		if n := told(); n != 0 {
			t.Errorf("people are told %d times", n)
		}
		a.ask(event.Person, `{"command":"ls"}`)
		if n := told(); n == 0 {
			t.Error("of a question they are not told either: this test sees nothing")
		}
	})
}

func TestARunTakesTheToolsAlongThatItsPersonDeclaredLast(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		chats := NewChat(a.store, a.writer)
		offer := func(by id.User, names ...string) error {
			tools := []wire.ClientTool{}
			for _, name := range names {
				tools = append(tools, wire.ClientTool{Name: name, InputSchema: json.RawMessage(`{"type":"object", "x":"<"}`), TimeoutMS: 5})
			}
			return chats.OfferTools(t.Context(), a.n.Session, by, tools)
		}
		carried := func() (names []string) {
			n, err := a.Dispatcher.Prepare(t.Context(), runlog.Request{
				Session: a.n.Session, Agent: fleet.Agent{ID: a.n.Agent, Name: "scout", Owner: a.ada.User, Profile: "scout", Runtime: "events"}, Prompt: "go", RequestedBy: a.ada.User, TraceID: strings.Repeat("a", 32),
			})
			if err != nil {
				t.Fatal(err)
			}
			var order wire.Dispatch
			if err := json.Unmarshal(n.Dispatch, &order); err != nil {
				t.Fatal(err)
			}
			for _, tool := range order.ClientTools {
				names = append(names, tool.Name)
			}
			return names
		}
		bob := id.NewUser()
		a.admit(bob)
		for _, step := range []struct {
			by    id.User
			names []string
			want  []string
		}{{a.ada.User, []string{"a", "b"}, []string{"a", "b"}}, {bob, []string{"c"}, []string{"a", "b"}}, {a.ada.User, []string{"d"}, []string{"d"}}, {a.ada.User, nil, nil}} {
			if err := offer(step.by, step.names...); err != nil {
				t.Fatal(err)
			}
			if got := carried(); !slices.Equal(got, step.want) {
				t.Errorf("after %v the run has %v, want %v", step.names, got, step.want)
			}
		}
		if err := offer(id.NewUser(), "x"); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("a stranger declares tools: %v", err)
		}
		if err := offer(a.ada.User, "e"); err != nil {
			t.Fatal(err)
		}
		if err := chats.Leave(t.Context(), chat.Leaving{Session: a.n.Session, Member: chat.OfUser(a.ada.User), Left: []byte(`{}`)}); err != nil {
			t.Fatal(err)
		}
		if got := carried(); got != nil {
			t.Errorf("after leaving there are still %v", got)
		}
	})
}
