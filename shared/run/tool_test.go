package run_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/run"
)

func TestToolCallsPairWithTheirResults(t *testing.T) {
	failed := &event.ErrorObj{Code: "tool_broke", Message: "no"}
	for _, c := range []struct {
		name   string
		events []run.AgentEvent
		want   []string // type and tool_call_id
	}{
		{"by the model's id", []run.AgentEvent{run.ToolCall{ID: "a"}, run.ToolCall{ID: "b"}, run.ToolResult{ID: "b"}, run.ToolResult{ID: "a"}},
			[]string{"started a", "started b", "completed b", "completed a"}},
		{"a lost start is made good", []run.AgentEvent{run.ToolResult{ID: "a", Name: "x"}},
			[]string{"started a", "completed a"}},
		{"a lost start of a failure is made good", []run.AgentEvent{run.ToolResult{ID: "a", Name: "x", Error: failed}},
			[]string{"started a", "failed a"}},
		{"a repeated start is ignored", []run.AgentEvent{run.ToolCall{ID: "a"}, run.ToolCall{ID: "a"}},
			[]string{"started a"}},
		{"a start after its result is ignored", []run.AgentEvent{run.ToolResult{ID: "a"}, run.ToolCall{ID: "a"}},
			[]string{"started a", "completed a"}},
		{"a repeated result is ignored", []run.AgentEvent{run.ToolCall{ID: "a"}, run.ToolResult{ID: "a"}, run.ToolResult{ID: "a", Error: failed}},
			[]string{"started a", "completed a"}},
		{"without ids by name, oldest first", []run.AgentEvent{
			run.ToolCall{Name: "x"}, run.ToolCall{Name: "y"}, run.ToolCall{Name: "x"},
			run.ToolResult{Name: "y"}, run.ToolResult{Name: "x"}, run.ToolResult{Name: "x"}},
			[]string{"started call_1", "started call_2", "started call_3", "completed call_2", "completed call_1", "completed call_3"}},
		{"without id and name the oldest", []run.AgentEvent{run.ToolCall{ID: "a"}, run.ToolCall{ID: "b"}, run.ToolResult{}},
			[]string{"started a", "started b", "completed a"}},
		{"a nameless result of nothing gets a pair of its own", []run.AgentEvent{run.ToolResult{}},
			[]string{"started call_1", "completed call_1"}},
		{"only the client ends what the client carries out", []run.AgentEvent{
			run.ToolCall{ID: "a", Name: "x", Target: event.TargetClient}, run.ToolResult{ID: "a", Name: "x"},
			run.ToolResult{ID: "a", Name: "x", Error: failed, Target: event.TargetClient}},
			[]string{"started a", "failed a"}},
		{"the client ends nothing of the agent's", []run.AgentEvent{run.ToolCall{ID: "a", Name: "x"}, run.ToolResult{ID: "a", Name: "x", Target: event.TargetClient}},
			[]string{"started a"}},
		{"without ids each side has pairs of its own", []run.AgentEvent{run.ToolCall{Name: "x", Target: event.TargetClient}, run.ToolResult{Name: "x"}},
			[]string{"started call_1", "started call_2", "completed call_2"}},
		{"a result of another name gets a pair of its own", []run.AgentEvent{run.ToolCall{ID: "a", Name: "x"}, run.ToolResult{Name: "y"}},
			[]string{"started a", "started call_1", "completed call_1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, candidate := range play(c.events...)[1:] {
				got = append(got, describe(candidate))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func describe(c run.Candidate) string {
	switch p := c.Payload.(type) {
	case event.ToolStartedPayload:
		return "started " + p.ToolCallID
	case event.ToolCompletedPayload:
		return "completed " + p.ToolCallID
	case event.ToolFailedPayload:
		return "failed " + p.ToolCallID
	}
	return string(c.Type)
}

func TestToolValuesAreMadeFitForARow(t *testing.T) {
	deep := strings.Repeat("[", 40) + strings.Repeat("]", 40)
	for _, c := range []struct{ name, args, want string }{
		{"absent", "", `{}`},
		{"an object as it is", `{"a":1.0,"b":1e400,"c":"<\u0000"}`, `{"a":1.0,"b":1e400,"c":"<\u0000"}`},
		{"any other value", ` "text" `, `"text"`},
		{"no JSON becomes its text", `{oops`, `"{oops"`},
		{"two values become their text", `1 2`, `"1 2"`},
		{"too deep becomes its text", deep, `"` + deep + `"`},
		{"broken UTF-8 is mended", "\"a\xff\"", "\"a\uFFFD\""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := play(run.ToolCall{ID: "a", Args: raw(c.args)}, run.ToolResult{ID: "a", Result: raw(c.args)})
			rows(t, got)
			if args := first[event.ToolStartedPayload](t, got, event.ToolStarted).Arguments; string(args) != c.want {
				t.Errorf("arguments %s, want %s", args, c.want)
			}
			want := c.want
			if c.args == "" {
				want = "null"
			}
			if result := first[event.ToolCompletedPayload](t, got, event.ToolCompleted).Result; string(result) != want {
				t.Errorf("result %s, want %s", result, want)
			}
		})
	}
}

func TestLongForeignIDsAreDigestedAndStillPair(t *testing.T) {
	long := strings.Repeat("x", 5000)
	got := play(run.ToolCall{ID: long + "1"}, run.ToolCall{ID: long + "2"}, run.ToolResult{ID: long + "1"})
	expect(t, got, event.RunStarted, event.ToolStarted, event.ToolStarted, event.ToolCompleted)
	started := got[1].Payload.(event.ToolStartedPayload).ToolCallID
	if ended := got[3].Payload.(event.ToolCompletedPayload).ToolCallID; ended != started || len(started) > 255 {
		t.Errorf("started %q, ended %q", started, ended)
	}
}

func TestEndlessToolsAreGivenUpOldestFirst(t *testing.T) {
	n := run.New((&counters{}).options())
	for i := range 1024 {
		n.Step(run.ToolCall{ID: fmt.Sprint(i)})
	}
	got := n.Step(run.ToolCall{ID: "one more"})
	if len(got) != 2 || describe(got[0]) != "failed 0" || describe(got[1]) != "started one more" {
		t.Errorf("got %v", types(got))
	}
}

func TestEndedToolsAreForgottenInTheEnd(t *testing.T) {
	n := run.New((&counters{}).options())
	for i := range 8193 {
		n.Step(run.ToolResult{ID: fmt.Sprint(i)})
	}
	if got := n.Step(run.ToolResult{ID: "8192"}); got != nil {
		t.Errorf("a recent repeat gave %v", types(got))
	}
	if got := n.Step(run.ToolResult{ID: "0"}); len(got) != 2 {
		t.Errorf("the oldest is still remembered: %v", types(got))
	}
}
