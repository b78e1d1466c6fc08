package sqlstore

import (
	"context"
	"fmt"

	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
)

// noLane marks events of the hub's own.
const noLane int64 = 0

// head reads where a run's log ends; sql.ErrNoRows.
func (t *Tx) head(ctx context.Context, runID id.Run) (runlog.Head, error) {
	const query = `
SELECT session_id, agent_id, edge_id, lease, trace_id, state, last_event_seq, said_id, final_message, process_ended_at > 0
FROM runs WHERE run_id = $1`
	h := runlog.Head{Run: runID}
	err := t.QueryRow(ctx, query, string(runID)).Scan(&h.Session, &h.Agent, &h.Edge, &h.Lease, &h.TraceID, &h.State, &h.Last, &h.Said,
		&h.Final, &h.ProcessEnded)
	if err == nil && mayWait(h.State) {
		h.Pending, err = t.pendingPrompts(ctx, runID)
	}
	return h, err
}

// saveGrowth stores what was appended to a log: the events, the run's new state, and what the conversation is told.
func (t *Tx) saveGrowth(ctx context.Context, laneID int64, g *runlog.Growth) error {
	if len(g.Events) == 0 {
		return nil
	}
	if err := t.insertEvents(ctx, laneID, g); err != nil {
		return fmt.Errorf("insert events: %w", err)
	}
	if err := t.updateRun(ctx, g); err != nil {
		return fmt.Errorf("update run: %w", err)
	}
	if err := t.insertArtifacts(ctx, g.Artifacts); err != nil {
		return fmt.Errorf("insert artifacts: %w", err)
	}
	if err := t.savePrompts(ctx, g); err != nil {
		return fmt.Errorf("keep up the list of prompts: %w", err)
	}
	t.Emit(delivery.Row{
		Audience: delivery.ToSession(g.Session), Kind: delivery.KindRun, Session: g.Session, Run: g.Run,
		From: uint64(g.From), To: uint64(g.Last), Bytes: g.Bytes,
	})
	if err := t.tellPrompts(ctx, g); err != nil {
		return err
	}
	if g.Post {
		return t.postFinal(ctx, g)
	}
	return nil
}

const insertEventsHead = `
INSERT INTO run_events (run_id, event_seq, place, lane_id, producer_seq, event_id, event_type, wire_type, occurred_at, recorded_at,
    payload, payload_checksum, schema_version, trace_id, span_id, late)`

func (t *Tx) insertEvents(ctx context.Context, laneID int64, g *runlog.Growth) error {
	last, err := t.takePlaces(ctx, g.Session, len(g.Events))
	if err != nil {
		return err
	}
	const width = 16
	first := last - int64(len(g.Events)) + 1
	args := make([]any, 0, len(g.Events)*width)
	for i, e := range g.Events {
		var lane, producer any
		if e.ProducerSeq > 0 {
			lane, producer = laneID, int64(e.ProducerSeq)
		}
		args = append(args, string(g.Run), int64(e.Seq), first+int64(i), lane, producer, string(e.ID), string(e.Type),
			string(e.WireType), micros(e.OccurredAt), micros(t.now), []byte(e.Body.Payload), e.Body.Checksum,
			runlog.SchemaVersion, e.TraceID, e.SpanID, e.Late)
	}
	return t.insertRows(ctx, insertEventsHead, width, args)
}

// takePlaces takes the next n places of a conversation's order and returns the last of them.
func (t *Tx) takePlaces(ctx context.Context, s id.Session, n int) (last int64, err error) {
	const take = `UPDATE conversation_counters SET last_place = last_place + $2 WHERE session_id = $1 RETURNING last_place`
	if err := t.QueryRow(ctx, take, string(s), n).Scan(&last); err != nil {
		return 0, fmt.Errorf("take places: %w", err)
	}
	return last, nil
}

func (t *Tx) updateRun(ctx context.Context, g *runlog.Growth) error {
	const grow = `UPDATE runs SET state = $2, last_event_seq = $3, final_message = $4 WHERE run_id = $1`
	if _, err := t.Exec(ctx, grow, string(g.Run), string(g.State), int64(g.Last), string(g.Final)); err != nil {
		return err
	}
	if g.Started {
		if _, err := t.Exec(ctx, `UPDATE runs SET started_at = $2 WHERE run_id = $1`, string(g.Run), micros(t.now)); err != nil {
			return err
		}
	}
	if g.Spoken != nil {
		const speak = `UPDATE runs SET said_id = $2, said = $3 WHERE run_id = $1`
		if _, err := t.Exec(ctx, speak, string(g.Run), string(g.Spoken.Message), g.Spoken.Text); err != nil {
			return err
		}
	}
	if g.Ended {
		return t.endRun(ctx, g)
	}
	return nil
}

// endRun keeps the outcome, and takes back a start that the edge has not answered: it would start a run that is over.
func (t *Tx) endRun(ctx context.Context, g *runlog.Growth) error {
	var failure event.ErrorObj
	if g.State == run.StateFailed && g.Failure != nil {
		failure = *g.Failure
	}
	const end = `UPDATE runs SET ended_at = $2, error_code = $3, error_message = $4, error_retryable = $5 WHERE run_id = $1`
	_, err := t.Exec(ctx, end, string(g.Run), micros(t.now), string(failure.Code), failure.Message, failure.Retryable)
	if err != nil {
		return err
	}
	const withdraw = `UPDATE edge_commands SET state = 'withdrawn' WHERE run_id = $1 AND kind = 'start' AND state IN ('pending', 'sent')`
	_, err = t.Exec(ctx, withdraw, string(g.Run))
	return err
}

// postFinal makes the agent's last words a message of the conversation (R13).
func (t *Tx) postFinal(ctx context.Context, g *runlog.Growth) error {
	var text string
	if err := t.QueryRow(ctx, `SELECT said FROM runs WHERE run_id = $1`, string(g.Run)).Scan(&text); err != nil {
		return fmt.Errorf("read final text: %w", err)
	}
	if err := t.insertAgentMessage(ctx, g.Final, g.Session, g.Agent, g.Run, text, t.now); err != nil {
		return fmt.Errorf("post final text: %w", err)
	}
	return nil
}
