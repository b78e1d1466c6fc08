package story

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// newPlaying is a scene whose worker plays the scenarios of the card protocol.
func newPlaying(t *testing.T, env ...string) *asking {
	t.Helper()
	r := rig.New(t, rig.Options{Env: env})
	a := &asking{scene: &scene{Rig: r, t: t}}
	profile := rig.Profile("events", r.Program("testagent"), "--scenes", "--pace", "20ms")
	a.edge = r.AddEdge("laptop", map[string]string{"worker": profile + "permission: true\nkill_grace_secs: 1\n"})
	a.open(r.HubURL(), r.HubURL())
	return a
}

// mustHave checks that a log has these events in this order, with any others between them. What happens in a sub-agent is written "event@agent".
func mustHave(t *testing.T, log []client.RunEvent, want string) {
	t.Helper()
	var all []string
	rest := strings.Fields(want)
	for _, e := range log {
		name := e.EventType
		if _, after, scoped := strings.Cut(string(e.Payload), `"agent_id":"`); scoped && e.EventType != string(event.TaskStarted) {
			agent, _, _ := strings.Cut(after, `"`)
			name += "@" + agent
		}
		all = append(all, name)
		if len(rest) > 0 && rest[0] == name {
			rest = rest[1:]
		}
	}
	if len(rest) > 0 {
		t.Errorf("from %s on the log lacks %v:\n%s", rest[0], rest, strings.Join(all, "\n"))
	}
}

func TestScenesOfTheCardProtocolAreInTheLogAndTheAnswerIsTheAgentsOwn(t *testing.T) {
	t.Parallel()
	a := newPlaying(t)
	for _, c := range []struct{ message, log, answer string }{
		{"Hi", "message.started message.delta message.completed", "Hello World!"},
		{"List files", `message.delta run.agent.tool_input message.completed tool.call.started tool.call.completed
			message.started message.completed`, "Here are the files: a.go, b.go."},
		{"Search auth bugs", `message.completed tool.call.started run.agent.task_started tool.call.started@sub_e5 run.agent.status_change@sub_e5
			run.agent.task_progress@sub_e5 tool.call.completed@sub_e5 run.agent.sub_agent_status@sub_e5 tool.call.completed message.completed`,
			"I found 3 potential bugs."},
		{"Fetch the paper", `tool.call.started run.agent.status_change run.agent.task_progress tool.call.completed`, ""},
		{"Show everything", `run.agent.thinking run.agent.todo run.agent.team run.agent.budget run.agent.memory_op run.agent.auth_status
			run.agent.notice artifact.created tool.call.failed`, "The notes are in notes.md."},
	} {
		run := a.a.Run(a.session, "@worker @worker "+c.message)
		log := a.settle(run, client.RunStateCompleted)
		mustHave(t, log, c.log)
		if c.answer != "" {
			a.mustAnswer(run, c.answer)
		}
	}
}

func TestReasoningThatStandsByItselfIsACardOfItsOwn(t *testing.T) {
	t.Parallel()
	a := newPlaying(t, "HUB_CARDS_LANGUAGE=en")
	run := a.a.Run(a.session, "@worker Think")
	a.settle(run, client.RunStateCompleted)
	a.mustAnswer(run, "I have thought twice.")
	forest := a.forestOf(run)
	turn := forest.Roots()[0]
	if turn.Hint.Title != "Turn 1" {
		t.Errorf("the turn is called %q by a hub that speaks English", turn.Hint.Title)
	}
	got := []string{}
	for _, c := range append(forest.Below(turn.ID), forest.Below("sub_t")...) {
		if c.Kind == card.Thinking {
			got = append(got, fmt.Sprint(c.AgentID, " ", c.Status, " ", c.Text(card.ThinkingChannel), " ", string(c.Payload["length"])))
		}
	}
	want := []string{"main ok First the question, then the answer. 36", "main ok Twice? 6", "main ok It is so. 9", "sub_t ok Is it so? 9"}
	if !slices.Equal(got, want) {
		t.Errorf("thinking cards\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestHowAPersonWantsItDoneReachesTheAgent(t *testing.T) {
	t.Parallel()
	a := newPlaying(t)
	feed := a.a.Cards(client.CardOptions{Session: a.session})
	said := ""
	for update, err := range feed.Follow(a.t.Context()) {
		if err != nil || update.Failed != nil {
			t.Fatalf("follow the cards: %v, %+v", err, update.Failed)
		}
		e := update.Event
		if update.Link == client.LinkUp {
			message := card.UserMessage{
				Content: []card.Block{{Type: card.TextBlock, Text: "How do you go about it?"}}, CoordinatorMode: "plan", PlanConfirmation: "required",
			}
			if _, err := feed.Send(message, ""); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if e == nil || e.Type != card.Close {
			continue
		}
		if e.Envelope.CardKind == card.Message {
			said = feed.Forest().Card(e.Envelope.CardID).Text(card.TextChannel)
		}
		if e.Envelope.CardKind == card.Turn {
			break
		}
	}
	if said != "Mode plan, plans required." {
		t.Errorf("the agent was told: %s", said)
	}
}

// forestOf is what a client that begins now makes of the conversation, once the turn of the run has ended.
func (a *asking) forestOf(run id.Run) *client.CardForest {
	a.t.Helper()
	feed := a.a.Cards(client.CardOptions{Session: a.session})
	for update, err := range feed.Follow(a.t.Context()) {
		if err != nil || update.Failed != nil {
			a.t.Fatalf("follow the cards: %v, %+v", err, update.Failed)
		}
		if e := update.Event; e != nil && e.Type == card.Close && e.Envelope.CardKind == card.Turn && e.Envelope.AgentRunID == run {
			break
		}
	}
	return feed.Forest()
}

func TestAPlanIsCarriedOutByAnAgentThatWasLostWhileItWasReviewed(t *testing.T) {
	t.Parallel()
	a := newPlaying(t)
	run := a.a.Run(a.session, "@worker 调研 X 写 Y")
	var asked []client.Prompt
	a.Eventually("the plan for review", func() bool {
		asked = a.prompts(run)
		return len(asked) == 1
	})
	if !strings.Contains(string(asked[0].Payload), `"agent_id":"sub_y"`) {
		t.Errorf("the specialists ask as %s", asked[0].Payload)
	}
	a.edge.Kill()
	a.must(asked[0], client.PromptAnswerInput{Decision: client.PromptDecisionAllow})
	a.edge.Start()
	var next id.Run
	a.Eventually("the run that goes on", func() bool {
		next = id.Run(a.prompts(run)[0].Answer.ContinuedByRunID)
		return next != ""
	})
	mustHave(t, a.settle(next, client.RunStateCompleted), `run.agent.task_started run.agent.plan@sub_y run.agent.plan_step@sub_y
		run.agent.task_started tool.call.started@sub_z1 run.agent.sub_agent_status@sub_z1 artifact.created@sub_z2 run.agent.plan_ended@sub_y
		run.agent.sub_agent_status@sub_y tool.call.completed message.completed`)
	a.mustAnswer(next, "邮件已经准备好：intern-schedule-email.md")
	a.settle(run, client.RunStateFailed)
}

func TestPeopleAreToldOnceThatTheMachineIsAway(t *testing.T) {
	t.Parallel()
	a := newPlaying(t, "HUB_NOTICE_AFTER=1s")
	run := a.a.Run(a.session, "@worker Ask me")
	a.Eventually("the question", func() bool { return len(a.prompts(run)) == 1 })
	a.edge.Kill()
	notices := func() (count int) {
		for _, e := range a.a.Log(run) {
			if e.EventType == string(event.RunNotice) && strings.Contains(string(e.Payload), event.TopicEdgeOffline) {
				count++
			}
		}
		return count
	}
	a.Eventually("the notice", func() bool { return notices() > 0 })
	waiting := a.a.Run(a.session, "@worker Hi")
	a.edge.Start()
	a.settle(waiting, client.RunStateCompleted)
	if n := notices(); n != 1 {
		t.Errorf("%d notices of one absence", n)
	}
}
