package events

import (
	"encoding/json"

	"github.com/switchyard-dev/switchyard/edge-server/internal/runtime"
	"github.com/switchyard-dev/switchyard/shared/agentline"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/run"
)

// artifactTool is the name under which a file that could not be kept shows in the log.
const artifactTool = "artifact"

// artifact stores a file. One that cannot be stored does not end the run: the log shows it as a tool that failed, with the reason.
func (d *dialogue) artifact(l agentline.Line) runtime.Reaction {
	f := *l.Artifact
	kept, err := d.keep(f)
	if err == nil {
		kept.Description, kept.Role, kept.ToolCallID, kept.AgentID = f.Description, f.Role, l.ToolCallID, l.AgentID
		return say(kept)
	}
	why := fault.Public(err)
	name := f.Filename
	if name == "" {
		name = f.Path
	}
	args, encodeErr := event.Encode(map[string]string{"filename": name})
	if encodeErr != nil {
		args = json.RawMessage(`{}`)
	}
	return runtime.Reaction{
		Warnings: []string{"artifact_refused"},
		Events: []run.AgentEvent{
			run.ToolCall{Name: artifactTool, Args: args, Agent: l.AgentID},
			run.ToolResult{Name: artifactTool, Error: &event.ErrorObj{Code: why.Code, Message: why.Detail}, Agent: l.AgentID},
		},
	}
}

func (d *dialogue) keep(f agentline.File) (run.Artifact, error) {
	switch {
	case f.Path != "":
		return d.artifacts.KeepFile(f.Path, f.Filename, f.ContentType)
	case f.Content != nil:
		return d.artifacts.KeepContent([]byte(*f.Content), f.Filename, f.ContentType)
	}
	return d.artifacts.KeepContent(f.ContentBase64, f.Filename, f.ContentType)
}
