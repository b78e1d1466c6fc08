package events

import (
	"github.com/switchyard-dev/switchyard/edge-server/internal/runtime"
	"github.com/switchyard-dev/switchyard/shared/agentline"
	"github.com/switchyard-dev/switchyard/shared/bridge"
	"github.com/switchyard-dev/switchyard/shared/event"
)

// maxPrompts bounds what a turn remembers of its prompts, as the bridge protocol does for permissions.
const maxPrompts = 4096

// prompt passes a prompt on. Like a permission it never leaves the agent waiting for nothing: what cannot be shown is answered at once.
func (d *dialogue) prompt(l agentline.Line) runtime.Reaction {
	switch {
	case !d.asks:
		return warn(bridge.ReasonPermissionOff)
	case d.asked[l.RequestID]:
		return warn(bridge.ReasonRepeatedRequest)
	case len(d.asked) == maxPrompts:
		return d.refuse(l, bridge.ReasonManyRequests, "The turn has asked too often.")
	}
	d.asked[l.RequestID] = true
	if err := l.CheckPrompt(); err != nil {
		return d.refuse(l, bridge.ReasonBadRequest, "The prompt was malformed: "+err.Error()+".")
	}
	return runtime.Reaction{Asks: []runtime.Ask{{ID: l.RequestID, Kind: l.Kind, Inner: l.Inner, TimeoutMS: l.TimeoutMS, Agent: l.AgentID}}}
}

func warn(reason bridge.Reason) runtime.Reaction {
	return runtime.Reaction{Warnings: []string{string(reason)}}
}

func (d *dialogue) refuse(l agentline.Line, reason bridge.Reason, message string) runtime.Reaction {
	refusal := agentline.Response{RequestID: l.RequestID, Decision: event.Deny, Reason: message}
	if l.Kind == event.PromptStepDecision {
		refusal.Decision = event.GiveUp
	}
	r := reply(refusal.Encode())
	r.Warnings = append(r.Warnings, string(reason))
	return r
}

// Answer writes the answer to a prompt, to a permission in words of the bridge protocol, or to a call of a client's tool.
func (d *dialogue) Answer(a runtime.Answer) runtime.Reaction {
	switch a.Kind {
	case "":
		return reply(a.ToPermission().Encode())
	case event.PromptClientTool:
		return reply(agentline.NewCallResult(a.ID, a.Tool, a.Result).Encode())
	}
	return reply(agentline.Response{RequestID: a.ID, Decision: a.Decision, Response: a.Response, Reason: a.Message}.Encode())
}

func reply(line []byte, err error) runtime.Reaction {
	if err != nil {
		return warn(bridge.ReasonBadRequest)
	}
	return runtime.Reaction{Reply: line}
}
