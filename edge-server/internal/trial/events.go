package trial

import (
	"encoding/json"
	"io"
	"path/filepath"

	"github.com/switchyard-dev/switchyard/edge-server/internal/process"
	"github.com/switchyard-dev/switchyard/edge-server/internal/profile"
	"github.com/switchyard-dev/switchyard/edge-server/internal/runtime"
	"github.com/switchyard-dev/switchyard/edge-server/internal/runtime/events"
	"github.com/switchyard-dev/switchyard/edge-server/internal/workspace"
	"github.com/switchyard-dev/switchyard/shared/bridge"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/run"
)

// eventsDialogue is the adapter of the events runtime, with files looked at instead of kept.
type eventsDialogue struct {
	inner   runtime.Dialogue
	files   *Files
	session string
	usage   json.RawMessage
	spoken  bool
}

func newEventsDialogue(turn bridge.Turn, p profile.Profile) (dialogue, error) {
	files := NewFiles("")
	inner, err := events.Adapter{}.Open(runtime.Turn{
		Message: turn.Message, SessionID: turn.SessionID, SessionName: turn.SessionName, Streaming: p.Streaming, Permission: turn.Permission,
		Artifacts: files, ClientTools: turn.ClientTools, Controls: p.Controls, Compact: turn.Compact, Thinking: turn.ThinkingLevel,
	})
	if err != nil {
		return nil, err
	}
	return &eventsDialogue{inner: inner, files: files}, nil
}

func (d *eventsDialogue) workIn(dir string) { d.files.dir = dir }

func (d *eventsDialogue) begin() reaction { return d.reaction(d.inner.Begin()) }

func (d *eventsDialogue) line(text []byte) reaction { return d.reaction(d.inner.Line(text)) }

func (d *eventsDialogue) reaction(r runtime.Reaction) reaction {
	d.listen(r.Events)
	out := reaction{said: r.Events, ignored: r.Ignored, warnings: r.Warnings, reply: r.Reply, closeInput: r.CloseInput}
	for _, a := range r.Asks {
		switch a.Kind {
		case "":
			out.ask = append(out.ask, bridge.PermissionRequest{
				RequestID: a.ID, ToolName: a.Tool, Input: a.Input, Description: a.Description, ToolUseID: a.ToolCall,
			})
		case event.PromptClientTool:
			out.calls = append(out.calls, a)
		default:
			out.prompts = append(out.prompts, a)
		}
	}
	return out
}

// listen picks up what belongs into the result.
func (d *eventsDialogue) listen(said []run.AgentEvent) {
	for _, e := range said {
		switch e := e.(type) {
		case run.Delta:
			d.spoken = d.spoken || e.Channel == run.Output && e.Text != "" && run.ScopeID(e.Agent) == ""
		case run.Fact:
			switch p := e.Payload.(type) {
			case event.SessionInitPayload:
				if d.session == "" {
					d.session = p.AgentSessionID
				}
			case event.AgentResultPayload:
				d.usage = p.Usage
			}
		}
	}
}

// end gives the events runtime the exit codes of S4: 124, then 1 for an error of the agent's own, then that of the process.
func (d *eventsDialogue) end(exit process.Exit, timedOut bool) ([]run.AgentEvent, Result) {
	said, _ := d.inner.End(runtime.End{
		Code: exit.Code, TimedOut: timedOut, Cancelled: exit.Stopped && !timedOut, Gone: exit.Gone, Stderr: exit.Stderr,
	})
	d.listen(said)
	result := Result{SessionID: d.session, Usage: d.usage}
	var shown []run.AgentEvent
	for _, e := range said {
		switch e := e.(type) {
		case run.Failure:
			result.Code, result.Message, result.ExitCode = e.Code, e.Message, failureCode(e.Code, exit.Code)
		case run.Done:
			if !d.spoken && e.Answer != "" {
				shown = append(shown, e)
			}
		default:
			shown = append(shown, e)
		}
	}
	return shown, result
}

func failureCode(code fault.Code, process int) int {
	switch {
	case code == fault.Timeout:
		return bridge.ExitTimeout
	case code == fault.AgentExited && process != bridge.ExitOK:
		return process
	}
	return bridge.ExitError
}

// Files looks at the files that an agent hands out as the edge does, and keeps nothing: a runtime.Artifacts. Make one with NewFiles.
type Files struct{ dir string }

// NewFiles returns the Files of an agent that works in dir.
func NewFiles(dir string) *Files { return &Files{dir: dir} }

// KeepFile looks at a file of the agent's folder.
func (f *Files) KeepFile(path, name, contentType string) (run.Artifact, error) {
	file, err := workspace.OpenFile(f.dir, path)
	if err != nil {
		return run.Artifact{}, err
	}
	defer file.Close()
	size, err := io.Copy(io.Discard, file)
	if err != nil {
		return run.Artifact{}, fault.Wrap(err, fault.InvalidRequest, "%.200q cannot be read.", path)
	}
	if name == "" {
		name = filepath.Base(path)
	}
	return artifact(name, contentType, size), nil
}

// KeepContent takes any content.
func (f *Files) KeepContent(content []byte, name, contentType string) (run.Artifact, error) {
	return artifact(name, contentType, int64(len(content))), nil
}

func artifact(name, contentType string, size int64) run.Artifact {
	return run.Artifact{ArtifactCreatedPayload: event.ArtifactCreatedPayload{Filename: name, ContentType: contentType, Size: size}}
}
