package story

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// asking is a scene whose worker asks for permission.
type asking struct {
	*scene
	book string // what its tool was used for
}

// askingProfile is a worker that asks for Bash with each of the inputs; settings are lines of its profile.
func askingProfile(program, book, settings string, inputs ...string) string {
	args := []string{"--book", book}
	for _, input := range inputs {
		args = append(args, "--input", input)
	}
	profile := rig.Profile("bridge", program, args...)
	return strings.Replace(profile, "timeout_secs: 600\n", "kill_grace_secs: 1\npermission: true\n"+settings, 1)
}

const patient = "timeout_secs: 600\n"

func newAsking(t *testing.T, settings string, inputs ...string) *asking {
	t.Helper()
	r := rig.New(t, rig.Options{})
	a := &asking{scene: &scene{Rig: r, t: t}, book: filepath.Join(t.TempDir(), "book")}
	a.edge = r.AddEdge("laptop", map[string]string{"worker": askingProfile(r.Program("bridgeagent"), a.book, settings, inputs...)})
	a.open(r.HubURL(), r.HubURL())
	return a
}

// asked starts a run and waits until a device is asked n things.
func (a *asking) asked(n int) (id.Run, []client.Prompt) {
	a.t.Helper()
	run := a.a.Run(a.session, order)
	var pending []client.Prompt
	a.Eventually(fmt.Sprintf("%d questions", n), func() bool {
		pending = a.prompts(run)
		return len(pending) == n
	})
	return run, pending
}

// prompts are what a run has asked.
func (a *asking) prompts(run id.Run) []client.Prompt {
	a.t.Helper()
	list, err := client.Decode[client.PromptList](a.b.API().ListAgentTaskPrompts(a.t.Context(), string(run), &client.ListAgentTaskPromptsParams{}))
	if client.CodeOf(err) != "" {
		a.t.Fatalf("list questions: %v", err)
	}
	return list.Items
}

func (a *asking) answer(d *rig.Device, p client.Prompt, in client.PromptAnswerInput) (client.Prompt, error) {
	return client.Decode[client.Prompt](d.API().AnswerPrompt(a.t.Context(), p.TaskID, p.RequestID, in))
}

// must answers from device b.
func (a *asking) must(p client.Prompt, in client.PromptAnswerInput) client.Prompt {
	a.t.Helper()
	answered, err := a.answer(a.b, p, in)
	if err != nil {
		a.t.Fatalf("answer: %v", err)
	}
	return answered
}

// used is what the tool was used for, in order.
func (a *asking) used() []string { return strings.Fields(a.notes()) }

// notes are all that is in the book.
func (a *asking) notes() string {
	a.t.Helper()
	data, err := os.ReadFile(a.book)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		a.t.Fatalf("read book: %v", err)
	}
	return string(data)
}

// said is the final text of a run.
func (a *asking) said(run id.Run) string {
	a.t.Helper()
	a.settle(run, client.RunStateCompleted)
	m, ok := a.seenA.Message(a.Owner().Task(run).FinalMessageID)
	if !ok {
		a.t.Fatalf("%s said nothing", run)
	}
	return string(m.Content)
}

func (a *asking) expectUsed(want ...string) {
	a.t.Helper()
	if got := a.used(); strings.Join(got, " ") != strings.Join(want, " ") {
		a.t.Errorf("the tool was used for %q, want %q", got, want)
	}
}

func (a *asking) expectSaid(run id.Run, parts ...string) {
	a.t.Helper()
	said := a.said(run)
	for _, part := range parts {
		if !strings.Contains(said, part) {
			a.t.Errorf("the agent said %s, want %q in it", said, part)
		}
	}
}

// types are the event types of a log that are about questions.
func promptEvents(log []client.RunEvent) string {
	var types []string
	for _, e := range log {
		if strings.HasPrefix(e.EventType, "run.prompt.") || e.EventType == "run.process_ended" {
			types = append(types, e.EventType)
		}
	}
	return strings.Join(types, " ")
}

var (
	allow = client.PromptAnswerInput{Decision: client.PromptDecisionAllow}
	deny  = client.PromptAnswerInput{Decision: client.PromptDecisionDeny}
)

func TestAPermissionAskedOnOneDeviceIsAnsweredFromAnother(t *testing.T) {
	t.Parallel()
	a := newAsking(t, patient, `{"command":"ls"}`)
	run, asked := a.asked(1)
	a.seenA.UntilEvents(run, int(asked[0].EventSeq)) // device a is shown what is asked
	if task := a.Owner().Task(run); task.State != client.RunStateWaitingPerson {
		t.Errorf("run is %s", task.State)
	}
	a.must(asked[0], allow)
	a.expectSaid(run, `1 used {\"command\":\"ls\"}`)
	a.expectUsed(`{"command":"ls"}`)

	_, err := a.answer(a.a, asked[0], deny)
	var problem *client.ProblemError
	if !errors.As(err, &problem) || problem.Code != client.ProblemCodeAlreadyAnswered || problem.Answer.Decision != client.PromptDecisionAllow {
		t.Errorf("another answer: %v", err)
	}
	if again, err := a.answer(a.a, asked[0], allow); err != nil || again.Answer.DeliveredAt.IsZero() || again.Answer.DeviceID == "" {
		t.Errorf("the same answer again: %+v, %v", again.Answer, err)
	}
	if got := promptEvents(a.Owner().Log(run)); got != "run.prompt.requested run.prompt.answered run.prompt.delivered" {
		t.Errorf("log has %s", got)
	}
	a.expectUsed(`{"command":"ls"}`)
}

func TestQuestionsAreAnsweredInAnyOrderAndEachInItsOwnWay(t *testing.T) {
	t.Parallel()
	a := newAsking(t, patient, `{"n":1}`, `{"n":2}`, `{"n":3}`)
	run, asked := a.asked(3)
	changed := allow
	changed.UpdatedInput = []byte(`{"n":4}`)
	a.must(asked[2], changed)
	refused := deny
	refused.Reason = "not on this machine"
	a.must(asked[1], refused)
	if task := a.Owner().Task(run); task.State != client.RunStateWaitingPerson {
		t.Errorf("run is %s with a question open", task.State)
	}
	a.must(asked[0], allow)
	a.expectSaid(run, `3 used {\"n\":4}`, `2 denied not on this machine`, `1 used {\"n\":1}`)
	a.expectUsed(`{"n":4}`, `{"n":1}`)
}

func TestThePolicyOfAProfileAnswersInAPersonsStead(t *testing.T) {
	t.Parallel()
	a := newAsking(t, patient+"permission_policy: deny-all\n", `{"n":1}`)
	run := a.a.Run(a.session, order)
	a.expectSaid(run, "1 denied")
	a.expectUsed()
	if got := a.prompts(run); len(got) != 0 {
		t.Errorf("people were asked: %+v", got)
	}
	a.edge.WriteProfile("worker", askingProfile(a.Program("bridgeagent"), a.book, patient+"permission_policy: allow-all\n", `{"n":1}`))
	a.Eventually("the new policy", func() bool {
		a.said(a.a.Run(a.session, order))
		return len(a.used()) > 0
	})
	a.expectUsed(`{"n":1}`)
}

func TestR21AnAnswerAfterTheTurnLimitGoesOnInAnotherRun(t *testing.T) {
	t.Parallel()
	a := newAsking(t, "timeout_secs: 2\n", `{"n":1}`)
	run, asked := a.asked(1)
	a.Eventually("the turn limit", func() bool { return strings.HasSuffix(promptEvents(a.Owner().Log(run)), "run.process_ended") })
	if task := a.Owner().Task(run); task.State != client.RunStateWaitingPerson || task.Unknown {
		t.Fatalf("run is %s, unknown %v", task.State, task.Unknown)
	}
	a.expectUsed()
	answered := a.must(asked[0], allow)
	next := id.Run(answered.Answer.ContinuedByRunID)
	a.said(next) // both devices are compared when nothing is under way any more
	a.settle(run, client.RunStateFailed)
	if task := a.Owner().Task(run); task.Error.Code != "timeout" || task.ContinuedByRunID != string(next) {
		t.Errorf("the first run: %+v", task)
	}
	a.expectSaid(next, `resumed, told The request to use Bash with {\"n\":1} was allowed. Go on.`, `1 used {\"n\":1}`)
	a.expectUsed(`{"n":1}`)
	if got := a.prompts(next); len(got) != 0 {
		t.Errorf("what was allowed is asked once more: %+v", got)
	}
}

// goesOn waits for the run that takes the answer of an earlier one to the agent, and checks that it does so and acts on it once.
func (a *asking) goesOn(run id.Run, code string) {
	a.t.Helper()
	var next id.Run
	a.Eventually("the run that goes on", func() bool {
		next = id.Run(a.Owner().Task(run).ContinuedByRunID)
		return next != ""
	})
	a.said(next)
	a.settle(run, client.RunStateFailed)
	if task := a.Owner().Task(run); task.Error.Code != code {
		a.t.Errorf("the first run: %+v", task)
	}
	a.expectSaid(next, `told The request to use Bash with {\"n\":1} was allowed. Go on.`, `1 used {\"n\":1}`)
	a.expectUsed(`{"n":1}`)
	if got := a.prompts(next); len(got) != 0 {
		a.t.Errorf("what was allowed is asked once more: %+v", got)
	}
}

func TestAnAnswerForAnEdgeThatIsGoneIsTakenToTheAgentWhenItIsBack(t *testing.T) {
	t.Parallel()
	a := newAsking(t, patient, `{"n":1}`)
	run, asked := a.asked(1)
	a.edge.Kill()
	a.must(asked[0], allow)
	a.expectUsed()
	a.edge.Start()
	a.goesOn(run, "process_lost")
}

func TestAQuestionIsAnsweredFromASecondDeviceWhateverWasLost(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		lose   func(*asking)
		goesOn bool // in another run
	}{
		"the device that it was asked on": {func(*asking) {}, false},
		"the hub":                         {func(a *asking) { a.KillHub(); a.StartHub() }, false},
		"the edge":                        {func(a *asking) { a.edge.Kill(); a.edge.Start() }, true},
		"hub and edge":                    {func(a *asking) { a.KillHub(); a.edge.Kill(); a.edge.Start(); a.StartHub() }, true},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			a := newAsking(t, patient, `{"n":1}`)
			run, asked := a.asked(1)
			a.seenA.UntilEvents(run, int(asked[0].EventSeq))
			a.seenA.Close()
			c.lose(a)
			again := a.stillAsked(run)
			if again.RequestID != asked[0].RequestID || string(again.Payload) != string(asked[0].Payload) {
				t.Errorf("it was %s, it is %s", asked[0].Payload, again.Payload)
			}
			a.must(again, allow)
			a.seenA.Reopen()
			if c.goesOn {
				a.goesOn(run, "process_lost")
				return
			}
			a.expectSaid(run, `1 used {\"n\":1}`)
			a.expectUsed(`{"n":1}`)
		})
	}
}

// stillAsked waits until the hub shows the one question of a run, and that it is open.
func (a *asking) stillAsked(run id.Run) client.Prompt {
	a.t.Helper()
	var open []client.Prompt
	a.Eventually("the question", func() bool {
		open = a.prompts(run)
		return len(open) == 1 && open[0].State == client.PromptStatePending
	})
	return open[0]
}

func TestAnAttachmentReachesTheAgent(t *testing.T) {
	t.Parallel()
	a := newAsking(t, patient)
	const address = "https://example.com/a.png"
	receipt, err := client.Decode[client.MessageReceipt](a.a.API().SendMessage(t.Context(), a.session, client.MessageInput{
		ClientMsgID: uuid.NewString(), Content: rig.Text("@worker"), Attachments: []client.Attachment{{Kind: client.AttachmentKindImage, URL: address}},
	}))
	if err != nil || len(receipt.TaskIds) != 1 {
		t.Fatalf("send: %+v, %v", receipt, err)
	}
	a.expectSaid(id.Run(receipt.TaskIds[0]), "given "+address)
	if m, ok := a.seenB.Message(receipt.MessageID); !ok || len(m.Attachments) != 1 || m.Attachments[0].URL != address {
		t.Errorf("device b was shown %+v", m)
	}
}

func TestAQuestionIsAnsweredInTheTerminal(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	book := filepath.Join(t.TempDir(), "book")
	h.writeProfile("asker", askingProfile(filepath.Join(h.bin, "bridgeagent"), book, patient, `{"command":"ls"}`))
	h.untilAgent("asker", true)
	send := h.yard("send", "--session", "demo", "@asker go")
	send.WaitFor(`asker asks to use Bash: {"command":"ls"}`)
	if run := ask[client.AgentTaskList](h, "runs")[0].Items[0]; run.State != client.RunStateWaitingPerson {
		t.Errorf("run is %s", run.State)
	}
	asked := ask[client.PromptList](h, "prompts")[0].Items
	if len(asked) != 1 {
		t.Fatalf("%d questions", len(asked))
	}
	ask[client.Prompt](h, "answer", asked[0].RequestID, "allow")
	if code := send.Wait(yardPatience); code != 0 || !strings.Contains(send.Out().String(), `1 used {"command":"ls"}`) {
		t.Errorf("send ended with code %d:\n%s", code, send.Out())
	}
	if code := h.yard("answer", asked[0].RequestID, "deny").Wait(yardPatience); code != 5 {
		t.Errorf("another answer ended with code %d", code)
	}
	h.interrupt()
}
