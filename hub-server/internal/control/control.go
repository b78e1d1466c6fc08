// Package control is what people do to the work of a conversation as S1 has it: they begin tasks, say something to an agent while it works, answer
// its permissions by the name of the call, stop it, have it try again at once or make its context smaller. A conversation may have several runs at
// work; what is done here is done to those whose agents the person may operate, the oldest first.
package control

import (
	"context"
	"errors"
	"slices"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
	"github.com/switchyard-dev/switchyard/hub-server/internal/omnilog"
	"github.com/switchyard-dev/switchyard/hub-server/internal/project/omni"
	"github.com/switchyard-dev/switchyard/hub-server/internal/prompt"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Conversations are read as S1 tells them. Safe for concurrent use.
type Conversations interface {
	// View returns how a conversation stands when everything is told that was committed before.
	View(ctx context.Context, session id.Session) (omnilog.View, error)
}

// Agents is what has to be known of agents. Safe for concurrent use.
type Agents interface {
	// ViewsOf returns those of the agents that exist, as the user sees them.
	ViewsOf(ctx context.Context, user id.User, agents []id.Agent) ([]fleet.AgentView, error)
}

// Controls does it. Whether the caller is in the conversation is not asked here; whether they may operate an agent is. Safe for concurrent use.
type Controls struct {
	Sessions      *chat.Sessions
	Messages      *chat.Messages
	Runs          *runlog.Runs
	Prompts       *prompt.Prompts
	Agents        Agents
	Conversations Conversations
	Attempts      *account.Attempts
}

// raceRetries is how often something is prepared anew because the run moved meanwhile.
const raceRetries = 16

var errRace = errors.New("the run kept moving while something was prepared for it")

// Phase is what a conversation is at.
type Phase string

// Phases of a conversation.
const (
	Idle       Phase = "idle"
	Running    Phase = "running"
	Compacting Phase = "compacting" // a run is at work that makes a context smaller right now
)

// State is how a conversation stands for one person.
type State struct {
	chat.Session
	Phase    Phase
	Runs     []id.Run     // that are not over, the oldest first
	Queued   int          // of them, that have not begun
	Steering []omni.Steer // said to them and not taken yet
	Mode     wire.ApprovalMode
}

// State returns it. The list of runs is read first: what is not in it is told to its end.
func (c *Controls) State(ctx context.Context, by id.User, session id.Session) (State, error) {
	found, err := c.Sessions.Get(ctx, by, session)
	if err != nil {
		return State{}, err
	}
	s := State{Session: found, Phase: Idle}
	active, err := c.Runs.Active(ctx, session)
	if err != nil {
		return State{}, err
	}
	for _, run := range active {
		s.Runs, s.Phase = append(s.Runs, run.ID), Running
		if run.StartedAt.IsZero() {
			s.Queued++
		}
	}
	if s.Phase == Running {
		view, err := c.Conversations.View(ctx, session)
		if err != nil {
			return State{}, err
		}
		if view.Compacting {
			s.Phase = Compacting
		}
		s.Steering = view.Steering
	}
	s.Mode, err = c.Runs.ModeOf(ctx, session, by)
	return s, err
}

// open says that the conversation is there to be acted on.
func (c *Controls) open(ctx context.Context, by id.User, session id.Session) error {
	found, err := c.Sessions.Store.WithAgents(ctx, session, by)
	switch {
	case err != nil:
		return err
	case found.ReadOnly:
		return chat.ReadOnlyError()
	case found.Dissolved():
		return chat.DissolvedError()
	}
	return nil
}

// operable keeps the runs whose agents the person may operate.
func (c *Controls) operable(ctx context.Context, by id.User, runs []runlog.Run) ([]runlog.Run, error) {
	var agents []id.Agent
	for _, run := range runs {
		agents = append(agents, run.Agent)
	}
	views, err := c.Agents.ViewsOf(ctx, by, agents)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(runs), func(run runlog.Run) bool {
		return !slices.ContainsFunc(views, func(v fleet.AgentView) bool { return v.ID == run.Agent && v.CanOperate })
	}), nil
}

// theirs are the runs of a conversation that are not over and that the person may operate; AgentOperateRequired if there are others alone.
func (c *Controls) theirs(ctx context.Context, by id.User, session id.Session) ([]runlog.Run, error) {
	active, err := c.Runs.Active(ctx, session)
	if err != nil || len(active) == 0 {
		return nil, err
	}
	mine, err := c.operable(ctx, by, active)
	if err == nil && len(mine) == 0 {
		err = fleet.OperateRequired(active[0].AgentName)
	}
	return mine, err
}

// atWork are those of theirs whose agents listen; NotRunning if none does. Where nobody listens yet, those that begin at their edges do for a steer.
func (c *Controls) atWork(ctx context.Context, by id.User, session id.Session, control wire.ControlKind) ([]runlog.Run, error) {
	theirs, err := c.theirs(ctx, by, session)
	if err != nil {
		return nil, err
	}
	begun := slices.DeleteFunc(slices.Clone(theirs), func(run runlog.Run) bool { return !run.AtWork() })
	if len(begun) == 0 && control == wire.ControlSteer {
		begun = slices.DeleteFunc(slices.Clone(theirs), func(run runlog.Run) bool { return !run.Starts() })
	}
	if len(begun) > 0 {
		return begun, nil
	}
	return nil, silent(theirs)
}

// silent says why none of the runs can be told anything.
func silent(runs []runlog.Run) error {
	if len(runs) == 0 {
		return fault.New(fault.NotRunning, "No task is at work in this conversation. Begin one.")
	}
	if slices.ContainsFunc(runs, runlog.Run.NotYet) {
		return fault.New(fault.NotRunning, "The task has not begun yet: nobody listens so far. Say it once it is at work.")
	}
	return fault.New(fault.NotRunning, "The task is being stopped, or waits for an answer to go on with another run: nobody listens any more.")
}

// target is the first of the runs that can be told that; UnsupportedByRuntime if none can.
func (c *Controls) target(ctx context.Context, runs []runlog.Run, control wire.ControlKind) (runlog.Run, error) {
	for _, run := range runs {
		can, err := c.Runs.Can(ctx, run, string(control))
		if err != nil || can {
			return run, err
		}
	}
	return runlog.Run{}, runlog.Unable(runs[0].AgentName, string(control))
}
