package sqlstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/switchyard-dev/switchyard/hub-server/internal/audit"
	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
)

// Answer implements prompt.Store.
func (p *Prompts) Answer(ctx context.Context, r runlog.Reply) (done bool, err error) {
	locks := lockSetOf(r.Run.Session, r.Run.ID)
	if r.Command != nil {
		locks = append(locks, LockLane(string(r.Run.Edge)))
	}
	if r.Next != nil {
		locks = append(locks, runLocks(r.Next.Next)...)
	}
	err = p.writer.Do(ctx, locks, func(ctx context.Context, tx *Tx) (err error) {
		done, err = tx.answer(ctx, r)
		return err
	})
	return notMoved(done, err)
}

// notMoved takes a run that could not be stored because its person has chosen another approval mode for one that was prepared too early.
func notMoved(done bool, err error) (bool, error) {
	if errors.Is(err, chat.ErrMoved) {
		return false, nil
	}
	return err == nil && done, err
}

func (t *Tx) answer(ctx context.Context, r runlog.Reply) (bool, error) {
	if err := t.checkAnswerer(ctx, r); err != nil {
		return false, err
	}
	head, err := t.head(ctx, r.Run.ID)
	if err != nil {
		return false, fmt.Errorf("read run: %w", err)
	}
	g, ok := head.Settle(r)
	if !ok {
		return false, nil
	}
	if r.Timer != nil {
		if err := t.claimTimer(ctx, *r.Timer); err != nil {
			return false, err
		}
	}
	if r.By != "" && !r.ByClient() {
		t.Audit(audit.Entry{Act: audit.PromptAnswered, User: r.By, Target: string(r.Request), Detail: string(r.Run.ID)})
	}
	if r.Next != nil {
		return true, t.succeed(ctx, g, *r.Next)
	}
	if err := t.saveGrowth(ctx, noLane, g); err != nil || r.Command == nil {
		return err == nil, err
	}
	if err := t.setDelivery(ctx, r.Request, r.Command.DeliveryID); err != nil {
		return false, err
	}
	if err := t.insertCommand(ctx, r.Run.Edge, *r.Command); err != nil {
		return false, err
	}
	return true, t.tellControl(ctx, r)
}

const frameAgentControl = "agent.control" // S3

// tellControl tells everybody who may operate the agent what is on its way to the edge.
func (t *Tx) tellControl(ctx context.Context, r runlog.Reply) error {
	if r.Control == nil {
		return nil
	}
	users, err := t.operators(ctx, r.Run.ID)
	if err != nil {
		return fmt.Errorf("find who operates: %w", err)
	}
	for _, u := range users {
		t.Emit(delivery.Row{
			Audience: delivery.ToUser(u), Kind: delivery.KindFrame, FrameType: frameAgentControl, Payload: r.Control, Session: r.Run.Session, Run: r.Run.ID,
		})
	}
	return nil
}

// checkAnswerer asks a person's rights; that time is over needs none.
func (t *Tx) checkAnswerer(ctx context.Context, r runlog.Reply) error {
	if r.By == "" {
		return nil
	}
	if err := t.mayPost(ctx, r.Run.Session, r.By); err != nil {
		return err
	}
	if r.ByClient() {
		return t.checkCalled(ctx, r)
	}
	may, err := t.mayAnswer(ctx, r.By, r.Run.ID)
	if err != nil {
		return fmt.Errorf("check right to operate: %w", err)
	}
	if !may {
		return fleet.OperateRequired(r.Run.AgentName)
	}
	return nil
}

// checkCalled has only those answer a call whose tool was called: who triggered the run.
func (t *Tx) checkCalled(ctx context.Context, r runlog.Reply) error {
	const query = `SELECT 1 FROM runs r JOIN runs o ON o.run_id = r.root_run_id WHERE r.run_id = $1 AND o.requested_by = $2`
	theirs, err := hasRow(t.QueryRow(ctx, query, string(r.Run.ID), string(r.By)))
	if err != nil {
		return fmt.Errorf("check whose tool was called: %w", err)
	}
	if !theirs {
		return promptNotFound()
	}
	return nil
}

// Succeed implements prompt.Store.
func (p *Prompts) Succeed(ctx context.Context, s runlog.Succession) (done bool, err error) {
	locks := append(lockSetOf(s.Run.Session, s.Run.ID), runLocks(s.Next)...)
	err = p.writer.Do(ctx, locks, func(ctx context.Context, tx *Tx) error {
		head, err := tx.head(ctx, s.Run.ID)
		if err != nil {
			return fmt.Errorf("read run: %w", err)
		}
		g, ok := head.Succeed(s)
		if done = ok; !done {
			return nil
		}
		return tx.succeed(ctx, g, s)
	})
	return notMoved(done, err)
}

// succeed stores the end of a run and the one that takes its answers back to the agent.
func (t *Tx) succeed(ctx context.Context, g *runlog.Growth, s runlog.Succession) error {
	if err := t.saveGrowth(ctx, noLane, g); err != nil {
		return err
	}
	return t.startRun(ctx, s.By, s.Next)
}
