package cards

import (
	"context"
	"errors"

	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
	"github.com/switchyard-dev/switchyard/hub-server/internal/gate/cards/talk"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// interrupt stops the turns that are running, or, if none is, the one that would be next. That nothing is running is no error: it may just have ended.
func (c *conn) interrupt(ctx context.Context, a talk.Interrupt) error {
	turns, err := c.turns(ctx, a.Session)
	if err != nil {
		return err
	}
	var faults []error
	for _, turn := range turns {
		err := c.mayOperate(ctx, turn.Agent, turn.AgentName)
		if err == nil {
			_, err = c.server.Runs.Cancel(ctx, turn.ID, c.who.User)
		}
		if fault.CodeOf(err) != fault.RunEnded {
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}

// turns are those runs of a conversation which no run has started and that have begun; if none has, the oldest that waits to.
func (c *conn) turns(ctx context.Context, s id.Session) (begun []runlog.Run, err error) {
	open, err := c.server.Open.OpenRuns(ctx, s)
	if err != nil {
		return nil, err
	}
	var next []runlog.Run
	for _, one := range open {
		r, err := c.server.Runs.Get(ctx, one)
		switch {
		case err != nil:
			return nil, err
		case r.Parent != "" || r.State.Ended():
		case !r.StartedAt.IsZero():
			begun = append(begun, r)
		case len(next) == 0 || r.CreatedAt.Before(next[0].CreatedAt):
			next = []runlog.Run{r}
		}
	}
	if len(begun) == 0 {
		return next, nil
	}
	return begun, nil
}

// mayOperate is the right to start, steer, cancel and answer what an agent does (SEC10), as it is now.
func (c *conn) mayOperate(ctx context.Context, agent id.Agent, name string) error {
	views, err := c.server.Agents.ViewsOf(ctx, c.who.User, []id.Agent{agent})
	if err == nil && (len(views) == 0 || !views[0].CanOperate) {
		err = fleet.OperateRequired(name)
	}
	return err
}
