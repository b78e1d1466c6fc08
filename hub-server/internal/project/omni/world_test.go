package omni_test

import (
	"encoding/json"
	"fmt"
	"time"

	"pgregory.net/rapid"

	omnifold "github.com/switchyard-dev/switchyard/hub-server/internal/project/omni"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
)

// world draws the facts of a conversation: what careless agents say, made into events by the normaliser, of several runs and their sub-agents at
// once, and what people say between.
type world struct {
	t        *rapid.T
	now      time.Time
	facts    []omnifold.Fact
	messages int
	requests int
}

// conversation draws a whole conversation. All of its runs have ended.
func conversation(t *rapid.T) []omnifold.Fact {
	w := &world{t: t, now: time.Date(2026, 7, 18, 7, 30, 0, 0, time.UTC)}
	var lines []*line
	for i := range rapid.IntRange(1, 4).Draw(t, "runs") {
		r := omnifold.Run{ID: id.Run(fmt.Sprintf("run_%016d", i+1))}
		if i > 0 && rapid.Bool().Draw(t, "child") {
			r.Parent = lines[rapid.IntRange(0, i-1).Draw(t, "parent")].run.ID
		}
		lines = append(lines, &line{run: r, events: w.events()})
	}
	together := rapid.Bool().Draw(t, "together")
	for left := lines; len(left) > 0; {
		i := 0
		if together {
			i = rapid.IntRange(0, len(left)-1).Draw(t, "who")
		}
		if rapid.IntRange(0, 20).Draw(t, "aside") == 0 {
			w.add(omnifold.Fact{Message: &omnifold.Message{Text: "Hello.", ByAgent: rapid.Bool().Draw(t, "agent")}})
		}
		w.add(left[i].next())
		if len(left[i].events) == 0 {
			left = append(left[:i:i], left[i+1:]...)
		}
	}
	return w.facts
}

// line is what is left of the log of one run.
type line struct {
	run    omnifold.Run
	events []said
}

// said is an event without a place.
type said struct {
	event   event.Type
	payload json.RawMessage
	late    bool
}

func (l *line) next() omnifold.Fact {
	e := l.events[0]
	l.events = l.events[1:]
	return omnifold.Fact{Run: l.run, Event: e.event, Payload: e.payload, Late: e.late}
}

func (w *world) add(f omnifold.Fact) {
	w.now = w.now.Add(time.Duration(rapid.IntRange(0, 5000).Draw(w.t, "ms")) * time.Millisecond)
	f.Place, f.At = int64(len(w.facts)+1), w.now
	w.facts = append(w.facts, f)
}

// events draws the log of a run, up to its end and what comes late. Some logs lack what the normaliser says before the end.
func (w *world) events() []said {
	calls := 0
	n := run.New(run.Options{
		NewMessageID:  func() id.Message { w.messages++; return id.Message(fmt.Sprintf("msg_%d", w.messages)) },
		NewToolCallID: func() string { calls++; return fmt.Sprintf("call_%d", calls) },
	})
	log := encode(w.t, n.Start("/work", w.now))
	for range rapid.IntRange(0, rapid.SampledFrom([]int{10, 30, 100}).Draw(w.t, "most")).Draw(w.t, "length") {
		if n.Ended() {
			break
		}
		who := event.SubAgent(rapid.SampledFrom([]string{"", "", "", "sub_a", "sub_b"}).Draw(w.t, "who"))
		does := w.action(who)
		if f, ok := does.(run.Fact); ok { // as it is, also when it should not come
			log = append(log, encode(w.t, []run.Candidate{run.Candidate(f)})...)
		} else {
			log = append(log, encode(w.t, n.Step(does))...)
		}
		if rapid.IntRange(0, 40).Draw(w.t, "stop") == 0 {
			log = append(log, said{event: event.RunCancelling, payload: json.RawMessage(`{}`)})
		}
		if rapid.IntRange(0, 20).Draw(w.t, "steer") == 0 {
			log = append(log, w.steer())
		}
	}
	outcome := rapid.SampledFrom([]run.Outcome{
		run.Completed(), run.Failed(event.ErrorObj{Code: "timeout", Message: "Too long."}), run.Cancelled(true), run.Interrupted("process_lost"),
	}).Draw(w.t, "outcome")
	closing := encode(w.t, n.Close(outcome))
	if len(closing) > 1 && rapid.IntRange(0, 3).Draw(w.t, "torn") == 0 {
		closing = closing[len(closing)-1:]
	}
	log = append(log, closing...)
	return append(log, said{event: event.MessageDelta, payload: json.RawMessage(`{"message_id":"msg_late","delta":"late"}`), late: true})
}

// steer draws what is said to the run, taken back, or taken by its agent, in any order.
func (w *world) steer() said {
	which := rapid.IntRange(0, 3).Draw(w.t, "which")
	return said{
		event:   rapid.SampledFrom([]event.Type{event.RunSteered, event.RunSteered, event.SteerTaken, event.SteerTaken, event.SteerWithdrawn}).Draw(w.t, "steers"),
		payload: json.RawMessage(fmt.Sprintf(`{"steer_id":"steer_%016d","text":"Only Go.","user_id":"user_1"}`, which)),
	}
}

func (w *world) action(who event.SubAgent) run.AgentEvent {
	ids := rapid.SampledFrom([]string{"", "a", "b", "c"})
	switch k := rapid.IntRange(0, 26).Draw(w.t, "kind"); k {
	case 0, 1, 2, 3, 4:
		return run.Delta{Text: rapid.SampledFrom([]string{"see ", "中文", "<&>"}).Draw(w.t, "text"), Block: rapid.IntRange(0, 1).Draw(w.t, "block"), Agent: who, Last: k == 4, Fidelity: w.fidelity()}
	case 5:
		return run.Delta{
			Channel: run.Thought, Text: rapid.SampledFrom([]string{"hm", ""}).Draw(w.t, "thought"), Agent: who, Apart: rapid.Bool().Draw(w.t, "apart"),
			Last: rapid.Bool().Draw(w.t, "last"), Fidelity: w.fidelity(),
		}
	case 19, 20, 21:
		tool := rapid.SampledFrom([]string{"read", "read", "write", ""}).Draw(w.t, "tool")
		piece := rapid.SampledFrom([]string{`{"a":`, `1.0}`, `{"a":1.0}`, `{ "a" : 1.0 }`}).Draw(w.t, "piece")
		return run.Delta{Channel: run.ToolInput, Call: ids.Draw(w.t, "id"), Tool: tool, Text: piece, Agent: who}
	case 22, 23:
		piece := rapid.SampledFrom([]string{"do", "ne", "done", "else"}).Draw(w.t, "piece")
		return run.Delta{Channel: run.ToolOutput, Call: ids.Draw(w.t, "id"), Text: piece, Agent: who}
	case 6, 7, 8:
		return run.ToolCall{ID: ids.Draw(w.t, "id"), Name: "read", Args: json.RawMessage(`{"a":1.0}`), Agent: who, Fidelity: w.fidelity()}
	case 9:
		return run.ToolResult{ID: ids.Draw(w.t, "id"), Name: "read", Result: json.RawMessage(`"done"`), Agent: who, Images: rapid.SampledFrom([][]string{nil, nil, {"data:image/png;base64,aGk="}}).Draw(w.t, "images")}
	case 10:
		return run.ToolResult{ID: ids.Draw(w.t, "id"), Name: "read", Error: &event.ErrorObj{Code: rapid.SampledFrom([]fault.Code{"", fault.RunEnded}).Draw(w.t, "code"), Message: "no"}, Agent: who}
	case 11:
		w.requests++
		return run.Asked{PromptRequestedPayload: event.PromptRequestedPayload{
			RequestID: id.Request(fmt.Sprintf("req_%016d", w.requests)), Kind: event.PromptPermission, ToolName: "read", Input: json.RawMessage(`{}`),
			ToolCallID: ids.Draw(w.t, "id"), Asks: event.Person, AgentID: who,
		}}
	case 12:
		return run.Decided{PromptAnsweredPayload: event.PromptAnsweredPayload{
			RequestID: id.Request(fmt.Sprintf("req_%016d", max(1, w.requests))), Decision: rapid.SampledFrom([]event.Decision{event.Allow, event.Deny}).Draw(w.t, "answer"),
		}}
	default:
		return w.fact(k, who)
	}
}

func (w *world) fact(k int, who event.SubAgent) run.Fact {
	usage := json.RawMessage(`{"input_tokens":7,"output_tokens":3,"cache_read_input_tokens":2}`)
	switch k {
	case 13:
		return run.Fact{Type: event.TaskStarted, Payload: event.TaskStartedPayload{
			AgentID: event.SubAgent(rapid.SampledFrom([]string{"sub_a", "sub_b"}).Draw(w.t, "starts")), Name: "helper", ParentAgentID: who, TaskPrompt: "Help.",
		}}
	case 14:
		status := rapid.SampledFrom([]event.WorkStatus{event.WorkRunning, event.WorkOK, event.WorkFailed, event.WorkCancelled}).Draw(w.t, "status")
		return run.Fact{Type: event.SubAgentStatus, Payload: event.SubAgentStatusPayload{AgentID: "sub_a", Status: status, Usage: usage}}
	case 15:
		return run.Fact{Type: event.APIRetry, Payload: event.APIRetryPayload{AgentID: who, Attempt: rapid.IntRange(1, 3).Draw(w.t, "attempt"), RetryInMS: 2000}}
	case 16:
		return run.Fact{Type: event.RequestBegin, Payload: event.RequestBeginPayload{RequestID: "r", AgentID: who}}
	case 17:
		status := rapid.SampledFrom([]event.RequestStatus{event.RequestCompleted, event.RequestMalformed, event.RequestAuth}).Draw(w.t, "ended")
		return run.Fact{Type: event.RequestEnd, Payload: event.RequestEndPayload{RequestID: "r", AgentID: who, Status: status, Usage: usage}}
	}
	reason, mode := event.CompactedForContext, event.CompactionSummarize
	switch k {
	case 24:
		return run.Fact{Type: event.CompactionBegin, Payload: event.CompactionBeginPayload{AgentID: who, Reason: reason, Mode: mode, Context: 9}}
	case 25:
		status := rapid.SampledFrom([]event.RequestStatus{event.RequestCompleted, event.RequestCompleted, event.RequestTimeout}).Draw(w.t, "compacted")
		return run.Fact{Type: event.CompactionEnd, Payload: event.CompactionEndPayload{AgentID: who, Reason: reason, Mode: mode, Status: status}}
	case 26:
		return run.Fact{Type: event.SessionInit, Payload: event.SessionInitPayload{
			AgentSessionID: "s", Model: "m", Provider: "p", ModelContextWindow: json.RawMessage(`9`), SystemPrompt: "Be brief.",
			Tools: json.RawMessage(`[{"name":"read"},{"name":""},7]`), AgentState: "/s",
		}}
	}
	if rapid.Bool().Draw(w.t, "compacts") {
		return run.Fact{Type: event.CompactBoundary, Payload: event.CompactionPayload{AgentID: who}}
	}
	return run.Fact{Type: event.AgentResult, Payload: event.AgentResultPayload{Usage: usage}}
}

// fidelity draws what a provider attaches, as an encoder would not write it.
func (w *world) fidelity() event.Fidelity {
	return rapid.SampledFrom([]event.Fidelity{{}, {}, {Fidelity: verbatim}, {FidelityDropped: event.FidelityHadSecret}}).Draw(w.t, "fidelity")
}

const verbatim = `{ "b" : 1.0, "a":1e400, "b":"<\u003c\/" }`

// encode gives candidates their bytes.
func encode(t *rapid.T, candidates []run.Candidate) []said {
	var out []said
	for _, c := range candidates {
		payload, err := c.Encode()
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, said{event: c.Type, payload: payload})
	}
	return out
}
