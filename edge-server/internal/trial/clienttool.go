package trial

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/edge-server/internal/runtime"
	"github.com/switchyard-dev/switchyard/shared/agentline"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Tool is a client's tool that is carried out here: by a command that gets the arguments on stdin and writes the output.
type Tool struct {
	wire.ClientTool
	Command string // for sh
}

// ParseTools reads NAME=COMMAND.
func ParseTools(given []string) ([]Tool, error) {
	var tools []Tool
	for _, text := range given {
		name, command, ok := strings.Cut(text, "=")
		if !ok || strings.TrimSpace(command) == "" {
			return nil, fmt.Errorf("%q is no tool: write NAME=COMMAND", text)
		}
		tools = append(tools, Tool{wire.ClientTool{Name: name, Description: "Runs a command of the person's."}, command})
	}
	if err := wire.CheckClientTools(declared(tools)); err != nil {
		return nil, errors.New(fault.Public(err).Detail)
	}
	return tools, nil
}

func declared(tools []Tool) []wire.ClientTool {
	var all []wire.ClientTool
	for _, tool := range tools {
		all = append(all, tool.ClientTool)
	}
	return all
}

const (
	shell     = "/bin/sh"
	toolGrace = 5 * time.Second // that a command has to close its output once it was stopped
	maxWhy    = 1 << 10         // bytes of what a command says about its failure
)

// run carries out a call. Output that is JSON is a value, any other a text.
func (tool Tool) run(ctx context.Context, input json.RawMessage) event.ClientToolResponse {
	cmd := exec.CommandContext(ctx, shell, "-c", tool.Command) //nolint:gosec // the words of whoever sits here
	out, why := capped{most: event.MaxClientToolResponse}, capped{most: maxWhy}
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = bytes.NewReader(input), &out, &why, toolGrace
	err := cmd.Run()
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return runtime.Failed(fault.Timeout, "The client did not answer in time.")
	case err != nil:
		return runtime.Failed(fault.ClientToolFailed, cmp.Or(strings.TrimSpace(strings.ToValidUTF8(string(why.kept), "?")), err.Error()))
	case out.cut:
		return runtime.Failed(fault.TooLarge, fmt.Sprintf("The output has more than %d bytes.", out.most))
	}
	response := event.ClientToolResponse{Status: event.ClientToolOK, Output: bytes.TrimSpace(out.kept)}
	if len(response.Output) > 0 && !json.Valid(response.Output) {
		text, err := event.Encode(strings.TrimSuffix(strings.ToValidUTF8(string(out.kept), "?"), "\n"))
		if err != nil {
			return runtime.Failed(fault.Internal, err.Error())
		}
		response.Output = text
	}
	if err := response.Check(); err != nil {
		return runtime.Failed(fault.ClientToolFailed, "The output cannot be used: "+err.Error()+".")
	}
	return response
}

// capped keeps the first bytes of what is written to it. Its buffer is no part of it: that could read past the cap by itself.
type capped struct {
	kept []byte
	most int
	cut  bool
}

// Write never fails.
func (c *capped) Write(data []byte) (int, error) {
	room := min(len(data), c.most-len(c.kept))
	c.cut = c.cut || room < len(data)
	c.kept = append(c.kept, data[:room]...)
	return len(data), nil
}

// call has a client's tool carried out beside the turn, or says at once why it is not.
func (t *talk) call(ctx context.Context, a runtime.Ask) {
	err := runtime.CheckCall(declared(t.tools), &a)
	t.witness.Said(run.ToolCall{ID: a.ID, Name: a.Tool, Args: a.Input, Intent: a.Description, Agent: a.Agent, Target: event.TargetClient})
	if err == nil && t.calling.Add(1) > runtime.MaxCalls {
		t.calling.Add(-1)
		err = fault.New(fault.TooManyCalls, "%d calls wait already.", runtime.MaxCalls)
	}
	if err != nil {
		why := fault.Public(err)
		t.returned(a, runtime.Failed(why.Code, why.Detail))
		return
	}
	t.calls.Go(func() {
		defer t.calling.Add(-1)
		limited, cancel := context.WithTimeout(ctx, a.Limit())
		defer cancel()
		for _, tool := range t.tools {
			if tool.Name == a.Tool {
				t.returned(a, tool.run(limited, a.Input))
			}
		}
	})
}

func (t *talk) returned(a runtime.Ask, r event.ClientToolResponse) {
	line, err := agentline.NewCallResult(a.ID, a.Tool, r).Encode()
	if err != nil {
		t.witness.Unused("", err.Error())
		return
	}
	t.witness.Said(run.ToolResult{
		ID: a.ID, Name: a.Tool, Result: r.Output, Error: r.Error, Metadata: r.Metadata, Agent: a.Agent, Target: event.TargetClient,
	})
	t.send(line)
}
