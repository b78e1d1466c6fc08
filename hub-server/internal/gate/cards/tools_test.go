package cards

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/prompt"
	"github.com/switchyard-dev/switchyard/hub-server/internal/sqlstore"
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

const openURL = `{"url":"https://a.example/?b<c"}`

// calls has a run call a tool of a client's.
func (w *town) calls(edge id.Edge, run id.Run, call string) id.Request {
	w.t.Helper()
	digest, err := event.PromptDigest("open_url", json.RawMessage(openURL))
	w.must(err)
	asked := event.PromptRequestedPayload{
		RequestID: id.NewRequest(), Kind: event.PromptClientTool, ToolName: "open_url", Input: json.RawMessage(openURL), ToolCallID: call, AgentRequestID: call,
		Digest: digest, Asks: event.Client, TimeoutMS: 60_000,
	}
	w.tells(edge, run,
		"run.agent.tool_call", event.ToolStartedPayload{ToolCallID: call, ToolName: "open_url", Arguments: asked.Input, Intent: "look", Target: event.TargetClient},
		"run.agent.permission_requested", asked)
	return asked.RequestID
}

// returned has the edge tell what a client has returned.
func (w *town) returned(edge id.Edge, run id.Run, call, output string) {
	w.t.Helper()
	w.tells(edge, run, "run.agent.tool_result", event.ToolCompletedPayload{ToolCallID: call, Result: json.RawMessage(output)})
}

// answers are the commands with results that are on their way to the edge.
func (w *town) answers(edge id.Edge) (found []wire.Answer) {
	w.t.Helper()
	all, err := sqlstore.NewRunlog(w.store, w.writer, "hub").TakeCommands(w.t.Context(), edge)
	w.must(err)
	for _, c := range all {
		var body wire.Answer
		if c.Kind == wire.AnswerPrompt {
			w.must(json.Unmarshal(c.Body, &body))
			found = append(found, body)
		}
	}
	return found
}

// dispatched are the names of the tools that a run has taken along.
func (w *town) dispatched(run id.Run) (names []string) {
	w.t.Helper()
	n, err := sqlstore.NewRunlog(w.store, w.writer, "hub").Dispatched(w.t.Context(), run)
	w.must(err)
	var order wire.Dispatch
	w.must(json.Unmarshal(n.Dispatch, &order))
	for _, tool := range order.ClientTools {
		names = append(names, tool.Name)
	}
	return names
}

func isTool(of card.Type) func(card.Event) bool {
	return func(e card.Event) bool { return e.Type == of && e.Envelope.CardKind == card.Tool }
}

func TestACallGoesToTheClientAndItsResultToTheAgent(t *testing.T) {
	eachTown(t, func(t *testing.T, w *town) {
		s := newScene(w)
		phone := s.hub.dial(s.ada, "")
		phone.say(`{"type":"session.create","session_id":%q,"tools":[{"name":"open_url","description":"Opens a page."},{"name":"pick"}]}`, s.session)
		if opened := phone.told("opened"); !strings.Contains(string(opened.Payload), `"client_tools":true`) {
			t.Errorf("opened says %s", opened.Payload)
		}
		desk := w.hub().joined(s.ada, s.session)
		run := s.asked(desk, "hi") // by another device, on another hub
		if got := w.dispatched(run); !slices.Equal(got, []string{"open_url", "pick"}) {
			t.Errorf("the run has the tools %v", got)
		}
		s.begins(s.edge, run)
		s.calls(s.edge, run, "t1")
		added := phone.until("the call", isTool(card.Add))
		var shown card.ToolPayload
		if err := json.Unmarshal(added.Payload, &shown); err != nil || shown.Target != "client" || shown.Name != "open_url" || shown.Intent != "look" ||
			shown.Phase != card.Executing || string(shown.Input) != openURL {
			t.Errorf("the call is shown as %s, %v", added.Payload, err)
		}
		if found, err := s.record.Runs.Get(t.Context(), run); err != nil || found.State != runRunning {
			t.Errorf("the run is %s, %v", found.State, err)
		}
		const result = `{"type":"tool.result","tool_use_id":%q,"status":"ok","output":{"title":"<é>"},"metadata":{"render_hint":"url"}}`
		for range 2 { // the same again is taken without a word
			phone.say(result, added.Envelope.CardID)
			phone.settle()
		}
		desk.say(`{"type":"tool.result","tool_use_id":"t1","status":"ok","output":"other","event_id":"c7"}`)
		if e := desk.told("error invalid_input already_answered"); !strings.Contains(string(e.Payload), `"tool_use_id":"t1"`) || !strings.Contains(string(e.Payload), `"event_id":"c7"`) {
			t.Errorf("it is not said of which: %s", e.Payload)
		}
		if got := s.answers(s.edge); len(got) != 1 || got[0].Decision != event.Allow || !strings.Contains(string(got[0].Response), `"render_hint":"url"`) {
			t.Errorf("the edge is told %+v", got)
		}
		s.returned(s.edge, run, "t1", `{"title":"<é>"}`)
		for _, c := range []*client{phone, desk} {
			closed := c.until("the end of the call", isTool(card.Close))
			if closed.Envelope.CardID != added.Envelope.CardID || !strings.Contains(string(closed.Payload), `<é>`) {
				t.Errorf("the call ends with %s", closed.Payload)
			}
		}
		for _, e := range append(phone.had, desk.had...) {
			if e.Type == card.PromptUser || e.Type == card.PromptReply {
				t.Errorf("a person is told %s", e.Payload)
			}
		}
	})
}

const runRunning = run.StateRunning

func TestACallIsFoundAgainAndAnsweredAfterAReconnect(t *testing.T) {
	eachTown(t, func(t *testing.T, w *town) {
		s := newScene(w)
		first := s.hub.joined(s.ada, s.session)
		trace := first.had[0].Envelope.TraceID
		run := s.asked(first, "hi")
		s.begins(s.edge, run)
		request := s.calls(s.edge, run, "t1")
		first.until("the call", isTool(card.Add))
		had := slices.Clone(first.raw)
		first.socket.CloseNow()
		s.hub.stop()
		again := w.hub().joined(s.ada, s.session)
		again.settle() // nothing is asked of anybody who comes
		if len(again.had) != 2 {
			t.Errorf("who comes is told %d frames", len(again.had))
		}
		again.say(`{"type":"session.resume","trace_id":%q,"last_seq":0}`, trace)
		call := again.until("the call", isTool(card.Add))
		if string(again.raw) != string(had) {
			t.Errorf("told again as %s, first as %s", again.raw, had)
		}
		again.say(`{"type":"tool.result","tool_use_id":%q,"status":"failed","error":{"type":"tool_failed","code":"gone","message":"It is gone."}}`, call.Envelope.CardID)
		again.settle()
		if got := s.answers(s.edge); len(got) != 1 || got[0].RequestID != request || got[0].Decision != event.Deny || !strings.Contains(string(got[0].Response), `"code":"gone"`) {
			t.Errorf("the edge is told %+v", got)
		}
	})
}

func TestResultsThatNobodyWaitsForAreRefusedAndTheConnectionLives(t *testing.T) {
	eachTown(t, func(t *testing.T, w *town) {
		s := newScene(w)
		bob := s.person("bob")
		_, err := s.hub.Sessions.AddMember(t.Context(), s.ada.Principal, s.session, bob.member(), s.attempt(s.ada))
		s.must(err)
		c := s.hub.joined(s.ada, s.session)
		run := s.asked(c, "hi")
		s.begins(s.edge, run)
		request := s.calls(s.edge, run, "t1")
		call := c.until("the call", isTool(card.Add)).Envelope.CardID
		elsewhere := s.hub.joined(s.ada, s.group(s.ada))
		for name, one := range map[string]struct {
			client *client
			call   string
			rest   string
			want   string
		}{
			"of no call":                {c, "nothing", `"status":"ok"`, "error invalid_input not_found"},
			"of a question":             {c, string(request), `"status":"ok"`, "error invalid_input not_found"},
			"of another user":           {s.hub.joined(bob, s.session), call, `"status":"ok"`, "error invalid_input not_found"},
			"of another user's call":    {s.hub.joined(bob, s.session), "t1", `"status":"ok"`, "error invalid_input not_found"},
			"in another conversation":   {elsewhere, call, `"status":"ok"`, "error invalid_input not_found"},
			"with a status that is not": {c, call, `"status":"done"`, "error invalid_input invalid_request"},
			"too large":                 {c, call, `"status":"ok","output":"` + strings.Repeat("x", 256<<10) + `"`, "error invalid_input invalid_request"},
		} {
			one.client.say(`{"type":"tool.result","tool_use_id":%q,`+one.rest+`}`, one.call)
			if e := one.client.told(one.want); e.Type == "" {
				t.Errorf("%s: %s", name, e.Payload)
			}
		}
		c.say(`{"type":"prompt.user_response","request_id":%q,"decision":"approved"}`, request)
		c.told("error invalid_input not_found")
		if got := s.answers(s.edge); len(got) != 0 {
			t.Fatalf("the edge is told %+v", got)
		}
		s.tells(s.edge, run, "run.finished", object{})
		c.say(`{"type":"tool.result","tool_use_id":%q,"status":"ok"}`, call)
		c.told("error invalid_input prompt_cancelled")
		c.settle()
	})
}

func TestToolsAreDeclaredReplacedLeftAndWithdrawn(t *testing.T) {
	eachTown(t, func(t *testing.T, w *town) {
		s := newScene(w)
		c := s.hub.joined(s.ada, s.session)
		for _, step := range []struct {
			tools string
			want  []string
		}{
			{`,"tools":[{"name":"a"},{"name":"b","input_schema":{"type":"object"},"timeout_ms":5}]`, []string{"a", "b"}},
			{`,"tools":[{"name":"c"}]`, []string{"c"}},
			{``, []string{"c"}},
			{`,"tools":[]`, nil},
		} {
			if step.tools == "" {
				other := s.hub.dial(s.ada, "")
				other.say(`{"type":"session.create","session_id":%q}`, s.session)
				other.told("opened")
			} else {
				c.say(`{"type":"session.create","session_id":%q`+step.tools+`}`, s.session)
			}
			run := s.asked(c, "hi")
			if got := w.dispatched(run); !slices.Equal(got, step.want) {
				t.Errorf("after %q a run has %v, want %v", step.tools, got, step.want)
			}
			s.begins(s.edge, run)
			s.tells(s.edge, run, "run.finished", object{})
		}
		c.say(`{"type":"session.create","session_id":%q,"tools":[{"name":"not a name"}]}`, s.session)
		c.told("error invalid_input invalid_request")
		c.say(`{"type":"session.create","session_id":%q,"tools":[]}`, s.group(s.ada))
		c.told("error invalid_input invalid_request")
	})
}

// What a client is asked, no person is: see sqlstore for what is told beside the cards.
func TestPendingCallsAreNoQuestions(t *testing.T) {
	s := newScene(sole(t))
	c := s.hub.joined(s.ada, s.session)
	run := s.asked(c, "hi")
	s.begins(s.edge, run)
	s.calls(s.edge, run, "t1")
	c.until("the call", isTool(card.Add))
	if all, err := s.hub.Traces.Pending(t.Context(), s.session); err != nil || len(all) != 0 {
		t.Errorf("who comes is asked %d questions, %v", len(all), err)
	}
	if all, err := s.hub.Prompts.List(t.Context(), prompt.Query{User: s.ada.User}); err != nil || len(all) != 0 {
		t.Errorf("questions are %+v, %v", all, err)
	}
}

// Agents may name a call as another run has done before: the card tells them apart.
func TestCallsOfOneNameAreToldApartByTheirCards(t *testing.T) {
	eachTown(t, func(t *testing.T, w *town) {
		s := newScene(w)
		c := s.hub.joined(s.ada, s.session)
		say := func(call, output string) {
			c.say(`{"type":"tool.result","tool_use_id":%q,"status":"ok","output":%q}`, call, output)
			c.settle()
		}
		var cards []string
		for _, output := range []string{"first", "second"} {
			run := s.asked(c, "hi")
			s.begins(s.edge, run)
			request := s.calls(s.edge, run, "t1")
			cards = append(cards, c.until("the call", isTool(card.Add)).Envelope.CardID)
			say(cards[0], "first") // the same again, when the second one waits
			if output == "second" {
				if got := s.answers(s.edge); len(got) != 1 {
					t.Errorf("a result of the first call has become one of the second: %+v", got)
				}
				say(cards[1], output)
			}
			got := s.answers(s.edge)
			if last := got[len(got)-1]; last.RequestID != request || !strings.Contains(string(last.Response), output) {
				t.Errorf("the edge is told %+v", last)
			}
			s.tells(s.edge, run, "run.finished", object{})
		}
		if cards[0] == cards[1] {
			t.Errorf("both calls have the card %s", cards[0])
		}
	})
}
