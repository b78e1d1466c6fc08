package runtime_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/edge-server/internal/profile"
	"github.com/switchyard-dev/switchyard/edge-server/internal/runtime"
	"github.com/switchyard-dev/switchyard/edge-server/internal/runtime/redact"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/run"
)

const cutSecret = "hunter2hunter2"

// spoken joins the text of a transcript as a reader of the log does.
func spoken(lines []string) string {
	var text strings.Builder
	for _, line := range lines {
		if piece, ok := strings.CutPrefix(line, "text "); ok {
			text.WriteString(piece)
		}
	}
	return text.String()
}

func TestASecretInTwoPiecesIsRedactedWhateverIsSaidBetween(t *testing.T) {
	each(t, func(d dialect) {
		between := map[string][]string{
			"nothing":            {},
			"a session id":       {d.session("s1")},
			"a line of no event": {"say:hello?"},
			"reasoning":          {d.thought("hm")},
			"half in reasoning":  {d.thought("hunter2h")},
			"a prompt":           {asking("r1", "Bash", `{"n":1}`)},
			"all of them":        {d.session("s1"), "say:hello?", d.thought("hm"), asking("r1", "Bash", `{"n":1}`)},
		}
		if d.runtime == profile.Events {
			between["a tool"] = []string{
				`say:{"type":"tool_call","tool_call_id":"1","tool_name":"search"}`, `say:{"type":"tool_result","tool_call_id":"1","tool_name":"search"}`,
			}
			between["a state"] = []string{`say:{"type":"state_change","state":"planning"}`}
			between["a fact"] = []string{`say:{"type":"run.agent.session_metrics","payload":{"n":1}}`}
			between["another block"] = []string{`say:{"type":"delta","content_index":1,"content":"."}`}
		}
		for name, lines := range between {
			d.Run(name, func(t *testing.T) {
				steps := slices.Concat([]string{d.text("key=hunter2h")}, lines, []string{d.text("unter2!"), d.success})
				b := newBench(t, d.runtime, steps...)
				b.profile.Env["KEY"] = cutSecret
				b.profile.Permission = true
				tr := b.play(t)
				if got := strings.ReplaceAll(spoken(tr.lines), "=.", "="); got != "key=[redacted]!" {
					t.Errorf("said %q:\n%s", got, strings.Join(tr.lines, "\n"))
				}
				if all := strings.Join(tr.lines, "\n"); strings.Contains(all, "unter2!") || len(tr.lines) < len(lines)+2 {
					t.Errorf("said:\n%s", all)
				}
			})
		}
	})
}

// The session id of the second piece comes before its text.
func TestASecretIsRedactedIfItsSecondPieceNamesTheSession(t *testing.T) {
	for _, rt := range []profile.Runtime{profile.Bridge, profile.Events} {
		b := newBench(t, rt, `say:{"type":"partial","text":"key=hunter2h"}`, `say:{"type":"partial","text":"unter2!","session_id":"s1"}`,
			`say:{"type":"result","text":""}`)
		b.profile.Env["KEY"] = cutSecret
		b.play(t).must(t, "text key=", `fact run.agent.session_init {"agent_session_id":"s1"}`, "text [redacted]!", "done ")
	}
}

func TestTextThatOnlyBeganLikeASecretIsWholeAtTheEnd(t *testing.T) {
	each(t, func(d dialect) {
		for _, last := range []string{d.success, d.failure("no luck"), "exit:3"} {
			b := newBench(d.T, d.runtime, d.text("key=hunt"), d.session("s1"), d.text("er2"), "say:hello?", last)
			b.profile.Env["KEY"] = cutSecret
			if tr := b.play(d.T); spoken(tr.lines) != "key=hunter2" || strings.HasPrefix(tr.lines[len(tr.lines)-1], "text ") {
				d.Errorf("said:\n%s", strings.Join(tr.lines, "\n"))
			}
		}
	})
}

// The log refuses the failure that the adapter reports, and the outcome takes its place.
func TestAFailureThatTheLogRefusedIsRedactedInTheOutcome(t *testing.T) {
	each(t, func(d dialect) {
		b := newBench(d.T, d.runtime, d.failure("bad key "+cutSecret))
		b.profile.Env["KEY"] = cutSecret
		b.refuse = func(run.AgentEvent) bool { return true }
		if got := b.play(d.T).outcome(d.T); !strings.Contains(got, "bad key [redacted]") {
			d.Error(got)
		}
	})
}

// What is said of a failure has no secret in any of its fields, those for people included.
func TestAFailureIsRedactedInAllItsFields(t *testing.T) {
	var got []run.AgentEvent
	out := runtime.NewOutlet(redact.New([]string{cutSecret}), func(e run.AgentEvent) error {
		got = append(got, e)
		return nil
	})
	why := event.ErrorObj{Code: "c " + cutSecret, Message: "m " + cutSecret, Type: "t " + cutSecret, UserMessage: "u " + cutSecret}
	out.Emit(run.ToolResult{ID: "1", Error: &why})
	want := event.ErrorObj{Code: "c " + redact.Mask, Message: "m " + redact.Mask, Type: "t " + redact.Mask, UserMessage: "u " + redact.Mask}
	if len(got) != 1 || *got[0].(run.ToolResult).Error != want {
		t.Errorf("said %+v", got)
	}
}

// An agent and its sub-agents say pieces of anything in blocks of both channels, with other things between: a message, which is its pieces joined,
// has no secret.
func TestNoOrderOfPiecesAndBlocksPutsASecretTogether(t *testing.T) {
	secrets := redact.New([]string{"abac"})
	rapid.Check(t, func(t *rapid.T) {
		messages := map[event.SubAgent]*strings.Builder{"": {}, "sub_a": {}}
		said, sent := 0, 0
		out := runtime.NewOutlet(secrets, func(e run.AgentEvent) error {
			if d, ok := e.(run.Delta); ok && d.Channel == run.Output {
				messages[d.Agent].WriteString(d.Text)
				if d.Last {
					messages[d.Agent].WriteString("|")
				}
				said += len(strings.ReplaceAll(d.Text, redact.Mask, ""))
			}
			return nil
		})
		for range rapid.IntRange(1, 200).Draw(t, "events") {
			d := run.Delta{
				Block: rapid.IntRange(0, 80).Draw(t, "block"), Text: rapid.StringMatching(`[abc]{1,4}`).Draw(t, "text"),
				Agent: rapid.SampledFrom([]event.SubAgent{"", "main", "sub_a"}).Draw(t, "agent"), Last: rapid.IntRange(0, 20).Draw(t, "last") == 0,
			}
			if rapid.Bool().Draw(t, "few blocks") {
				d.Block %= 2
			}
			out.Emit(d)
			sent += len(d.Text)
			if rapid.Bool().Draw(t, "beside") {
				out.Emit(run.Fact{Type: event.SessionInit})
				out.Emit(run.Delta{Channel: run.Thought, Text: "ab", Apart: rapid.Bool().Draw(t, "apart")})
			}
		}
		out.Emit(run.Done{})
		for agent, message := range messages {
			if strings.Contains(message.String(), "abac") || said > sent {
				t.Fatalf("%q said %q", agent, message.String())
			}
		}
	})
}

func TestTooManyBlocksThatHoldSomethingBackGiveUpTheOldest(t *testing.T) {
	var lines []string
	out := runtime.NewOutlet(redact.New([]string{cutSecret}), func(e run.AgentEvent) error {
		lines = append(lines, fmt.Sprintf("%d %s", e.(run.Delta).Block, describe(e)))
		return nil
	})
	for block := range 65 {
		out.Emit(run.Delta{Block: block, Text: "hunter2h"})
	}
	out.Emit(run.Delta{Block: 0, Text: "unter2!"})
	out.Emit(run.Delta{Block: 64, Text: "unter2!"})
	want := []string{"0 text [redacted]", "0 text unter2!", "64 text [redacted]!"}
	if !slices.Equal(lines, want) {
		t.Errorf("got %q, want %q", lines, want)
	}
}

// Reasoning that stands by itself is another text than that of the message, and stays what it is.
func TestASecretInTwoPiecesOfReasoningThatStandsByItself(t *testing.T) {
	var lines []string
	out := runtime.NewOutlet(redact.New([]string{cutSecret}), func(e run.AgentEvent) error {
		lines = append(lines, describe(e))
		return nil
	})
	out.Emit(run.Delta{Channel: run.Thought, Text: "it is hunter2h", Apart: true})
	out.Emit(run.Delta{Channel: run.Thought, Text: "hm"})
	out.Emit(run.Delta{Channel: run.Thought, Text: "unter2!", Apart: true})
	want := []string{"thought it is  (apart)", "thought hm", "thought [redacted]! (apart)"}
	if !slices.Equal(lines, want) {
		t.Errorf("got %q, want %q", lines, want)
	}
}
