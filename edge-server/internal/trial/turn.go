package trial

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/switchyard-dev/switchyard/edge-server/internal/process"
	"github.com/switchyard-dev/switchyard/edge-server/internal/profile"
	"github.com/switchyard-dev/switchyard/edge-server/internal/runtime"
	"github.com/switchyard-dev/switchyard/shared/agentline"
	"github.com/switchyard-dev/switchyard/shared/bridge"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/run"
)

// Witness sees a turn. Its methods may be called from several goroutines, each call whole.
type Witness interface {
	// Said is an event of the agent, in order.
	Said(run.AgentEvent)
	// Unused is a line, or something in one, that does not count; reason is the protocol's word for it. line is "" where a good line came
	// at the wrong time or a part of it was not used.
	Unused(line, reason string)
	// Answered is a permission request and what the agent was told.
	Answered(bridge.PermissionRequest, bridge.PermissionResponse)
	// Settled is a prompt of another kind and what the agent was told.
	Settled(runtime.Ask, runtime.Answer)
	// Printed is a line of stderr.
	Printed(line string)
}

// Approver decides about tools, and answers what else an agent asks. It is called for one request at a time and returns when ctx ends.
type Approver interface {
	Approve(ctx context.Context, r bridge.PermissionRequest) bridge.PermissionResponse
	Answer(ctx context.Context, asked runtime.Ask) runtime.Answer
}

// Result is how a turn ended.
type Result struct {
	ExitCode  int        // of the turn: 0, 1, 124, 130, 143 or the process's own
	Code      fault.Code // "" for success
	Message   string     // why it failed, for people
	SessionID string     // for the next turn; "" when the agent named none
	Usage     json.RawMessage
	Left      int // processes that the agent left running
	Took      time.Duration
}

// maxAsked is how many requests may wait for the approver; more are turned down.
const maxAsked = 256

var errTurnLimit = errors.New("the turn took longer than its limit")

// Play starts the agent, plays one turn and returns once its whole process tree is gone. The end of ctx stops the agent, as Ctrl-C does. The
// error says that no turn was played.
func (a Agent) Play(ctx context.Context, host *process.Host, turn bridge.Turn, approver Approver, witness Witness) (Result, error) {
	d, err := a.dialogue(turn)
	if err != nil {
		return Result{}, err
	}
	stderr := &lineWriter{line: witness.Printed}
	began := time.Now()
	started, err := a.Start(host, profile.Turn{SessionID: turn.SessionID, SessionName: turn.SessionName}, Output{Stderr: stderr})
	if err != nil {
		return Result{}, err
	}
	for _, warning := range started.Warnings {
		witness.Unused("", warning)
	}
	d.workIn(started.Dir)
	limited, cancel := withLimit(ctx, a.Profile.Timeout)
	defer cancel()
	t := talk{dialogue: d, input: process.NewInput(), witness: witness, asked: make(chan inquiry, maxAsked), tools: a.Tools, told: a.Told, takes: a.Profile.Takes}
	t.react(limited, "", d.begin())
	exit := t.follow(limited, started.Process, approver)
	stderr.flush()
	result := t.end(ctx, limited, exit)
	result.Left, result.Took = exit.Left, time.Since(began)
	return result, nil
}

func withLimit(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if limit <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, limit, errTurnLimit)
}

// talk connects a dialogue with a process and a witness.
type talk struct {
	dialogue dialogue
	input    *process.Input
	witness  Witness
	asked    chan inquiry

	tools   []Tool
	calls   sync.WaitGroup // of tools
	calling atomic.Int32   // how many

	told  <-chan agentline.Control
	takes func(control string) bool
}

// follow answers requests beside the reading of lines, so that an agent which asks can go on talking.
func (t *talk) follow(ctx context.Context, p *process.Process, approver Approver) process.Exit {
	asking, over := context.WithCancel(ctx)
	var answers sync.WaitGroup
	answers.Go(func() {
		for i := range t.asked {
			t.decide(asking, i, approver)
		}
	})
	answers.Go(func() { t.pass(asking) })
	exit := p.Follow(ctx, t.input, func(l process.Line) { t.line(asking, l) })
	over()
	t.calls.Wait()
	close(t.asked)
	answers.Wait()
	return exit
}

// pass tells the agent what somebody wants it to hear, until the turn is over.
func (t *talk) pass(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case c, more := <-t.told:
			if !more {
				return
			}
			if !t.takes(string(c.Type)) {
				t.witness.Unused("", fmt.Sprintf("the agent cannot be told %s: its profile does not name it (--control)", c.Type))
				continue
			}
			if line, err := c.Encode(); err == nil {
				t.send(line)
			}
		}
	}
}

func (t *talk) line(ctx context.Context, l process.Line) {
	switch {
	case l.Cut > 0:
		t.witness.Unused(l.String(), "too_long")
	case len(l.Text) > 0:
		t.react(ctx, string(l.Text), t.dialogue.line(l.Text))
	}
}

func (t *talk) react(ctx context.Context, line string, r reaction) {
	for _, e := range r.said {
		t.witness.Said(e)
	}
	if r.ignored != "" {
		t.witness.Unused(line, r.ignored)
	}
	for _, warning := range r.warnings {
		t.witness.Unused("", warning)
	}
	for _, request := range r.ask {
		select {
		case t.asked <- inquiry{permission: request}:
		default:
			t.answer(request, bridge.PermissionResponse{Behavior: bridge.Deny, Message: tooMany})
		}
	}
	for _, prompt := range r.prompts {
		select {
		case t.asked <- inquiry{prompt: prompt}:
		default:
			t.settle(prompt, unanswered(prompt, tooMany))
		}
	}
	for _, call := range r.calls {
		t.call(ctx, call)
	}
	for _, response := range r.respond {
		t.answer(bridge.PermissionRequest{RequestID: response.RequestID}, response)
	}
	if len(r.reply) > 0 {
		t.send(r.reply)
	}
	if r.closeInput {
		t.input.Close()
	}
}

func (t *talk) answer(request bridge.PermissionRequest, response bridge.PermissionResponse) {
	response.RequestID = request.RequestID
	line, err := response.Encode()
	if err != nil {
		t.witness.Unused("", err.Error())
		return
	}
	t.witness.Answered(request, response)
	t.send(line)
}

// send does not mind a closed stdin: the agent has ended or failed, and waits for nothing.
func (t *talk) send(line []byte) {
	if err := t.input.Send(line); err != nil && !errors.Is(err, process.ErrInputClosed) {
		t.witness.Unused("", err.Error())
	}
}

// end gives the outcome of the turn. Somebody's stop counts before anything that it made happen.
func (t *talk) end(outer, limited context.Context, exit process.Exit) Result {
	timedOut := exit.Stopped && errors.Is(context.Cause(limited), errTurnLimit)
	said, result := t.dialogue.end(exit, timedOut)
	for _, e := range said {
		t.witness.Said(e)
	}
	if exit.Stopped && !timedOut {
		result.ExitCode, result.Code, result.Message = stopCode(outer), "cancelled", "The turn was stopped."
	}
	return result
}

// signalled is added to the number of a signal, as shells do.
const signalled = 128

// stopCode is that of the signal which ended ctx, as signal.NotifyContext tells it.
func stopCode(ctx context.Context) int {
	if cause := context.Cause(ctx); cause != nil && cause.Error() == syscall.SIGTERM.String()+" signal received" {
		return signalled + int(syscall.SIGTERM)
	}
	return signalled + int(syscall.SIGINT)
}
