package runtime_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/edge-server/internal/process"
	"github.com/switchyard-dev/switchyard/edge-server/internal/profile"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// dialect is how an agent says the same things in the protocol of one runtime.
type dialect struct {
	*testing.T // of the part of the contract that runs

	name     string
	runtime  profile.Runtime
	text     func(string) string
	thought  func(string) string
	success  string
	answer   func(string) string // success with the whole answer
	failure  func(string) string
	session  func(string) string
	failCode fault.Code
}

func dialects() []dialect {
	say := func(format string) func(string) string {
		return func(text string) string { return "say:" + fmt.Sprintf(format, text) }
	}
	return []dialect{
		{
			name: "bridge", runtime: profile.Bridge, text: say(`{"type":"partial","text":%q}`), thought: say(`{"type":"partial","role":"thinking","text":%q}`),
			success: `say:{"type":"result","text":""}`, answer: say(`{"type":"result","text":%q}`), failure: say(`{"type":"error","message":%q}`),
			session: say(`{"type":"partial","text":"","session_id":%q}`), failCode: fault.AgentError,
		},
		{
			name: "events", runtime: profile.Events, text: say(`{"type":"delta","content":%q}`), thought: say(`{"type":"run.agent.thinking","payload":{"delta":%q}}`),
			success: `say:{"type":"done"}`, answer: say(`{"type":"done","answer":%q}`), failure: say(`{"type":"error","error_code":"rate_limit","error_message":%q}`),
			session: say(`{"type":"session_init","session_id":%q}`), failCode: "rate_limit",
		},
		{
			name: "events in the words of bridge", runtime: profile.Events,
			text: say(`{"type":"partial","text":%q}`), thought: say(`{"type":"partial","role":"thinking","text":%q}`),
			success: `say:{"type":"result","text":""}`, answer: say(`{"type":"result","text":%q}`), failure: say(`{"type":"error","message":%q}`),
			session: say(`{"type":"partial","text":"","session_id":%q}`), failCode: fault.AgentError,
		},
	}
}

// each runs one part of the contract over every runtime.
func each(t *testing.T, part func(d dialect)) {
	t.Helper()
	for _, d := range dialects() {
		t.Run(d.name, func(t *testing.T) {
			d.T = t
			part(d)
		})
	}
}

func (tr transcript) must(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(tr.lines, want) {
		t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(tr.lines, "\n\t"), strings.Join(want, "\n\t"))
	}
	if !tr.exit.Gone {
		t.Error("the process tree is not known to be gone")
	}
}

// mustEnd is must for the last lines.
func (tr transcript) mustEnd(t *testing.T, want ...string) {
	t.Helper()
	tr.lines = tr.lines[max(0, len(tr.lines)-len(want)):]
	tr.must(t, want...)
}

func TestTextReasoningAndSuccessArriveInOrder(t *testing.T) {
	each(t, func(d dialect) {
		newBench(d.T, d.runtime, d.thought("hm"), d.text("one "), d.text("two"), d.thought("so"), d.success).play(d.T).
			must(d.T, "thought hm", "text one ", "text two", "thought so", "done ")
	})
}

func TestAnswerThatWasNotStreamedIsInDone(t *testing.T) {
	each(t, func(d dialect) {
		newBench(d.T, d.runtime, d.answer("all of it")).play(d.T).must(d.T, "done all of it")
	})
}

func TestTurnLineSaysWhatTheAgentIsAsked(t *testing.T) {
	each(t, func(d dialect) {
		b := newBench(d.T, d.runtime, "drain", "stderr:$TURN", d.success)
		b.prompt, b.session = "what's <new>?\nand “old”", "cli-1"
		b.play(d.T).must(d.T, `fact run.output.batch {"stream":"stderr","lines":["{\"type\":\"turn\",\"message\":\"what's <new>?\\nand “old”\",`+
			`\"session_id\":\"cli-1\",\"session_name\":\"demo\",\"protocol_version\":\"0.4\"}"]}`, "done ")
	})
}

func TestEmptyPromptStartsNothing(t *testing.T) {
	each(t, func(d dialect) {
		b := newBench(d.T, d.runtime, d.success)
		b.prompt = ""
		if _, err := b.executor(d.T).Start(d.Context(), b.job()); fault.CodeOf(err) != fault.EmptyPrompt {
			d.Error(err)
		}
	})
}

func TestAttachmentsAreContentAndPartOfTheTurnLine(t *testing.T) {
	each(t, func(d dialect) {
		b := newBench(d.T, d.runtime, "drain", "stderr:$TURN", d.success)
		b.prompt, b.files = "", []wire.Attachment{
			{Kind: "image", URL: "https://example.org/a.png", Filename: "a.png", MIMEType: "image/png", Size: 3}, {Kind: "file", URL: "data:,x"},
		}
		b.play(d.T).must(d.T, `fact run.output.batch {"stream":"stderr","lines":["{\"type\":\"turn\",\"message\":\"\",\"session_id\":\"\",`+
			`\"session_name\":\"demo\",\"attachments\":[{\"kind\":\"image\",\"url\":\"https://example.org/a.png\",\"filename\":\"a.png\",`+
			`\"mime_type\":\"image/png\",\"size\":3},{\"kind\":\"file\",\"url\":\"data:,x\"}],\"protocol_version\":\"0.4\"}"]}`, "done ")
	})
}

// The bridge protocol stays as it is (R17).
func TestHowAPersonWantsItDoneIsPartOfTheTurnLineOfEventsAlone(t *testing.T) {
	each(t, func(d dialect) {
		b := newBench(d.T, d.runtime, "drain", "stderr:$TURN", d.success)
		b.manner = wire.Manner{CoordinatorMode: "plan", PlanConfirmation: "required"}
		manner := ""
		if d.runtime == profile.Events {
			manner = `\"coordinator_mode\":\"plan\",\"plan_confirmation\":\"required\",`
		}
		b.play(d.T).must(d.T, `fact run.output.batch {"stream":"stderr","lines":["{\"type\":\"turn\",\"message\":\"hello\",\"session_id\":\"\",`+
			`\"session_name\":\"demo\",`+manner+`\"protocol_version\":\"0.4\"}"]}`, "done ")
	})
}

func TestAnswerToAnAgentThatAskedNothingIsRefused(t *testing.T) {
	each(t, func(d dialect) {
		b := newBench(d.T, d.runtime, d.text("x"), d.success)
		b.profile.Permission = true
		tr := b.play(d.T)
		if err := tr.answer(wire.Answer{RequestID: id.NewRequest(), Decision: event.Allow}); fault.CodeOf(err) != fault.NotFound {
			d.Error(err)
		}
	})
}

func TestSessionIDIsReportedEvenIfTheTurnFails(t *testing.T) {
	each(t, func(d dialect) {
		newBench(d.T, d.runtime, d.session("cli-9"), d.failure("no luck")).play(d.T).must(d.T,
			`fact run.agent.session_init {"agent_session_id":"cli-9"}`, fmt.Sprintf("failure %s: no luck", d.failCode))
	})
}

func TestErrorFailsTheTurnEvenOnExitZeroAndEndsTheAnswer(t *testing.T) {
	each(t, func(d dialect) {
		tr := newBench(d.T, d.runtime, d.text("half"), d.failure("no luck"), d.text("more"), d.answer("whole"), "exit:7").play(d.T)
		last := tr.lines[len(tr.lines)-1]
		if tr.lines[0] != "text half" || last != fmt.Sprintf("failure %s: no luck", d.failCode) {
			d.Errorf("%q", tr.lines)
		}
		for _, line := range tr.lines {
			if line == "text more" || strings.HasPrefix(line, "done") {
				d.Errorf("said after the error: %q", line)
			}
		}
	})
}

func TestExitCodeFailsTheTurnAfterASuccess(t *testing.T) {
	each(t, func(d dialect) {
		newBench(d.T, d.runtime, d.text("x"), d.success, "stderr:boom", "exit:3").play(d.T).must(d.T,
			"text x", `fact run.output.batch {"stream":"stderr","lines":["boom"]}`,
			"failure agent_exited: The agent ended with exit code 3 and did not say why; what it wrote to stderr may tell more.")
	})
}

func TestAgentThatExitsAtOnce(t *testing.T) {
	each(t, func(d dialect) {
		want := "done " // S4: no result, no partial, exit 0 is success with an empty body
		if d.runtime == profile.Events {
			want = "failure agent_exited: The agent ended without saying that it was done."
		}
		newBench(d.T, d.runtime).play(d.T).must(d.T, want)
	})
}

func TestGarbageIsKeptAsOutputAndDisturbsNothing(t *testing.T) {
	each(t, func(d dialect) {
		newBench(d.T, d.runtime, "say:hello?", "say:\xff$NUL {", d.text("x"), `say:{"type":"novel"}`, "say:", "say:[1]", d.success).play(d.T).must(d.T,
			`fact run.output.batch {"stream":"stdout","lines":["hello?","\ufffd\u0000 {"]}`, "text x",
			`fact run.output.batch {"stream":"stdout","lines":["{\"type\":\"novel\"}","[1]"]}`, "done ")
	})
}

func TestHugeLineIsKeptInPartAndTheStreamGoesOn(t *testing.T) {
	each(t, func(d dialect) {
		tr := newBench(d.T, d.runtime, fmt.Sprintf("big:%d", process.MaxLine+100), d.text("after"), d.success).play(d.T)
		if len(tr.lines) != 3 || tr.lines[1] != "text after" || tr.lines[2] != "done " || len(tr.lines[0]) > 8<<10 {
			d.Fatalf("%d lines, the first of %d bytes", len(tr.lines), len(tr.lines[0]))
		}
		if !strings.Contains(tr.lines[0], "bytes cut]") {
			d.Errorf("no marker: %s", tr.lines[0][len(tr.lines[0])-100:])
		}
	})
}

func TestCancelStopsTheAgentAndKeepsItsLastWords(t *testing.T) {
	each(t, func(d dialect) {
		last := strings.TrimPrefix(d.text("bye"), "say:")
		b := newBench(d.T, d.runtime, d.text("ready"), "on-term:"+last, "exit:143")
		b.profile.Grace, b.stopAt = time.Minute, "text ready"
		b.play(d.T).must(d.T, "text ready", "text bye")
	})
}

func TestCancelOfAnAgentThatIgnoresItEndsAfterTheGracePeriod(t *testing.T) {
	each(t, func(d dialect) {
		b := newBench(d.T, d.runtime, "ignore-term", d.text("ready"), "hang")
		b.stopAt = "text ready"
		b.play(d.T).must(d.T, "text ready")
	})
}

func TestTurnLimitCountsBeforeTheAgentsOwnError(t *testing.T) {
	each(t, func(d dialect) {
		b := newBench(d.T, d.runtime, d.failure("no luck"), "hang")
		b.profile.Timeout = 300 * time.Millisecond
		b.play(d.T).must(d.T, "failure timeout: The agent did not finish within its time limit and was stopped.")
	})
}

func TestSuccessWithinTheLimitIsNoTimeout(t *testing.T) {
	each(t, func(d dialect) {
		b := newBench(d.T, d.runtime, d.answer("x"))
		b.profile.Timeout = time.Minute
		b.play(d.T).must(d.T, "done x")
	})
}

func TestAgentThatCannotBeStartedIsAFaultThatSaysWhatToDo(t *testing.T) {
	each(t, func(d dialect) {
		b := newBench(d.T, d.runtime)
		b.profile.Command = "no-such-agent"
		_, err := b.executor(d.T).Start(d.Context(), b.job())
		if fault.CodeOf(err) != fault.StartFailed || !strings.Contains(fault.Public(err).Detail, "no-such-agent") {
			d.Error(err)
		}
		unknown := b.job()
		unknown.Profile = "nobody"
		if _, err := b.executor(d.T).Start(d.Context(), unknown); fault.CodeOf(err) != fault.ProfileUnknown {
			d.Error(err)
		}
	})
}

func TestSecretsOfTheProfileNeverReachTheLog(t *testing.T) {
	each(t, func(d dialect) {
		b := newBench(d.T, d.runtime, d.text("key sk-li"), d.text("ve-4f9a"), d.text("0c77 end"), "environment:API_KEY",
			"say:raw sk-live-4f9a0c77 sye_of-the-edge", d.failure("bad key sk-live-4f9a0c77"))
		b.profile.Env["API_KEY"] = "${REAL_KEY}"
		b.env = map[string]string{"REAL_KEY": "sk-live-4f9a0c77"}
		tr := b.play(d.T)
		all := strings.Join(tr.lines, "\n")
		if strings.Contains(all, "4f9a0c77") || strings.Contains(all, "ve-4f9a") || strings.Contains(all, "sye_") || strings.Count(all, "[redacted]") != 5 {
			d.Errorf("said:\n%s", all)
		}
	})
}

func TestWorkspaceIsPrivateUnlessTheProfileNamesOne(t *testing.T) {
	each(t, func(d dialect) {
		b := newBench(d.T, d.runtime, d.success)
		b.play(d.T)
		if info, err := os.Stat(b.dir); err != nil || info.Mode().Perm() != 0o700 {
			d.Errorf("%s: %v, %v", b.dir, info, err)
		}
		b.profile.Cwd = "."
		b.play(d.T)
		if b.dir != b.profile.Dir {
			d.Errorf("works in %s", b.dir)
		}
		b.profile.Cwd, b.repo = "", filepath.Dir(b.profile.Dir)
		b.play(d.T)
		if b.dir == b.repo {
			d.Error("any agent got the repository of the edge")
		}
	})
}

func TestRefusedEventsAreThrownAwayAndTheAgentStillEnds(t *testing.T) {
	each(t, func(d dialect) {
		b := newBench(d.T, d.runtime, d.text("a"), d.text("b"), d.success)
		p, err := b.executor(d.T).Start(d.Context(), b.job())
		if err != nil {
			d.Fatal(err)
		}
		calls := 0
		exit := p.Follow(d.Context(), func(run.AgentEvent) error { calls++; return errors.New("full") })
		if calls != 1 || !exit.Gone {
			d.Errorf("%d calls, %+v", calls, exit)
		}
	})
}
