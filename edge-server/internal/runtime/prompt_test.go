package runtime_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/edge-server/internal/profile"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/supervise"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// permitted is the bench of an agent that may ask.
func permitted(t *testing.T, steps ...string) *bench {
	t.Helper()
	b := newBench(t, profile.Bridge, steps...)
	b.profile.Permission = true
	return b
}

func TestPromptSaysAllThatIsKnownOfTheRequest(t *testing.T) {
	b := permitted(t, `say:{"type":"permission_request","request_id":"r:1","tool_name":"Bash","tool_use_id":"t1","description":"Lists.","input":{"n":1.0}}`, "hear", ended)
	b.person = says(event.Allow, nil)
	tr := b.play(t)
	want := event.PromptRequestedPayload{
		Kind: event.PromptPermission, ToolName: "Bash", Description: "Lists.", ToolCallID: "t1", AgentRequestID: "r:1",
		Digest: digest("Bash", `{"n":1.0}`), Asks: event.Person,
	}
	got := tr.asked[0]
	if _, err := id.ParseRequest(string(got.RequestID)); err != nil || string(got.Input) != `{"n":1.0}` {
		t.Errorf("%v, input %s", err, got.Input)
	}
	got.RequestID, got.Input = "", nil
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// Many requests at once, each answered by a person of its own, in any order.
func TestEachOfSeveralOpenRequestsGetsItsAnswer(t *testing.T) {
	const n = 20
	var steps []string
	for i := range n {
		steps = append(steps, asking(fmt.Sprint("r", i), "Bash", "{}"))
	}
	for range n {
		steps = append(steps, "hear")
	}
	b := permitted(t, append(steps, ended)...)
	var all sync.WaitGroup
	all.Add(n)
	b.person = func(p event.PromptRequestedPayload, answer func(wire.Answer) error) {
		all.Done()
		all.Wait() // nobody answers before everything is asked
		decision := event.Allow
		if p.AgentRequestID[len(p.AgentRequestID)-1]%2 == 0 {
			decision = event.Deny
		}
		says(decision, nil)(p, answer)
	}
	tr := b.play(t)
	allowed, denied := 0, 0
	for i := range n {
		if slices.Contains(tr.lines, heard(fmt.Sprint("r", i), `"behavior":"allow"`)) {
			allowed++
		}
		if slices.Contains(tr.lines, heard(fmt.Sprint("r", i), `"behavior":"deny","message":"A person denied the request."`)) {
			denied++
		}
	}
	if allowed != n/2 || denied != n/2 || len(tr.delivered) != n {
		t.Errorf("%d allowed, %d denied, %d delivered", allowed, denied, len(tr.delivered))
	}
}

// The file of the profile changes between two requests of one turn.
func TestPolicyOfTheFileAsItIsNowAnswersTheNextRequest(t *testing.T) {
	b := permitted(t, asking("r1", "Bash", "{}"), "hear", asking("r2", "Bash", "{}"), "hear", ended)
	folder := t.TempDir()
	write := func(policy profile.Policy) {
		args, err := json.Marshal(b.profile.Args)
		if err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf("command: %q\nargs: %s\npermission: true\npermission_policy: %s\n", b.profile.Command, args, policy)
		if err := os.WriteFile(filepath.Join(folder, "test.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(profile.Ask)
	library, err := profile.Open(folder, profile.Edge{Lookup: b.lookup}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	b.library = library
	following := supervise.NewGroup(t.Context())
	following.Go(library.Run)
	b.person = func(p event.PromptRequestedPayload, answer func(wire.Answer) error) {
		write(profile.DenyAll)
		for now := library.Current(); now.Profiles["test"].Policy != profile.DenyAll; now = library.Current() {
			<-now.Changed()
		}
		says(event.Allow, nil)(p, answer)
	}
	b.play(t).must(t, "asks person r1 Bash {}", heard("r1", `"behavior":"allow"`),
		"asks policy r2 Bash {}", "policy deny-all deny",
		heard("r2", `"behavior":"deny","message":"The policy of this agent allows no tool that asks."`), "done ")
	following.Cancel()
	if err := following.Wait(); err != nil {
		t.Error(err)
	}
}

func TestAnswerThatFitsNothingIsRefused(t *testing.T) {
	b := permitted(t, asking("r1", "Bash", "{}"), "hear", ended)
	b.person = func(p event.PromptRequestedPayload, answer func(wire.Answer) error) {
		good := wire.Answer{RequestID: p.RequestID, Decision: event.Deny, Digest: p.Digest}
		for _, c := range []struct {
			change func(*wire.Answer)
			want   fault.Code
		}{
			{func(a *wire.Answer) { a.RequestID = id.NewRequest() }, fault.NotFound},
			{func(a *wire.Answer) { a.Digest = digest("Bash", `{"x":1}`) }, fault.DigestMismatch},
			{func(a *wire.Answer) { a.Digest = "" }, fault.DigestMismatch},
			{func(*wire.Answer) {}, ""},
			{func(*wire.Answer) {}, fault.TooLate},
			{func(a *wire.Answer) { a.Decision = event.Allow }, fault.TooLate},
		} {
			a := good
			c.change(&a)
			if err := answer(a); fault.CodeOf(err) != c.want {
				t.Errorf("%+v: %v, want %q", a, err, c.want)
			}
		}
	}
	b.play(t).must(t, "asks person r1 Bash {}", heard("r1", `"behavior":"deny","message":"A person denied the request."`), "done ")
}

func TestPromptIsMootOnceTheAgentHasEnded(t *testing.T) {
	for name, last := range map[string]string{
		"with an error": `say:{"type":"error","message":"x"}`, "with a result": ended, "without a word": "exit:0", "badly": "exit:3",
	} {
		t.Run(name, func(t *testing.T) {
			tr := permitted(t, asking("r1", "Bash", "{}"), last).play(t)
			p := tr.asked[0]
			err := tr.answer(wire.Answer{RequestID: p.RequestID, Decision: event.Allow, Digest: p.Digest})
			if fault.CodeOf(err) != fault.TooLate || len(tr.delivered) > 0 {
				t.Errorf("%v, %q", err, tr.delivered)
			}
		})
	}
}

func TestWhatIsNotRecordedIsNotAllowed(t *testing.T) {
	for name, refused := range map[string]func(run.AgentEvent) bool{
		"the request": func(e run.AgentEvent) bool { _, ok := e.(run.Asked); return ok },
		"the answer":  func(e run.AgentEvent) bool { _, ok := e.(run.Decided); return ok },
	} {
		t.Run(name, func(t *testing.T) {
			b := permitted(t, asking("r1", "Bash", "{}"), "read", `write:heard.txt=$HEARD`, ended)
			b.profile.Policy, b.refuse = profile.AllowAll, refused
			b.play(t)
			if got := b.written(t, "heard.txt"); got != `{"type":"permission_response","request_id":"r1","behavior":"deny","message":"The edge could not record the request."}` {
				t.Errorf("the agent heard %s", got)
			}
		})
	}
}

func TestRequestsBeyondMeasureAreDenied(t *testing.T) {
	var steps []string
	for i := range 65 {
		steps = append(steps, asking(fmt.Sprint("r", i), "Bash", "{}"))
	}
	b := permitted(t, append(steps, "hear", ended)...)
	b.play(t).mustEnd(t, "asks policy r64 Bash {}", "bridge  deny",
		heard("r64", `"behavior":"deny","message":"64 requests of this turn wait for an answer already."`), "done ")
}

func TestSecretsInRequestsAreNotShownAndTheDigestIsOfWhatIsShown(t *testing.T) {
	b := permitted(t, `say:{"type":"permission_request","request_id":"r1","tool_name":"Bash","description":"with sk-live-4f9a0c77","input":{"h":"Bearer sk-live-4f9a0c77"}}`, "hear", ended)
	b.profile.Env["API_KEY"] = "sk-live-4f9a0c77"
	b.person = says(event.Allow, nil)
	tr := b.play(t)
	tr.must(t, `asks person r1 Bash {"h":"Bearer [redacted]"}`, heard("r1", `"behavior":"allow"`), "done ")
	if p := tr.asked[0]; p.Description != "with [redacted]" || p.Digest != digest("Bash", `{"h":"Bearer [redacted]"}`) {
		t.Errorf("%+v", p)
	}
}

func TestPromptOutlivesAnAgentThatASignalEnded(t *testing.T) {
	for name, steps := range map[string][]string{
		"before the answer":             {asking("r1", "Bash", "{}"), "kill"},
		"with the answer in its memory": {asking("r1", "Bash", "{}"), "read", "kill"},
	} {
		t.Run(name, func(t *testing.T) {
			b := permitted(t, steps...)
			if len(steps) > 2 {
				b.person = says(event.Allow, nil)
			}
			tr := b.play(t)
			want := fmt.Sprintf(`run.process_ended {"reason":"process_lost","code":"process_lost","pending":[%q]}`, tr.asked[0].RequestID)
			if got := tr.outcome(t); got != want || len(tr.delivered) > 0 {
				t.Errorf("ended with %s, delivered %q", got, tr.delivered)
			}
		})
	}
	t.Run("but not one that had given its result", func(t *testing.T) {
		tr := permitted(t, asking("r1", "Bash", "{}"), ended, "drain", "kill").play(t)
		if got := tr.outcome(t); !strings.HasPrefix(got, "run.failed ") {
			t.Errorf("ended with %s", got)
		}
	})
}

const overdue = "The time limit of the turn passed before anybody answered."

func TestTurnLimitTellsTheAgentNoAndLeavesThePersonThePrompt(t *testing.T) {
	for name, steps := range map[string][]string{
		"an agent that waits":                   {"hear", "hang"},
		"an agent that ends well all by itself": {"hear", `say:{"type":"result","text":"So be it."}`},
		"an agent that ends badly":              {"hear", "exit:3"},
		"an agent that reads to the end":        {"hear", "drain", "exit:0"},
	} {
		t.Run(name, func(t *testing.T) {
			b := permitted(t, slices.Concat([]string{"ignore-term", asking("r1", "Bash", "{}"), asking("r2", "Bash", "{}")}, steps)...)
			b.profile.Timeout, b.profile.Grace = time.Second, time.Second
			tr := b.play(t)
			tr.must(t, "asks person r1 Bash {}", "asks person r2 Bash {}", heard("r1", fmt.Sprintf(`"behavior":"deny","message":%q`, overdue)))
			want := fmt.Sprintf(`run.process_ended {"reason":"turn_limit","code":"timeout","pending":[%q,%q]}`, tr.asked[0].RequestID, tr.asked[1].RequestID)
			if got := tr.outcome(t); got != want {
				t.Errorf("ended with %s", got)
			}
			for _, p := range tr.asked {
				if err := tr.answer(wire.Answer{RequestID: p.RequestID, Decision: event.Allow, Digest: p.Digest}); fault.CodeOf(err) != fault.TooLate {
					t.Error(err)
				}
			}
		})
	}
}

func TestTurnLimitWaitsForNobody(t *testing.T) {
	b := permitted(t, "ignore-term", asking("r1", "Bash", "{}"), "hang") // and reads nothing
	b.profile.Timeout = time.Second
	began := time.Now()
	tr := b.play(t)
	if took := time.Since(began); took > 5*time.Second || !strings.HasPrefix(tr.outcome(t), "run.process_ended ") {
		t.Errorf("took %v, ended with %s", took, tr.outcome(t))
	}
}

func TestTurnLimitAfterTheAnswerIsATimeout(t *testing.T) {
	b := permitted(t, asking("r1", "Bash", "{}"), "hear", "hang")
	b.person, b.profile.Timeout = says(event.Allow, nil), time.Second
	tr := b.play(t)
	tr.must(t, "asks person r1 Bash {}", heard("r1", `"behavior":"allow"`),
		"failure timeout: The agent did not finish within its time limit and was stopped.")
}

func TestCancelWhileAPersonIsAskedIsACancel(t *testing.T) {
	b := permitted(t, asking("r1", "Bash", "{}"), "hang")
	b.stopAt = "asks person r1 Bash {}"
	tr := b.play(t)
	tr.must(t, "asks person r1 Bash {}")
	if got := tr.outcome(t); got != `run.cancelled {"external_stop_confirmed":true}` {
		t.Error(got)
	}
}
