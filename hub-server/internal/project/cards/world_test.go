package cards_test

import (
	"encoding/json"
	"fmt"
	"time"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/hub-server/internal/project/cards"
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
)

// world draws the facts of a conversation: what careless agents say, made into events by the normaliser, of several runs and their sub-agents at
// once, and what people say between.
type world struct {
	t        *rapid.T
	now      time.Time
	facts    []cards.Fact
	messages int
	requests int
	pause    int  // greatest time between two facts, ms
	least    int  // least one
	clients  bool // agents call tools of clients
	files    bool // agents make files, whose names in texts are held back at times
}

// conversation draws a whole conversation: all of its runs have ended.
func conversation(t *rapid.T) []cards.Fact {
	w := &world{t: t, now: time.Date(2026, 5, 7, 10, 0, 0, 0, time.UTC), pause: 5000, files: true, clients: true}
	w.play(rapid.IntRange(1, 4).Draw(t, "runs"))
	return withOrphans(t, w.facts)
}

// withOrphans lets a watchdog without patience give up cards here and there.
func withOrphans(t *rapid.T, facts []cards.Fact) []cards.Fact {
	s := cards.New(trace, session, card.English)
	var out []cards.Fact
	apply := func(f cards.Fact) {
		f.Place = int64(len(out) + 1)
		out = append(out, f)
		s.Apply(f)
	}
	runs := map[id.Run]cards.Run{}
	for _, f := range facts {
		runs[f.Run.ID] = f.Run
		apply(f)
		due, ok := s.Deadline(always)
		if !ok || rapid.IntRange(0, 9).Draw(t, "impatience") > 0 {
			continue
		}
		f.Run, f.Event, f.Message, f.Late = runs[due.Run], event.RunCardOrphaned, nil, false
		f.Payload = json.RawMessage(fmt.Sprintf(`{"card_id":%q,"card_kind":%q,"timeout_ms":1000}`, due.Card, due.Kind))
		apply(f)
	}
	return out
}

func (w *world) play(runs int) {
	var lines []*line
	for i := range runs {
		r := cards.Run{ID: id.Run(fmt.Sprintf("run_%016d", i+1)), Agent: "scout", Trigger: "msg_0", Asked: "Do it."}
		if i > 0 && rapid.Bool().Draw(w.t, "child") {
			r.Parent = lines[rapid.IntRange(0, i-1).Draw(w.t, "parent")].run.ID
		}
		lines = append(lines, &line{run: r, events: w.events()})
	}
	for left := lines; len(left) > 0; {
		i := rapid.IntRange(0, len(left)-1).Draw(w.t, "who")
		if rapid.IntRange(0, 30).Draw(w.t, "aside") == 0 {
			w.aside()
		}
		w.add(left[i].next())
		if left[i].at == len(left[i].events) {
			left = append(left[:i:i], left[i+1:]...)
		}
	}
}

// line is the log of one run, and how far it is.
type line struct {
	run    cards.Run
	events []said
	at     int
}

// said is an event without a place.
type said struct {
	event   event.Type
	payload json.RawMessage
	late    bool
}

func (l *line) next() cards.Fact {
	e := l.events[l.at]
	l.at++
	return cards.Fact{Run: l.run, Event: e.event, Payload: e.payload, Late: e.late}
}

func (w *world) add(f cards.Fact) {
	w.now = w.now.Add(time.Duration(rapid.IntRange(w.least, w.pause).Draw(w.t, "ms")) * time.Millisecond)
	f.Place, f.At, f.Recorded = int64(len(w.facts)+1), w.now, w.now.Add(time.Second)
	w.facts = append(w.facts, f)
}

func (w *world) aside() {
	w.messages++
	w.add(cards.Fact{Message: &cards.Message{
		ID: w.messageID(), Text: "Hello.", ByAgent: rapid.Bool().Draw(w.t, "agent"), Triggers: rapid.Bool().Draw(w.t, "asks"),
	}})
}

func (w *world) messageID() id.Message {
	w.messages++
	return id.Message(fmt.Sprintf("msg_%d", w.messages))
}

// events draws the log of a run: of its agent, in which sub-agents are at work, up to its end and what comes late.
func (w *world) events() []said {
	n := w.normaliser()
	var log []said
	if rapid.IntRange(0, 9).Draw(w.t, "begins") > 0 {
		log = encode(w.t, n.Start("", w.now))
	}
	most := rapid.SampledFrom([]int{30, 30, 30, 150}).Draw(w.t, "most")
	for range rapid.IntRange(0, most).Draw(w.t, "length") {
		if n.Ended() {
			break
		}
		log = append(log, w.step(n)...)
		if rapid.IntRange(0, 60).Draw(w.t, "stop") == 0 {
			log = append(log, said{event: event.RunCancelling, payload: json.RawMessage(`{}`)})
		}
		if rapid.IntRange(0, 60).Draw(w.t, "steer") == 0 {
			steering := rapid.SampledFrom([]event.Type{event.RunSteered, event.SteerWithdrawn, event.SteerTaken}).Draw(w.t, "steers")
			log = append(log, said{event: steering, payload: json.RawMessage(`{"steer_id":"steer_1","text":"Only Go.","user_id":"user_1"}`)})
		}
	}
	log = append(log, encode(w.t, n.Close(w.outcome()))...)
	if rapid.Bool().Draw(w.t, "late") {
		log = append(log, said{event: event.MessageDelta, payload: json.RawMessage(`{"message_id":"msg_late","delta":"late"}`), late: true})
	}
	return log
}

func (w *world) outcome() run.Outcome {
	return rapid.SampledFrom([]run.Outcome{
		run.Completed(), run.Failed(event.ErrorObj{Code: "timeout", Message: "Too long."}), run.Cancelled(true), run.Interrupted("process_lost"),
	}).Draw(w.t, "outcome")
}

func (w *world) normaliser() *run.Normaliser {
	calls := 0
	return run.New(run.Options{
		NewMessageID:  w.messageID,
		NewToolCallID: func() string { calls++; return fmt.Sprintf("call_%d", calls) },
	})
}

// step draws what the agent or one of its sub-agents does next. Its facts are taken as they are, also those that come when they should not.
func (w *world) step(n *run.Normaliser) []said {
	who := event.SubAgent(rapid.SampledFrom([]string{"", "", "", "sub_a", "sub_b"}).Draw(w.t, "agent"))
	does := w.action(who)
	if f, ok := does.(run.Fact); ok {
		return encode(w.t, []run.Candidate{run.Candidate(f)})
	}
	return encode(w.t, n.Step(does))
}

func (w *world) action(who event.SubAgent) run.AgentEvent {
	ids := rapid.SampledFrom([]string{"", "a", "b", "c"})
	switch k := rapid.IntRange(0, 20).Draw(w.t, "kind"); k {
	case 0, 1, 2, 3, 4:
		return run.Delta{Text: rapid.SampledFrom([]string{"see ", "re", "port", ".md", "report.md", "中文", "<&>"}).Draw(w.t, "text"), Block: rapid.IntRange(0, 1).Draw(w.t, "block"), Agent: who, Last: k == 4}
	case 5:
		channel := rapid.SampledFrom([]run.Channel{run.Thought, run.ToolInput}).Draw(w.t, "channel")
		return run.Delta{Channel: channel, Text: "hm", Agent: who, Apart: rapid.Bool().Draw(w.t, "apart")}
	case 6, 7:
		return run.ToolCall{ID: ids.Draw(w.t, "id"), Name: "read", Args: json.RawMessage(`{"a":1.0}`), Agent: who, Target: w.target()}
	case 8:
		return run.ToolResult{ID: ids.Draw(w.t, "id"), Name: "read", Result: json.RawMessage(`"done"`), Agent: who}
	case 9:
		return run.ToolResult{ID: ids.Draw(w.t, "id"), Name: "read", Error: &event.ErrorObj{Message: "no"}, Agent: who}
	case 10:
		if !w.files {
			return run.StateChange{State: "busy"}
		}
		return run.Artifact{ArtifactCreatedPayload: event.ArtifactCreatedPayload{Type: "file", ArtifactID: "art_1", Filename: "report.md", AgentID: who}}
	case 11:
		w.requests++
		if w.clients && rapid.Bool().Draw(w.t, "client") {
			return run.Asked{PromptRequestedPayload: event.PromptRequestedPayload{
				RequestID: id.Request(fmt.Sprintf("req_%016d", w.requests)), Kind: event.PromptClientTool, ToolName: "pick", Input: json.RawMessage(`{"a":1.0}`),
				ToolCallID: ids.Draw(w.t, "id"), Asks: event.Client, TimeoutMS: 1000, AgentID: who,
			}}
		}
		return run.Asked{PromptRequestedPayload: event.PromptRequestedPayload{
			RequestID: id.Request(fmt.Sprintf("req_%016d", w.requests)), Kind: event.PromptPermission, ToolName: "read", Input: json.RawMessage(`{}`),
			ToolCallID: ids.Draw(w.t, "id"), Asks: event.Person, AgentID: who,
		}}
	case 12, 13:
		return run.Decided{PromptAnsweredPayload: event.PromptAnsweredPayload{
			RequestID: id.Request(fmt.Sprintf("req_%016d", max(1, w.requests))), Decision: rapid.SampledFrom([]event.Decision{event.Allow, event.Deny}).Draw(w.t, "answer"),
		}}
	default:
		return w.fact(k, who)
	}
}

// target is who is to carry a call out.
func (w *world) target() event.ToolTarget {
	if w.clients && rapid.IntRange(0, 2).Draw(w.t, "target") == 0 {
		return event.TargetClient
	}
	return ""
}

func (w *world) fact(k int, who event.SubAgent) run.Fact {
	steps, statuses := rapid.SampledFrom([]string{"s1", "s2"}), rapid.SampledFrom([]event.WorkStatus{event.WorkQueued, event.WorkRunning, event.WorkOK, event.WorkFailed})
	switch k {
	case 14:
		return run.Fact{Type: event.TaskStarted, Payload: event.TaskStartedPayload{
			AgentID: event.SubAgent(rapid.SampledFrom([]string{"sub_a", "sub_b", "main"}).Draw(w.t, "starts")), Name: "helper",
			ParentAgentID: who, StepID: steps.Draw(w.t, "step"), ToolCallID: "a",
		}}
	case 15:
		return run.Fact{Type: event.SubAgentStatus, Payload: event.SubAgentStatusPayload{AgentID: "sub_a", Status: statuses.Draw(w.t, "status"), OutputSummary: "so far"}}
	case 16:
		return run.Fact{Type: event.Plan, Payload: event.PlanPayload{PlanID: "p", AgentID: who}}
	case 17:
		return run.Fact{Type: event.PlanStepStatus, Payload: event.PlanStepPayload{PlanID: "p", StepID: steps.Draw(w.t, "step"), AgentID: who, Status: statuses.Draw(w.t, "status")}}
	case 18:
		return run.Fact{Type: event.PlanEnded, Payload: event.PlanEndedPayload{PlanID: "p", AgentID: who, Status: event.WorkOK}}
	case 19:
		return run.Fact{Type: event.Todo, Payload: event.TodoPayload{TodoID: "1", AgentID: who, Subject: "Read.", Status: rapid.SampledFrom([]string{"pending", "completed"}).Draw(w.t, "todo")}}
	}
	return run.Fact{Type: event.TaskProgress, Payload: event.TaskProgressPayload{AgentID: who, ToolCallID: "a", ItemsProcessed: 1}}
}

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
