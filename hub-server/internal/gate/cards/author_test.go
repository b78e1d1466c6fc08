package cards

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/hub-server/internal/prompt"
	"github.com/switchyard-dev/switchyard/hub-server/internal/sqlstore"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// author has the agents of a conversation do anything at all, in runs of their own, several at once.
type author struct {
	*scene
	random *rand.Rand
	voices []*voice
	asked  []open // questions, the oldest first; some of them may be answered or over
	turns  int
}

// voice is one agent and the run that it is in.
type voice struct {
	agent string
	run   id.Run // "" between two
	says  *run.Normaliser
	steps int // left
}

// open is a question that waits, as far as is known.
type open struct {
	run     id.Run
	request id.Request
}

// newAuthor opens a conversation of ada's with two agents.
func newAuthor(w *town, seed uint64) *author {
	w.t.Helper()
	a := &author{scene: newScene(w), random: rand.New(rand.NewPCG(seed, 1)), voices: []*voice{{agent: "scout"}, {agent: "other"}}}
	a.session = a.group(a.ada, a.ada.agent("scout"), a.ada.agent("other"))
	return a
}

// write has something happen: one commit of an agent, the answer of a person, or what somebody says aside.
func (a *author) write() {
	a.t.Helper()
	v := a.voices[a.random.IntN(len(a.voices))]
	switch {
	case a.random.IntN(40) == 0:
		a.post("By the way.")
	case a.random.IntN(4) == 0 && len(a.asked) > 0:
		a.answer()
	case v.run == "":
		a.begin(v)
	case v.steps == 0:
		a.end(v)
	default:
		v.steps--
		var said []run.Candidate
		for range 1 + a.random.IntN(15) {
			said = append(said, a.step(v)...)
		}
		a.tell(v.run, said)
	}
}

// finish ends every run.
func (a *author) finish() {
	a.t.Helper()
	for _, v := range a.voices {
		if v.run != "" {
			a.end(v)
		}
	}
}

func (a *author) post(text string) []id.Run {
	a.t.Helper()
	content, err := event.Encode(object{"text": text})
	a.must(err)
	receipt, err := a.hub.Messages.Post(a.t.Context(), a.ada.Principal, chat.Draft{
		Session: a.session, ClientMsgID: chat.ClientMsgID(uuid.NewString()), ContentType: chat.Text, Content: content,
		TraceID: string(telemetry.NewTraceID()),
	})
	a.must(err)
	return receipt.Tasks
}

func (a *author) begin(v *voice) {
	a.t.Helper()
	a.turns++
	tasks := a.post(fmt.Sprintf("@%s turn %d", v.agent, a.turns))
	if len(tasks) != 1 {
		a.t.Fatalf("%s is asked and runs %v start", v.agent, tasks)
	}
	_, err := sqlstore.NewRunlog(a.store, a.writer, "hub").TakeCommands(a.t.Context(), a.edge)
	a.must(err)
	v.run, v.says, v.steps = tasks[0], run.New(run.Options{}), 2+a.random.IntN(15)
	a.tell(v.run, v.says.Start("", time.Now()))
}

// end ends a run in one of the ways in which runs end. Something may come too late.
func (a *author) end(v *voice) {
	a.t.Helper()
	outcomes := []run.Outcome{
		run.Completed(), run.Failed(event.ErrorObj{Code: "timeout", Message: "Too long."}), run.Cancelled(true), run.Interrupted("process_lost"),
	}
	a.tell(v.run, v.says.Close(outcomes[a.random.IntN(len(outcomes))]))
	if a.random.IntN(3) == 0 {
		late := run.Candidate{Type: event.MessageDelta, Payload: event.DeltaPayload{MessageID: id.NewMessage(), Delta: "late"}}
		a.tell(v.run, []run.Candidate{late})
	}
	v.run = ""
}

// tell has the edge report what an agent said.
func (a *author) tell(of id.Run, said []run.Candidate) {
	a.t.Helper()
	var events []any
	for _, c := range said {
		payload, err := c.Encode()
		a.must(err)
		events = append(events, string(event.WireOf(c.Type, payload)), payload)
	}
	if len(events) > 0 {
		a.tells(a.edge, of, events...)
	}
}

func (a *author) step(v *voice) []run.Candidate {
	who := pick(a.random, event.SubAgent(""), "", "", "sub_a", "sub_b")
	does := a.action(v, who)
	if f, ok := does.(run.Fact); ok {
		return []run.Candidate{run.Candidate(f)} // as it is, also where it should not be
	}
	return v.says.Step(does)
}

func pick[T any](random *rand.Rand, from ...T) T { return from[random.IntN(len(from))] }

func (a *author) action(v *voice, who event.SubAgent) run.AgentEvent {
	call := pick(a.random, "", "a", "b", "c")
	switch k := a.random.IntN(22); k {
	case 0, 1, 2, 3, 4, 5, 6:
		text := pick(a.random, "see ", "re", "port", ".md", "中文 é", "<&>\u2028", "a longer piece of an answer that goes on for a while, ")
		return run.Delta{Text: text, Block: a.random.IntN(2), Agent: who, Last: k == 6}
	case 7:
		return run.Delta{Channel: pick(a.random, run.Thought, run.ToolInput), Text: "hm \"", Agent: who}
	case 8, 9:
		return run.ToolCall{ID: call, Name: "read", Args: json.RawMessage(`{"a":1.0}`), Agent: who}
	case 10:
		return run.ToolResult{ID: call, Name: "read", Result: json.RawMessage(`"done"`), Agent: who}
	case 11:
		return run.ToolResult{ID: call, Name: "read", Error: &event.ErrorObj{Message: "no"}, Agent: who}
	case 12, 13:
		return a.question(v, call, who)
	default:
		return a.fact(k, who)
	}
}

func (a *author) question(v *voice, call string, who event.SubAgent) run.AgentEvent {
	asked := event.PromptRequestedPayload{
		RequestID: id.NewRequest(), Kind: pick(a.random, event.PromptPermission, event.PromptQuestion), AgentRequestID: string(id.NewEvent()),
		Asks: event.Person, AgentID: who,
	}
	var err error
	if asked.Kind == event.PromptPermission {
		asked.ToolName, asked.Input, asked.ToolCallID = "Bash", json.RawMessage(bash), call
		asked.Digest, err = event.PromptDigest(asked.ToolName, asked.Input)
	} else {
		asked.Inner = json.RawMessage(question)
		asked.Digest, err = event.InnerDigest(asked.Kind, asked.Inner)
	}
	a.must(err)
	a.asked = append(a.asked, open{v.run, asked.RequestID})
	return run.Asked{PromptRequestedPayload: asked}
}

// answer answers the oldest question. Its run may be over.
func (a *author) answer() {
	a.t.Helper()
	q := a.asked[0]
	a.asked = slices.Delete(a.asked, 0, 1)
	said := wire.Answer{RequestID: q.request, Decision: event.Deny, Reason: "no"}
	if known, err := a.hub.Prompts.Get(a.t.Context(), q.run, q.request); err != nil || known.State != prompt.Pending {
		return // it never reached the hub, or is over
	}
	_, err := a.hub.Prompts.Answer(a.t.Context(), a.ada.Principal, prompt.Reply{Run: q.run, Answer: said})
	a.must(err)
}

func (a *author) fact(k int, who event.SubAgent) run.Fact {
	step, status := pick(a.random, "s1", "s2"), pick(a.random, event.WorkQueued, event.WorkRunning, event.WorkOK, event.WorkFailed)
	switch k {
	case 14:
		return run.Fact{Type: event.TaskStarted, Payload: event.TaskStartedPayload{
			AgentID: pick(a.random, event.SubAgent("sub_a"), "sub_b"), Name: "helper", ParentAgentID: who, StepID: step, ToolCallID: "a",
		}}
	case 15:
		return run.Fact{Type: event.SubAgentStatus, Payload: event.SubAgentStatusPayload{AgentID: "sub_a", Status: status, OutputSummary: "so far"}}
	case 16:
		return run.Fact{Type: event.Plan, Payload: event.PlanPayload{PlanID: "p", AgentID: who}}
	case 17:
		return run.Fact{Type: event.PlanStepStatus, Payload: event.PlanStepPayload{PlanID: "p", StepID: step, AgentID: who, Status: status}}
	case 18:
		return run.Fact{Type: event.PlanEnded, Payload: event.PlanEndedPayload{PlanID: "p", AgentID: who, Status: event.WorkOK}}
	case 19:
		return run.Fact{Type: event.Todo, Payload: event.TodoPayload{TodoID: "1", AgentID: who, Subject: "Read.", Status: pick(a.random, "pending", "completed")}}
	case 20:
		return run.Fact{Type: event.AgentNotice, Payload: event.NoticePayload{Topic: pick(a.random, "t1", "t2", "t3"), AgentID: who, Summary: "So."}}
	}
	return run.Fact{Type: event.TaskProgress, Payload: event.TaskProgressPayload{AgentID: who, ToolCallID: "a", ItemsProcessed: 1}}
}
