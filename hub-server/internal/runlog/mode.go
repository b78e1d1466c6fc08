package runlog

import (
	"context"
	"fmt"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// ModeChange is a prepared change of how the permissions are answered that the runs of a person in a conversation ask for.
type ModeChange struct {
	Session id.Session
	By      id.User
	Mode    wire.ApprovalMode
	Orders  []Order // to all of the person's runs there that an edge has
}

// ModeOf returns how the user wants permissions to be answered in the conversation; "" leaves it to the profiles.
func (r *Runs) ModeOf(ctx context.Context, s id.Session, user id.User) (wire.ApprovalMode, error) {
	return r.dispatcher.people.ApprovalMode(ctx, s, user)
}

// SetMode changes that, for the runs that by has asked for, too: their edges read it before each call. Errors: UnsupportedByRuntime while a run is
// on an edge that does not know modes; those of CommandStore.SetMode.
func (r *Runs) SetMode(ctx context.Context, by id.User, s id.Session, mode wire.ApprovalMode) error {
	for range raceRetries {
		was, err := r.ModeOf(ctx, s, by)
		if err != nil {
			return err
		}
		if was == mode {
			return nil
		}
		c, err := r.modeChange(ctx, by, s, mode)
		if err != nil {
			return err
		}
		if done, err := r.commands.SetMode(ctx, c); err != nil || done {
			return err
		}
	}
	return fmt.Errorf("set approval mode: %w", errRace)
}

func (r *Runs) modeChange(ctx context.Context, by id.User, s id.Session, mode wire.ApprovalMode) (ModeChange, error) {
	c := ModeChange{Session: s, By: by, Mode: mode}
	active, err := r.store.ActiveRuns(ctx, s)
	if err != nil {
		return c, err
	}
	for _, found := range active {
		if found.RequestedBy != by || found.Edge == "" || found.ProcessEnded {
			continue
		}
		e, err := r.dispatcher.edges.Edge(ctx, found.Edge)
		if err != nil {
			return c, fmt.Errorf("read edge of %s: %w", found.ID, err)
		}
		if !e.Controls {
			return c, fault.New(fault.UnsupportedByRuntime,
				"%s works on a machine whose edge-server knows no approval modes. Wait for its end or abort it, and update edge-server there.", found.AgentName)
		}
		command, err := r.order(found, wire.ControlOrder{What: wire.ControlApprovalMode, Mode: mode})
		if err != nil {
			return c, err
		}
		c.Orders = append(c.Orders, Order{Run: found, By: by, Command: command})
	}
	return c, nil
}

// Meets says whether the change was prepared for just these runs, which an edge has.
func (c ModeChange) Meets(heads map[id.Run]Head) bool {
	if len(heads) != len(c.Orders) {
		return false
	}
	for _, o := range c.Orders {
		if h, ok := heads[o.Run.ID]; !ok || h.Edge != o.Run.Edge || h.Lease != o.Run.Lease {
			return false
		}
	}
	return true
}

// modeRefused has it known in a run's log that its edge does not do what its person was told. A run that may do more than the person wants by now is
// stopped, and its log says why; the command goes with that.
func (l *Lanes) modeRefused(ctx context.Context, edge id.Edge, c wire.Command, mode wire.ApprovalMode, receipt wire.CommandReceipt) error {
	for range raceRetries {
		found, err := l.runs.store.Run(ctx, c.RunID)
		if err != nil {
			return fmt.Errorf("read run of command: %w", err)
		}
		works := !found.State.Ended() && found.State != run.StateCancelling && c.Lease == found.Lease
		if works && mode != wire.AllowAll {
			const why = "Its machine did not take the approval mode that was chosen meanwhile. Update edge-server there."
			if _, err := l.runs.CancelFor(ctx, c.RunID, found.RequestedBy, why); err != nil && fault.CodeOf(err) != fault.RunEnded {
				return err
			}
			works = false
		}
		var told []Entry
		if works {
			notice, err := own(run.Candidate{Type: event.RunNotice, Payload: event.NoticePayload{
				Topic: event.TopicModeRefused, Summary: "The machine did not take the approval mode: permissions of this run are answered as before.",
				ActionHint: "Update edge-server there.",
			}}, now())
			if err != nil {
				return err
			}
			told = append(told, notice)
		}
		done, err := l.runs.commands.CloseCommand(ctx, edge, receipt, found.LastEventSeq, told)
		if err != nil {
			return fmt.Errorf("record receipt: %w", err)
		}
		if done {
			return nil
		}
	}
	return fmt.Errorf("record receipt: %w", errRace)
}
