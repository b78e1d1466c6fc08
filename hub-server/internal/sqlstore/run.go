package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
)

const frameAgentDispatch = "agent.dispatch" // S3

// insertRun stores a prepared run with its command and its agent.dispatch frame. Its locks are runLocks.
func (t *Tx) insertRun(ctx context.Context, n runlog.NewRun) error {
	const insert = `
INSERT INTO runs (run_id, parent_run_id, root_run_id, session_id, agent_id, agent_name, agent_checksum, edge_id, lease, trigger_id,
    requested_by, trace_id, place_owner, place_edge, place_profile, place_runtime, dispatch, state, last_event_seq, error_code,
    error_message, error_retryable, said_id, said, final_message, created_at, started_at, ended_at, continues_run_id,
    regenerates_run_id, place_needs, approval_mode)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, 0, '', '', FALSE, '', '', '', $19, 0, 0, $20, $21,
    $22, $23)`
	_, err := t.Exec(ctx, insert, string(n.ID), string(n.Parent), string(n.Root), string(n.Session), string(n.Agent), n.AgentName,
		n.AgentChecksum, string(n.Edge), int64(n.Lease), string(n.Trigger), string(n.RequestedBy), n.TraceID,
		string(n.Placement.Owner), string(n.Placement.Edge), n.Placement.Profile, n.Placement.Runtime, []byte(n.Dispatch),
		string(n.State), micros(n.CreatedAt), string(n.Continues), string(n.Regenerates),
		n.Placement.Needs, string(n.Placement.Mode))
	if err != nil {
		return fmt.Errorf("insert run: %w", err)
	}
	t.emitDispatch(n)
	if n.Command == nil {
		return nil
	}
	return t.insertCommand(ctx, n.Edge, *n.Command)
}

// runLocks is what a request that calls insertRun has to lock.
func runLocks(n runlog.NewRun) []Lock {
	locks := []Lock{LockConversation(string(n.Session))}
	if n.Command != nil {
		locks = append(locks, LockLane(string(n.Edge)))
	}
	return locks
}

func (t *Tx) emitDispatch(n runlog.NewRun) {
	t.Emit(delivery.Row{
		Audience: delivery.ToSession(n.Session), Kind: delivery.KindFrame, FrameType: frameAgentDispatch, Payload: n.Frame,
		Session: n.Session, Run: n.ID,
	})
}

const runColumns = `r.run_id, r.parent_run_id, r.root_run_id, r.session_id, r.agent_id, r.agent_name, r.agent_checksum, r.edge_id, r.lease,
    r.trigger_id, r.requested_by, r.trace_id, r.state, r.last_event_seq, r.error_code, r.error_message, r.error_retryable,
    r.final_message, r.created_at, r.started_at, r.ended_at, r.continues_run_id, r.regenerates_run_id,
    r.process_ended_at, r.floor_seq,
    COALESCE((SELECT s.run_id FROM runs s WHERE s.continues_run_id = r.run_id AND s.continues_run_id <> ''), ''),
    (SELECT q.payload FROM run_events q WHERE r.state = 'dispatched' AND q.run_id = r.run_id AND q.event_seq = 1 AND q.event_type = 'run.queued')`

// scanRun reads runColumns and whatever columns stand behind.
func scanRun(row Scanner, more ...any) (runlog.Run, error) {
	var r runlog.Run
	var failure event.ErrorObj
	var created, started, ended, abandoned int64
	var queued []byte
	err := row.Scan(append([]any{
		&r.ID, &r.Parent, &r.Root, &r.Session, &r.Agent, &r.AgentName, &r.AgentChecksum, &r.Edge, &r.Lease,
		&r.Trigger, &r.RequestedBy, &r.TraceID, &r.State, &r.LastEventSeq, &failure.Code, &failure.Message, &failure.Retryable,
		&r.FinalMessage, &created, &started, &ended, &r.Continues, &r.Regenerates, &abandoned, &r.Floor, &r.ContinuedBy, &queued,
	}, more...)...)
	if err != nil {
		return runlog.Run{}, err
	}
	if _, err := run.ParseState(string(r.State)); err != nil {
		return runlog.Run{}, fmt.Errorf("read run %s: %w", r.ID, err)
	}
	if failure.Code != "" {
		r.Error = &failure
	}
	r.WaitsFor = reasonOf(queued)
	r.CreatedAt, r.StartedAt, r.EndedAt = fromMicros(created), fromZero(started), fromZero(ended)
	r.ProcessEnded = abandoned > 0
	return r, nil
}

// reasonOf reads why an edge lets a run wait; "" if it does not.
func reasonOf(queued []byte) string {
	var p event.RunQueuedPayload
	if json.Unmarshal(queued, &p) != nil {
		return ""
	}
	return p.Reason
}

// Run implements runlog.RunStore.
func (r *Runlog) Run(ctx context.Context, runID id.Run) (runlog.Run, error) {
	found, err := scanRun(r.store.readDB.QueryRowContext(ctx, `SELECT `+runColumns+` FROM runs r WHERE r.run_id = $1`, string(runID)))
	if errors.Is(err, sql.ErrNoRows) {
		return runlog.Run{}, noSuchRun()
	}
	if err != nil {
		return runlog.Run{}, fmt.Errorf("read run: %w", err)
	}
	return found, nil
}

func noSuchRun() error { return fault.New(fault.NotFound, "There is no such task.") }

// Runs implements runlog.RunStore.
func (r *Runlog) Runs(ctx context.Context, q runlog.Query) ([]runlog.Run, error) {
	var where conditions
	if q.Member != "" {
		where.add(`r.session_id IN (SELECT session_id FROM session_members WHERE member_id = ? AND left_at IS NULL)`, string(q.Member))
	}
	if q.Session != "" {
		where.add(`r.session_id = ?`, string(q.Session))
	}
	if q.Agent != "" {
		where.add(`r.agent_id = ?`, string(q.Agent))
	}
	if q.State != "" {
		where.add(`r.state = ?`, string(q.State))
	}
	if q.RequestedBy != "" {
		where.add(`r.requested_by = ?`, string(q.RequestedBy))
	}
	if q.Before != "" {
		where.add(`(r.created_at, r.run_id) < (SELECT created_at, run_id FROM runs WHERE run_id = ?)`, string(q.Before))
	}
	limit := where.arg(q.Limit)
	query := `SELECT ` + runColumns + ` FROM runs r` + where.text() + ` ORDER BY r.created_at DESC, r.run_id DESC LIMIT ` + limit
	return scanRuns(r.store.readDB.QueryContext(ctx, query, where.args...))
}

// OpenRuns implements runlog.RunStore.
func (r *Runlog) OpenRuns(ctx context.Context, edge id.Edge) ([]runlog.Run, error) {
	const query = `SELECT ` + runColumns + ` FROM runs r
WHERE r.ended_at = 0 AND r.process_ended_at = 0 AND r.edge_id <> '' AND (r.edge_id = $1 OR $1 = '')`
	return scanRuns(r.store.readDB.QueryContext(ctx, query, string(edge)))
}

func scanRuns(rows *sql.Rows, err error) ([]runlog.Run, error) {
	if err != nil {
		return nil, fmt.Errorf("read runs: %w", err)
	}
	defer rows.Close()
	var found []runlog.Run
	for rows.Next() {
		r, err := scanRun(rows)
		if err != nil {
			return nil, fmt.Errorf("read runs: %w", err)
		}
		found = append(found, r)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read runs: %w", err)
	}
	return found, nil
}

// AppendOwn implements runlog.RunStore.
func (r *Runlog) AppendOwn(ctx context.Context, runID id.Run, last runlog.EventSeq, entries []runlog.Entry) (bool, error) {
	found, err := r.Run(ctx, runID)
	if err != nil {
		return false, err
	}
	var done bool
	err = r.writer.Do(ctx, lockSetOf(found.Session, runID), func(ctx context.Context, tx *Tx) (err error) {
		done, err = tx.appendOwn(ctx, runID, last, entries)
		return err
	})
	return err == nil && done, err
}

// appendOwn appends to a log if it still ends at last.
func (t *Tx) appendOwn(ctx context.Context, runID id.Run, last runlog.EventSeq, entries []runlog.Entry) (bool, error) {
	head, err := t.head(ctx, runID)
	if err != nil {
		return false, fmt.Errorf("read run: %w", err)
	}
	g, ok := head.Extend(last, entries)
	if !ok {
		return false, nil
	}
	return true, t.saveGrowth(ctx, noLane, g)
}

// conditions builds a WHERE clause; `?` stands for the next placeholder.
type conditions struct {
	parts []string
	args  []any
}

func (c *conditions) arg(value any) string {
	c.args = append(c.args, value)
	return "$" + strconv.Itoa(len(c.args))
}

func (c *conditions) add(part string, value any) {
	c.parts = append(c.parts, strings.Replace(part, "?", c.arg(value), 1))
}

func (c *conditions) text() string {
	if len(c.parts) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(c.parts, " AND ")
}
