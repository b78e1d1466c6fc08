package runtime

import (
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// visit is call for somebody who is not the agent's stdout. It may have to wait for the journal.
func (t *talk) visit(a Ask) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.calls.ended() {
		t.call(a)
	}
}

// call records the call of a client's tool, and asks for it. One that nobody can carry out has failed at once, in the log too.
func (t *talk) call(a Ask) {
	err := CheckCall(t.calls.offered, &a)
	a.ToolCall = a.ID
	if a.ID == "" || t.names.known(a.Agent, a.ID) {
		a.ToolCall = newCallID()
		if a.ID != "" && err == nil {
			err = fault.New(fault.InvalidInput, "tool_call_id was used in this turn before.")
		}
	}
	var asked event.PromptRequestedPayload
	if err == nil {
		asked, err = t.desk.openCall(a)
	}
	t.say([]run.AgentEvent{run.ToolCall{
		ID: a.ToolCall, Name: a.Tool, Args: a.Input, Intent: a.Description, Agent: a.Agent, Target: event.TargetClient,
	}})
	if err == nil {
		t.metrics.prompts.With(string(event.Client)).Inc()
		t.say([]run.AgentEvent{run.Asked{PromptRequestedPayload: asked}})
		if !t.out.failed {
			return
		}
		err = fault.New(fault.Busy, "The edge could not record the call.")
	}
	why := fault.Public(err)
	t.returned(a, Failed(why.Code, why.Detail), func() {})
}

// returned ends a call: in the log, and then for the agent. done is called once the agent has it.
func (t *talk) returned(a Ask, r event.ClientToolResponse, done func()) {
	t.say([]run.AgentEvent{run.ToolResult{
		ID: a.ToolCall, Name: a.Tool, Result: r.Output, Error: r.Error, Metadata: r.Metadata, Agent: a.Agent, Target: event.TargetClient,
	}})
	if a.reply != nil {
		a.reply(r)
		done()
		return
	}
	t.desk.reply(Answer{ID: a.ID, Kind: event.PromptClientTool, Tool: a.Tool, Result: r}, done)
}

// bring ends a call with what its client has answered, unless the agent has ended its turn.
func (t *talk) bring(p *prompt, a wire.Answer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.desk.deliver(p) {
		t.returned(*p.call, response(a), func() { t.desk.wrote(p) })
	}
}
