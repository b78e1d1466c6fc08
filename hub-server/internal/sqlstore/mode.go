package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/switchyard-dev/switchyard/hub-server/internal/audit"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

const selectMode = `SELECT approval_mode FROM session_members WHERE session_id = $1 AND member_id = $2 AND left_at IS NULL`

// approvalMode reads the mode of a member; who is none has none.
func approvalMode(row Scanner) (mode wire.ApprovalMode, err error) {
	err = row.Scan(&mode)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read approval mode: %w", err)
	}
	return mode, nil
}

// ApprovalMode implements runlog.PersonStore.
func (r *Runlog) ApprovalMode(ctx context.Context, s id.Session, user id.User) (wire.ApprovalMode, error) {
	return approvalMode(r.store.queryRowPrepared(ctx, selectMode, string(s), string(user)))
}

// SetMode implements runlog.CommandStore. A run that is prepared meanwhile is held against the new mode when it is stored.
func (r *Runlog) SetMode(ctx context.Context, c runlog.ModeChange) (done bool, err error) {
	if err := r.writer.needs(ctx, FormatControls); err != nil { // a hub from before would give runs to edges without a word of the mode
		return false, err
	}
	locks := []Lock{LockConversation(string(c.Session))}
	for _, o := range c.Orders {
		locks = append(locks, LockRun(string(o.Run.ID)), LockLane(string(o.Run.Edge)))
	}
	err = r.writer.Do(ctx, locks, func(ctx context.Context, tx *Tx) (err error) {
		done, err = tx.setMode(ctx, c)
		return err
	})
	return err == nil && done, err
}

func (t *Tx) setMode(ctx context.Context, c runlog.ModeChange) (bool, error) {
	if err := t.mayPost(ctx, c.Session, c.By); err != nil {
		return false, err
	}
	if err := t.operatesHere(ctx, c.Session, c.By); err != nil {
		return false, err
	}
	theirs, err := t.dispatchedFor(ctx, c.Session, c.By)
	if err != nil || !c.Meets(theirs) {
		return false, err
	}
	for _, update := range []string{
		`UPDATE session_members SET approval_mode = $3 WHERE session_id = $1 AND member_id = $2`,
		`UPDATE runs SET approval_mode = $3 WHERE session_id = $1 AND requested_by = $2 AND ended_at = 0`,
	} {
		if _, err := t.Exec(ctx, update, string(c.Session), string(c.By), string(c.Mode)); err != nil {
			return false, fmt.Errorf("set approval mode: %w", err)
		}
	}
	for _, o := range c.Orders {
		if err := t.insertCommand(ctx, o.Run.Edge, o.Command); err != nil {
			return false, err
		}
	}
	t.Audit(audit.Entry{Act: audit.ModeChosen, User: c.By, Target: string(c.Session), Detail: string(c.Mode)})
	return true, nil
}

// operatesHere says that the person may operate an agent of the conversation: without, no run there would be theirs.
func (t *Tx) operatesHere(ctx context.Context, s id.Session, by id.User) error {
	const query = `SELECT 1 FROM session_members m JOIN agents a ON a.id = m.member_id
WHERE m.session_id = $2 AND m.left_at IS NULL AND ` + operatedBy + ` LIMIT 1`
	may, err := hasRow(t.QueryRow(ctx, query, string(by), string(s)))
	if err != nil {
		return fmt.Errorf("check right to operate: %w", err)
	}
	if !may {
		return fault.New(fault.AgentOperateRequired, "You may operate no agent of this conversation. Ask the owner of the edge that runs one to let you.")
	}
	return nil
}

// dispatchedFor returns the runs that a person has asked for in a conversation and that an edge has.
func (t *Tx) dispatchedFor(ctx context.Context, s id.Session, by id.User) (map[id.Run]runlog.Head, error) {
	const query = `SELECT run_id FROM runs WHERE session_id = $1 AND requested_by = $2 AND ended_at = 0 AND edge_id <> '' AND process_ended_at = 0`
	rows, err := t.Query(ctx, query, string(s), string(by))
	runs, err := collect(rows, err, func(row Scanner) (run id.Run, err error) {
		err = row.Scan(&run)
		return run, err
	})
	if err != nil {
		return nil, fmt.Errorf("find runs of a person: %w", err)
	}
	if len(runs) == 0 {
		return nil, nil
	}
	return t.heads(ctx, runs)
}
