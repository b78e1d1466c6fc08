package chat

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/shared/agentline"
	"github.com/switchyard-dev/switchyard/shared/bridge"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// chatting is a turn that is told things while it works.
type chatting struct {
	stdin *io.PipeWriter
	lines []agentline.Line
	ended chan error
	opts  Options
	at    func(c *chatting, l agentline.Line) // for each line, before the next is written
}

// begin plays a turn in which at says what the agent is told.
func begin(t *testing.T, opts Options, turn bridge.Turn, at func(c *chatting, l agentline.Line)) []agentline.Line {
	t.Helper()
	first, err := turn.Encode()
	if err != nil {
		t.Fatal(err)
	}
	in, stdin := io.Pipe()
	out, stdout := io.Pipe()
	c := &chatting{stdin: stdin, opts: opts, ended: make(chan error, 1), at: at}
	go func() {
		err := Run(t.Context(), in, stdout, opts)
		_ = stdout.Close()
		c.ended <- err
	}()
	_, _ = stdin.Write(first)
	for scanner := bufio.NewScanner(out); scanner.Scan(); {
		l, err := agentline.Parse(scanner.Bytes())
		if err != nil {
			t.Fatalf("%s: %v", scanner.Bytes(), err)
		}
		c.lines = append(c.lines, l)
		if at != nil {
			at(c, l)
		}
	}
	_ = stdin.Close()
	if err := <-c.ended; err != nil {
		t.Error(err)
	}
	return c.lines
}

// tell writes what the agent is told, and waits until it has read it.
func (c *chatting) tell(controls ...agentline.Control) {
	for _, control := range append(controls, agentline.Control{Type: agentline.RetryNow}) { // the last one tells nothing: a pipe hands over a line when the next is read
		line, err := control.Encode()
		if err == nil {
			_, err = c.stdin.Write(line)
		}
		if err != nil {
			panic(err)
		}
	}
}

func steer(n int, text string) agentline.Control {
	return agentline.Control{Type: agentline.Steer, SteerID: id.Steer(fmt.Sprintf("steer_%016d", n)), Text: text}
}

// shown is what a turn comes to, a word for each line that matters here.
func shown(lines []agentline.Line) (all []string) {
	for _, l := range lines {
		switch event.Type(l.Type) {
		case event.RequestBegin, event.CompactionBegin, event.CompactionEnd, event.RequestEnd, event.SteerTaken:
			all = append(all, strings.TrimPrefix(string(l.Type), "run.agent."))
		}
		switch {
		case l.Type == agentline.Delta && l.Last:
			all = append(all, "|")
		case l.Type == agentline.Delta:
			all = append(all, l.Content)
		case l.Type == agentline.Done, l.Type == agentline.Error:
			all = append(all, strings.TrimSpace(string(l.Type)+" "+l.Answer+l.ErrorCode))
		}
	}
	return all
}

func said(content string) http.HandlerFunc {
	return stream(`{"choices":[{"index":0,"delta":{"content":"`+content+`"},"finish_reason":"stop"}]}`,
		`{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":2,"total_tokens":9}}`)
}

func wants(t *testing.T, lines []agentline.Line, want ...string) {
	t.Helper()
	if got := shown(lines); !slices.Equal(got, want) {
		t.Errorf("said\n%q\nwant\n%q", got, want)
	}
	for _, l := range lines {
		if l.Fact() {
			if err := event.CheckFact(event.Type(l.Type), l.Payload); err != nil {
				t.Errorf("%s %s: %v", l.Type, l.Payload, err)
			}
		}
	}
}

func TestASteerDuringTheAnswerMakesAnotherRequest(t *testing.T) {
	m := newModel(t)
	m.script = []http.HandlerFunc{said("one"), said("two"), said("three")}
	opts := m.options(t)
	lines := begin(t, opts, bridge.Turn{Message: "hi", SessionID: "s"}, func(c *chatting, l agentline.Line) {
		switch l.Content {
		case "one":
			c.tell(steer(1, "shorter"), steer(2, "in French"))
		case "two":
			c.tell(steer(3, "thanks"))
		}
	})
	wants(t, lines, "request_begin", "one", "request_end", "|", "steer_taken", "steer_taken", "request_begin", "two", "request_end", "|",
		"steer_taken", "request_begin", "three", "request_end", "done three")
	want := []message{
		{"system", "Be brief."}, {roleUser, "hi"}, {roleAssistant, "one"}, {roleUser, "[user_steering]\nshorter"}, {roleUser, "[user_steering]\nin French"},
		{roleAssistant, "two"}, {roleUser, "[user_steering]\nthanks"},
	}
	if got := m.asked[2].Messages; !slices.Equal(got, want) {
		t.Errorf("asked %+v", got)
	}
	kept, err := memoryOf(opts.Dir, "s").load()
	if err != nil || len(kept) != 7 || kept[6].Content != "three" {
		t.Errorf("kept %+v, %v", kept, err)
	}
	if usage := string(lines[len(lines)-3].Payload); !strings.Contains(usage, `"total_tokens":27`) {
		t.Errorf("the turn used %s", usage)
	}
}

func TestASteerDuringAWaitGoesWithTheNextAttemptAndEndsNoWait(t *testing.T) {
	m := newModel(t)
	m.script = []http.HandlerFunc{refuse(503, ``), said("one")}
	opts := m.options(t)
	var c *chatting
	waited := make(chan struct{})
	opts.wait = func(ctx context.Context, _ time.Duration) error {
		<-waited
		return ctx.Err()
	}
	lines := begin(t, opts, bridge.Turn{Message: "hi"}, func(now *chatting, l agentline.Line) {
		if c == nil && event.Type(l.Type) == event.RequestEnd {
			c = now
			line, _ := steer(1, "shorter").Encode()
			_, _ = c.stdin.Write(line)
			_, _ = c.stdin.Write([]byte("{}\n")) // it is heard once this is read
			close(waited)
		}
	})
	wants(t, lines, "request_begin", "request_end", "steer_taken", "request_begin", "one", "request_end", "done one")
	if got := m.asked[1].Messages; len(got) != 3 || got[2].Content != "[user_steering]\nshorter"+retriedMark {
		t.Errorf("asked %+v", got)
	}
}

func TestRetryNowEndsTheWait(t *testing.T) {
	m := newModel(t)
	m.script = []http.HandlerFunc{refuse(503, ``), refuse(503, ``), said("one")}
	opts := m.options(t)
	waiting := make(chan struct{}, 2)
	opts.wait = func(ctx context.Context, _ time.Duration) error {
		waiting <- struct{}{}
		<-ctx.Done() // no clock ends it
		return ctx.Err()
	}
	lines := begin(t, opts, bridge.Turn{Message: "hi"}, func(c *chatting, l agentline.Line) {
		if event.Type(l.Type) == event.RequestEnd && strings.Contains(string(l.Payload), "retry_in_ms") {
			<-waiting
			c.tell()
		}
	})
	wants(t, lines, "request_begin", "request_end", "request_begin", "request_end", "request_begin", "one", "request_end", "done one")
}

func TestATurnThatOnlyCompactsLeavesASummaryInPlaceOfTheConversation(t *testing.T) {
	m := newModel(t)
	m.script = []http.HandlerFunc{said("one"), said("They greeted."), said("two")}
	opts := m.options(t)
	run(t, opts, "s", "hi")
	lines := runTurn(t, opts, bridge.Turn{SessionID: "s", Compact: true})
	wants(t, lines, "compaction_begin", "request_begin", "They greeted.", "request_end", "|", "compaction_end", "done")
	if got, want := string(lines[1].Payload), `{"reason":"manual","mode":"summarize","turns":1}`; got != want {
		t.Errorf("began %s, want %s", got, want)
	}
	if asked := m.asked[1].Messages; len(asked) != 4 || asked[2].Content != "one" || asked[3].Role != roleUser {
		t.Errorf("asked %+v", asked)
	}
	run(t, opts, "s", "and now?")
	want := []message{{"system", "Be brief."}, {roleUser, "[context_summary]\nThey greeted."}, {roleUser, "and now?"}}
	if got := m.asked[2].Messages; !slices.Equal(got, want) {
		t.Errorf("went on with %+v", got)
	}
	wants(t, runTurn(t, opts, bridge.Turn{SessionID: "new", Compact: true}), "done There is nothing to summarise yet.")
}

func TestACompactionThatFailsLeavesTheConversationAsItIs(t *testing.T) {
	for name, c := range map[string]struct {
		script []http.HandlerFunc
		want   []string
		end    string
	}{
		"refused": {
			[]http.HandlerFunc{refuse(401, `{"error":{"message":"bad key"}}`)},
			[]string{"compaction_begin", "request_begin", "request_end", "compaction_end", "error permission_denied"},
			`"status":"auth"`,
		},
		"empty": {
			[]http.HandlerFunc{said("")}, []string{"compaction_begin", "request_begin", "request_end", "compaction_end", "error model_error"},
			`"status":"malformed"`,
		},
		"made again": {
			[]http.HandlerFunc{breakOff(hello), said("All.")},
			[]string{"compaction_begin", "request_begin", "Hel", "request_end", "request_begin", "All.", "request_end", "|", "compaction_end", "done"},
			`{"reason":"manual","mode":"summarize","status":"completed","attempt":2}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := newModel(t)
			opts := m.options(t)
			past := []message{{roleUser, "hi"}, {roleAssistant, "one"}}
			if err := memoryOf(opts.Dir, "s").save(past); err != nil {
				t.Fatal(err)
			}
			m.script = c.script
			lines := runTurn(t, opts, bridge.Turn{SessionID: "s", Compact: true})
			wants(t, lines, c.want...)
			if end := string(lines[slices.IndexFunc(lines, func(l agentline.Line) bool { return event.Type(l.Type) == event.CompactionEnd })].Payload); !strings.Contains(end, c.end) {
				t.Errorf("ended %s, want %s", end, c.end)
			}
			kept, err := memoryOf(opts.Dir, "s").load()
			if err != nil || slices.Equal(kept, past) != (c.want[len(c.want)-1] != "done") {
				t.Errorf("kept %+v, %v", kept, err)
			}
		})
	}
}

func TestAFullConversationIsMadeShorterByItself(t *testing.T) {
	for name, c := range map[string]struct {
		past   []message
		told   bool
		reason event.CompactionReason
	}{
		"turns":   {slices.Repeat([]message{{roleUser, "q"}, {roleAssistant, "a"}}, 99), false, event.CompactedForTurns},
		"context": {[]message{{roleUser, strings.Repeat("q", 128<<10)}, {roleAssistant, "a"}}, false, event.CompactedForContext},
		"manual":  {nil, true, event.CompactedByHand},
	} {
		t.Run(name, func(t *testing.T) {
			m := newModel(t)
			m.script = []http.HandlerFunc{said("one"), said("All of it.")}
			opts := m.options(t)
			if err := memoryOf(opts.Dir, "s").save(c.past); err != nil {
				t.Fatal(err)
			}
			lines := begin(t, opts, bridge.Turn{Message: "hi", SessionID: "s"}, func(now *chatting, l agentline.Line) {
				if c.told && l.Content == "one" {
					now.tell(agentline.Control{Type: agentline.Compact})
				}
			})
			wants(t, lines, "request_begin", "one", "request_end", "|", "compaction_begin", "request_begin", "All of it.", "request_end", "|",
				"compaction_end", "done one")
			begun := lines[slices.IndexFunc(lines, func(l agentline.Line) bool { return event.Type(l.Type) == event.CompactionBegin })]
			want := fmt.Sprintf(`{"reason":%q,"mode":"summarize","context":9,"turns":%d}`, c.reason, len(c.past)/2+1)
			if string(begun.Payload) != want {
				t.Errorf("began %s, want %s", begun.Payload, want)
			}
			kept, err := memoryOf(opts.Dir, "s").load()
			if err != nil || len(kept) != 1 || kept[0].Content != "[context_summary]\nAll of it." {
				t.Errorf("kept %d messages, %v", len(kept), err)
			}
		})
	}
}

// What could not be summarised is kept, and the answer stands.
func TestAFullConversationThatCannotBeMadeShorterIsAnsweredAllTheSame(t *testing.T) {
	m := newModel(t)
	m.script = []http.HandlerFunc{said("one"), refuse(400, `{"error":{"code":"context_length_exceeded","message":"long"}}`)}
	opts := m.options(t)
	past := []message{{roleUser, strings.Repeat("q", 128<<10)}, {roleAssistant, "a"}}
	if err := memoryOf(opts.Dir, "s").save(past); err != nil {
		t.Fatal(err)
	}
	wants(t, run(t, opts, "s", "hi"), "request_begin", "one", "request_end", "|", "compaction_begin", "request_begin", "request_end", "compaction_end", "done one")
	if kept, err := memoryOf(opts.Dir, "s").load(); err != nil || len(kept) != 4 {
		t.Errorf("kept %d messages, %v", len(kept), err)
	}
}

func TestThinkingLevelIsTheReasoningEffort(t *testing.T) {
	m := newModel(t, `{"content":"x"}`)
	for level, want := range map[string]string{"": "", "none": "none", "high": "high", "max": "xhigh"} {
		runTurn(t, m.options(t), bridge.Turn{Message: "hi", ThinkingLevel: wire.ThinkingLevel(level)})
		if got := m.asked[len(m.asked)-1].Effort; got != want {
			t.Errorf("%q became %q", level, got)
		}
	}
}
