package event

import "strings"

// reservedRows are the other names of S2's catalogue and S3's runtime inventory. Nothing here writes them yet; an edge may, and they are
// stored opaque.
func reservedRows() []Row {
	groups := []struct {
		meaning string
		names   []Type
	}{
		{"Calls of the model, one level below what an agent says.", []Type{
			"model.call.started", "model.call.completed", "model.call.failed",
		}},
		{"Tools and files.", []Type{
			"run.agent.mcp_tool_call", "run.agent.file_change", "run.agent.tool_rejected",
		}},
		{"Context and runtime.", []Type{
			"run.agent.cli_invocation_plan", "run.agent.context_usage",
		}},
		{"Tasks and hooks.", []Type{
			"run.agent.task_dispatched", "run.agent.task_dispatch_failed", "run.agent.hook_started", "run.agent.hook_progress",
			"run.agent.hook_response",
		}},
		{"Things the agent shows.", []Type{
			"run.agent.surfaced_artifact", "run.agent.surfaced_preview", "run.agent.surfaced_diff", "run.agent.surfaced_deploy",
		}},
	}
	var rows []Row
	for _, g := range groups {
		for _, name := range g.names {
			rows = append(rows, Row{Stored: name, Reserved: true, Meaning: g.meaning})
		}
	}
	return rows
}

// Family is a group of names, by what they are about (S3).
type Family struct {
	Name  string
	Names []string // of the edge plane, or of Hub frames
	Where string   // one sentence: who has them
}

// Families returns S3's families with their representative names; the last one is the rest of its inventory.
func Families() []Family {
	families := []Family{
		{"Conversations and projects", []string{
			"project.created", "thread.created", "message.created", "item.created", "thread.pin.created",
		}, "Edge store. Of these only item.created is in a run's log."},
		{"Run lifecycle", []string{
			"run.queued", "run.checkpoint", "run.started", "run.output.batch", "run.finished", "run.failed", "run.cancelled",
		}, "Run log."},
		{"Runtime adapter", []string{
			"run.agent.text_delta", "run.agent.thinking", "run.agent.tool_call", "run.agent.tool_result", "run.agent.file_change",
			"run.agent.permission_requested", "run.agent.permission_decided", "run.agent.result",
		}, "Run log."},
		{"Artifacts and previews", []string{"artifact.created", "preview.ready", "preview.stopped"},
			"Run log for artifacts; previews are edge only."},
		{"Hub conversations", []string{
			"auth.ok", "message.new", "message.recall", "message.reaction_added", "session.created", "device.online",
		}, "Hub frames, below."},
		{"Hub agents and teams", []string{
			"agent.dispatch", "agent.stream", "agent.done", "agent.control", "team.run.started", "team.event", "team.subagent.stream",
		}, "Hub frames, below."},
		{"Edge common", []string{"error", "system.gap"}, "Edge stream only; never stored."},
	}
	return append(families, Family{"Runtime inventory", restOfInventory(families), "Run log; some are reserved."})
}

// restOfInventory is every `run.agent.*` name that no family has named.
func restOfInventory(families []Family) []string {
	named := map[string]bool{}
	for _, f := range families {
		for _, name := range f.Names {
			named[name] = true
		}
	}
	var rest []string
	for _, r := range Rows() {
		if name := string(r.Wire); strings.HasPrefix(name, "run.agent.") && !named[name] {
			named[name] = true
			rest = append(rest, name)
		}
	}
	return rest
}
