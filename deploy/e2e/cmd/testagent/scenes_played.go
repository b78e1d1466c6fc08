package main

import (
	"encoding/json"
	"fmt"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/play"
	"github.com/switchyard-dev/switchyard/shared/agentline"
	"github.com/switchyard-dev/switchyard/shared/event"
)

// player plays a part that the message holds.
type player struct {
	*stage
	voices map[string]*agentline.Writer // of sub-agents, by name
	denied map[string]bool              // calls that a person has said no to
	asked  int
}

// part is the scene of a part.
func part(p play.Part) scene {
	return scene{name: "part", play: func(s *stage) error {
		player := &player{stage: s, voices: map[string]*agentline.Writer{}, denied: map[string]bool{}}
		for _, act := range p {
			if err := player.act(act); err != nil {
				return err
			}
			if s.ended {
				break
			}
		}
		return nil
	}}
}

func (p *player) voice(name string) *agentline.Writer {
	if v := p.voices[name]; v != nil {
		return v
	}
	return p.out
}

func (p *player) act(a play.Act) error {
	v := p.voice(a.Who)
	switch a.Kind {
	case play.Say:
		v.Delta(a.Text)
	case play.End:
		v.EndMessage(attached(a)...)
	case play.Think:
		v.Think(a.Text)
	case play.Muse:
		v.ThinkApart(a.Text)
	case play.Rest:
		v.EndThought(attached(a)...)
	case play.Call:
		v.ToolCall(a.Call, a.Tool, a.Value, attached(a)...)
	case play.Return, play.Break:
		p.giveBack(v, a)
	case play.Begin:
		p.voices[a.Who] = p.out.Begin(event.TaskStartedPayload{AgentID: event.SubAgent(a.Who), Name: a.Who, TaskPrompt: a.Text, ToolCallID: a.Call})
	case play.Finish:
		v.Fact(event.SubAgentStatus, event.SubAgentStatusPayload{AgentID: event.SubAgent(a.Who), Status: event.WorkOK, OutputSummary: a.Text})
	case play.Fail:
		p.out.Fail("played", a.Text, false)
		p.ended = true
	case play.Ask:
		return p.ask(a)
	case play.Wait:
		v.Delta(a.Text)
		<-p.ctx.Done()
		return p.ctx.Err()
	default:
		return fmt.Errorf("the part has an act %q", a.Kind)
	}
	return v.Err()
}

// attached is what a provider has attached to an act.
func attached(a play.Act) []agentline.Detail {
	if a.Fidelity == "" {
		return nil
	}
	return []agentline.Detail{agentline.Fidelity(json.RawMessage(a.Fidelity))}
}

// giveBack ends a call as the part says, unless it may not be.
func (p *player) giveBack(v *agentline.Writer, a play.Act) {
	switch {
	case p.denied[a.Call]:
		v.ToolFailed(a.Call, a.Tool, event.ErrorObj{Code: "permission_denied", Message: "A person said no."})
	case a.Kind == play.Break:
		v.ToolFailed(a.Call, a.Tool, event.ErrorObj{Code: "tool_failed", Message: a.Text})
	default:
		v.ToolResult(a.Call, a.Tool, a.Text)
	}
}

func (p *player) ask(a play.Act) error {
	p.asked++
	allowed, err := p.mayI(fmt.Sprintf("ask-%d", p.asked), a.Tool, a.Call, a.Value)
	p.denied[a.Call] = !allowed
	return err
}
