package conformance

import (
	"context"
	"encoding/json"

	"github.com/switchyard-dev/switchyard/edge-server/internal/profile"
	"github.com/switchyard-dev/switchyard/edge-server/internal/runtime"
	"github.com/switchyard-dev/switchyard/shared/agentline"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// DefaultTool is what a client offers in a check that names no tools.
const DefaultTool = "open_url"

// tools are those that a client offers.
func (c *checker) tools() []wire.ClientTool {
	var all []wire.ClientTool
	for _, name := range c.ClientTools {
		all = append(all, wire.ClientTool{
			Name: name, Description: "A tool of the conformance check.", InputSchema: json.RawMessage(`{"type":"object"}`),
		})
	}
	return all
}

func playTool(ctx context.Context, c *checker) error { return c.playTool(ctx, allowing) }

func playToolFails(ctx context.Context, c *checker) error { return c.playTool(ctx, denying) }

// playTool offers tools, and says of a call that it went well, or that it did not.
func (c *checker) playTool(ctx context.Context, a answering) error {
	if c.Agent.Profile.Runtime != profile.Events {
		return nil
	}
	turn := c.turn()
	turn.Permission, turn.ClientTools = true, c.tools()
	p, err := c.play(ctx, script{pieces: [][]byte{line(turn)}, asks: true, tools: turn.ClientTools, answers: a})
	switch {
	case err != nil:
	case p.driver.called > 0:
		c.ledger.check(clientResult, !p.timedOut && p.proper(), "%s", c.outcome(p))
	case p.timedOut:
		c.ledger.breach(turnOneLine, "%s, while a client offers tools", c.outcome(p))
	}
	return err
}

// call holds the call of a client's tool to the rules. It returns what the agent waits for.
func (e *eventsEar) call(line agentline.Line) *request {
	ask := runtime.Ask{ID: line.ToolCallID, Kind: event.PromptClientTool, Tool: line.ToolName, Input: line.ToolArgs}
	err := runtime.CheckCall(e.offered, &ask)
	e.ledger.check(clientOffered, err == nil, "%s", fault.Public(err).Detail)
	if line.ToolCallID != "" {
		e.ledger.check(clientID, !e.used[toolCall{run.ScopeID(line.AgentID), line.ToolCallID, ""}], "tool_call_id %.80q was used before", line.ToolCallID)
	}
	r := request{Ask: ask}
	if err != nil {
		why := fault.Public(err)
		r.refusal = r.called(runtime.Failed(why.Code, why.Detail))
	}
	return &r
}

// called is the line that ends the call of a client's tool; nil for none.
func (r request) called(with event.ClientToolResponse) []byte {
	encoded, err := agentline.NewCallResult(r.ID, r.Tool, with).Encode()
	if err != nil {
		return nil
	}
	return encoded
}

// carriedOut is how a client answers.
func carriedOut(how answering) event.ClientToolResponse {
	if how == denying {
		return runtime.Failed(fault.ClientToolFailed, "The check says no.")
	}
	return event.ClientToolResponse{Status: event.ClientToolOK, Output: json.RawMessage(`{"checked":true}`)}
}
