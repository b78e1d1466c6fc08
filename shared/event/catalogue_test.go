package event_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/event"
)

func TestNamesOfLogAndWire(t *testing.T) {
	for _, c := range []struct {
		stored  event.Type
		wire    event.WireType
		payload string
	}{
		{event.MessageStarted, "item.created", `{}`},
		{event.MessageDelta, "run.agent.text_delta", `{}`},
		{event.MessageDone, "run.agent.text_block", `{}`},
		{event.ToolStarted, "run.agent.tool_call", `{}`},
		{event.ToolCompleted, "run.agent.tool_result", `{"tool_call_id":"a","result":{"error":"inside"}}`},
		{event.ToolFailed, "run.agent.tool_result", `{"tool_call_id":"a","error":{"code":"x"}}`},
		{event.ToolFailed, "run.agent.tool_result", `{"error":null}`},
		{event.ToolCompleted, "run.agent.tool_result", `not json`},
		{event.RunCompleted, "run.finished", `{}`},
		{event.PromptRequested, "run.agent.permission_requested", `{}`},
		{event.PromptAnswered, "run.agent.permission_decided", `{}`},
		{event.PromptDelivered, "run.prompt.delivered", `{}`},
		{event.RunProcessEnded, "run.process_ended", `{}`},
		{event.RunStarted, "run.started", `{}`},
		{"vendor.thing", "vendor.thing", `{}`},
	} {
		if got := event.Stored(c.wire, []byte(c.payload)); got != c.stored {
			t.Errorf("%s %s is stored as %s, want %s", c.wire, c.payload, got, c.stored)
		}
		if got := event.Wire(c.stored); got != c.wire {
			t.Errorf("%s is %s on the wire, want %s", c.stored, got, c.wire)
		}
	}
}

func TestStepsOfAPromptAreNamedByItsKind(t *testing.T) {
	for _, c := range []struct {
		stored  event.Type
		payload string
		wire    event.WireType
	}{
		{event.PromptRequested, `{"kind":"permission"}`, "run.agent.permission_requested"},
		{event.PromptRequested, `{"kind":"plan_review"}`, "run.agent.plan_proposed"},
		{event.PromptRequested, `{"kind":"question"}`, "run.prompt.requested"},
		{event.PromptRequested, `no json`, "run.agent.permission_requested"},
		{event.PromptAnswered, `{"decision":"allow"}`, "run.agent.permission_decided"},
		{event.PromptAnswered, `{"kind":"plan_review","decision":"allow"}`, "run.agent.plan_approved"},
		{event.PromptAnswered, `{"kind":"plan_review","decision":"deny"}`, "run.agent.plan_rejected"},
		{event.PromptAnswered, `{"kind":"step_decision","decision":"retry"}`, "run.prompt.answered"},
		{event.PromptExpired, `{}`, "run.prompt.expired"},
		{event.PromptExpired, `{"kind":"plan_review"}`, "run.agent.plan_expired"},
		{event.RunStarted, `{"kind":"plan_review"}`, "run.started"},
	} {
		got := event.WireOf(c.stored, []byte(c.payload))
		if got != c.wire {
			t.Errorf("%s %s is %s on the wire, want %s", c.stored, c.payload, got, c.wire)
		}
		if back := event.Stored(got, []byte(c.payload)); back != c.stored {
			t.Errorf("%s is stored as %s, want %s", got, back, c.stored)
		}
		if !slices.Contains(append(event.OtherWires(c.stored), event.Wire(c.stored)), got) {
			t.Errorf("%s is not listed as a name of %s", got, c.stored)
		}
	}
}

func TestEveryRowFindsItsWayBack(t *testing.T) {
	seen := map[event.Type]bool{}
	for _, r := range event.Rows() {
		if seen[r.Stored] || r.Meaning == "" || r.By == 0 || r.Legal == 0 || (r.Producer == "") != r.Reserved || !event.WellFormed(string(r.Stored)) || !event.WellFormed(string(r.Wire)) {
			t.Errorf("double or incomplete: %+v", r)
		}
		seen[r.Stored] = true
		if got, ok := event.ByStored(r.Stored); !ok || got != r {
			t.Errorf("ByStored(%s) = %+v", r.Stored, got)
		}
		if !slices.Contains(event.ByWire(r.Wire), r) {
			t.Errorf("ByWire(%s) lacks %s", r.Wire, r.Stored)
		}
		if r.Stored != event.ToolFailed && event.Stored(r.Wire, []byte(`{}`)) != r.Stored {
			t.Errorf("%s does not come back from %s", r.Stored, r.Wire)
		}
	}
	if len(event.ByWire("run.agent.tool_result")) != 2 {
		t.Error("a tool result is one wire name for two events")
	}
	if _, ok := event.ByStored("vendor.thing"); ok || event.ByWire("vendor.thing") != nil {
		t.Error("an unknown name is in the catalogue")
	}
}

func TestCatalogueHasTheWholeInventoryOfS3(t *testing.T) {
	inventory := `text_delta text_block thinking session_init session_state_changed status_change result
		tool_call mcp_tool_call tool_result file_change tool_use_summary tool_rejected permission_requested permission_decided
		route_decision compact_boundary api_retry auth_status rate_limit cli_invocation_plan session_metrics context_usage context_warning
		context_compaction task_started task_dispatched task_dispatch_failed task_progress task_notification sub_agent_status
		sub_agents_complete hook_started hook_progress hook_response plan_proposed plan_approved plan_rejected plan_expired
		surfaced_artifact surfaced_preview surfaced_diff surfaced_deploy`
	for _, name := range strings.Fields(inventory) {
		if len(event.ByWire(event.WireType("run.agent."+name))) == 0 {
			t.Errorf("run.agent.%s is missing", name)
		}
	}
}

// The canonical names of S2 with what was published beside it, but for the two that the message which triggers a run stands for (R24).
func TestCatalogueHasTheWholeInventoryOfS2(t *testing.T) {
	inventory := `run.started message.started message.delta message.completed model.call.started model.call.completed model.call.failed
		tool.call.started tool.call.completed tool.call.failed artifact.created run.cancelling run.completed run.failed run.cancelled
		run.interrupted`
	for _, name := range strings.Fields(inventory) {
		if _, ok := event.ByStored(event.Type(name)); !ok {
			t.Errorf("%s is missing", name)
		}
	}
}

// Every name of a family is an event, a frame, or one of the edge's own stream, which this version has no log of.
func TestFamiliesNameNothingThatIsNotThere(t *testing.T) {
	edgeOnly := strings.Fields("project.created thread.created message.created thread.pin.created preview.ready preview.stopped error system.gap")
	frames := map[string]bool{}
	for _, f := range event.Frames() {
		frames[string(f.Type)] = true
	}
	seen := map[string]bool{}
	for _, f := range event.Families() {
		for _, name := range f.Names {
			if len(event.ByWire(event.WireType(name))) == 0 && !frames[name] && !slices.Contains(edgeOnly, name) {
				t.Errorf("%s: %s is nowhere", f.Name, name)
			}
			if seen[name] {
				t.Errorf("%s: %s is in two families", f.Name, name)
			}
			seen[name] = true
		}
	}
	if n := len(event.Families()); n != 8 {
		t.Errorf("%d families, want 8", n)
	}
	for _, r := range event.Rows() {
		if strings.HasPrefix(string(r.Wire), "run.agent.") && !seen[string(r.Wire)] {
			t.Errorf("%s is in no family", r.Wire)
		}
	}
}

func TestWhereInARunsLifeAnEventHasItsPlace(t *testing.T) {
	for _, r := range event.Rows() {
		switch {
		case r.Legal.Has(event.Over) && !slices.Contains([]event.Type{event.RunLateOutcome, event.RunRowRefused, event.RunLogGap, event.PromptExpired}, r.Stored):
			t.Errorf("%s has its place after the end", r.Stored)
		case r.Terminal && !r.Legal.Has(event.Stopping):
			t.Errorf("%s cannot answer a cancel, but the first outcome of an edge counts", r.Stored)
		case r.Stored == event.RunCancelled && r.Legal != event.Stopping:
			t.Error("run.cancelled has its place behind run.cancelling alone")
		}
	}
	if !event.Type("vendor.thing").Legal().Has(event.Working | event.Stopping) {
		t.Error("what an agent newly says has no place while it works")
	}
}

func TestWhoMayAppend(t *testing.T) {
	hubOnly := []event.Type{event.RunCancelling, event.RunRowRefused, event.RunLogGap, event.RunLateOutcome, event.PromptExpired,
		event.RunNotice, event.RunCardOrphaned, event.RunSteered, event.SteerWithdrawn,
		event.RunImported}
	both := []event.Type{event.RunStarted, event.RunCompleted, event.RunFailed, event.RunCancelled, event.RunInterrupted, event.MessageDone, event.ToolFailed, event.PromptRequested,
		event.PromptAnswered}
	for _, r := range event.Rows() {
		edge, hub := r.By.Has(event.ByEdge), r.By.Has(event.ByHub)
		if want := !slices.Contains(hubOnly, r.Stored); edge != want {
			t.Errorf("edge may append %s: %v", r.Stored, edge)
		}
		if want := slices.Contains(hubOnly, r.Stored) || slices.Contains(both, r.Stored); hub != want {
			t.Errorf("hub may append %s: %v", r.Stored, hub)
		}
	}
	if !event.Type("vendor.thing").Appenders().Has(event.ByEdge) {
		t.Error("an edge may not append what its agent newly says")
	}
}

func TestOnlyTicksAreDroppable(t *testing.T) {
	for _, r := range event.Rows() {
		if r.Droppable && (r.Terminal || strings.HasPrefix(string(r.Stored), "message.") || strings.HasPrefix(string(r.Stored), "tool.")) {
			t.Errorf("%s must not be shed", r.Stored)
		}
	}
	for _, tick := range []event.Type{event.RunOutputBatch, event.SessionMetrics} {
		if !tick.Droppable() {
			t.Errorf("%s may be shed", tick)
		}
	}
}

func TestAnEdgeHasNothingToTellAfterATerminalOrTheEndOfItsProcess(t *testing.T) {
	for _, r := range event.Rows() {
		if want := r.Terminal || r.Stored == event.RunProcessEnded; r.Stored.LastOfEdge() != want {
			t.Errorf("%s is the last of an edge: %v", r.Stored, !want)
		}
	}
}

func TestShapeOfANewName(t *testing.T) {
	for name, want := range map[string]bool{
		"a": true, "run.agent.x-y_Z9": true, strings.Repeat("a", 96): true,
		"": false, strings.Repeat("a", 97): false, "a b": false, "a/b": false, "ä": false, "a\n": false, "a*": false, ">": false,
	} {
		if event.WellFormed(name) != want {
			t.Errorf("%.20q well formed: %v", name, !want)
		}
	}
}
