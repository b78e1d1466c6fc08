package sqlstore

import (
	"context"
	"fmt"

	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
)

const insertRunSQL = `
INSERT INTO runs (run_id, parent_run_id, root_run_id, session_id, agent_id, agent_name, agent_checksum, edge_id, lease, trigger_id,
    requested_by, trace_id, place_owner, place_edge, place_profile, place_runtime, dispatch, state, last_event_seq, error_code,
    error_message, error_retryable, said_id, said, final_message, created_at, started_at, ended_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, 0, '', '', FALSE, '', '', '', $19, 0, 0)`

const frameAgentDispatch = "agent.dispatch" // S3

// insertRun stores a prepared run with its command and its agent.dispatch frame. Its locks are runLocks.
func (t *Tx) insertRun(ctx context.Context, n runlog.NewRun) error {
	_, err := t.Exec(ctx, insertRunSQL, string(n.ID), string(n.Parent), string(n.Root), string(n.Session), string(n.Agent), n.AgentName,
		n.AgentChecksum, string(n.Edge), int64(n.Lease), string(n.Trigger), string(n.RequestedBy), n.TraceID,
		string(n.Placement.Owner), string(n.Placement.Edge), n.Placement.Profile, n.Placement.Runtime, []byte(n.Dispatch),
		string(n.State), micros(n.CreatedAt))
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
