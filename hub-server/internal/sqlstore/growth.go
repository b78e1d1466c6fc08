package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/hub-server/internal/notice"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
)

// noLane marks events of the hub's own.
const noLane int64 = 0

// head reads where a run's log ends; sql.ErrNoRows.
func (t *Tx) head(ctx context.Context, runID id.Run) (runlog.Head, error) {
	heads, err := t.heads(ctx, []id.Run{runID})
	if err != nil {
		return runlog.Head{}, err
	}
	head, ok := heads[runID]
	if !ok {
		return runlog.Head{}, sql.ErrNoRows
	}
	return head, nil
}

var selectHeads = bulk{
	begin: `
SELECT run_id, session_id, agent_id, edge_id, lease, trace_id, state, last_event_seq, said_id, final_message, process_ended_at > 0,
    client_calls > 0
FROM runs WHERE run_id IN (`,
	width: 1, end: `)`,
}

// heads reads where the logs of runs end; those that the store does not know are missing.
func (t *Tx) heads(ctx context.Context, runs []id.Run) (map[id.Run]runlog.Head, error) {
	heads, calls := make(map[id.Run]runlog.Head, len(runs)), map[id.Run]bool{}
	err := t.queryRows(ctx, selectHeads, textArgs(runs), func(row Scanner) error {
		var h runlog.Head
		var called bool
		err := row.Scan(&h.Run, &h.Session, &h.Agent, &h.Edge, &h.Lease, &h.TraceID, &h.State, &h.Last, &h.Said, &h.Final, &h.ProcessEnded, &called)
		heads[h.Run], calls[h.Run] = h, called
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read runs: %w", err)
	}
	for runID, head := range heads {
		if !mayWait(head.State) && !calls[runID] {
			continue
		}
		if head.Pending, head.Calls, err = t.pendingPrompts(ctx, runID); err != nil {
			return nil, fmt.Errorf("read prompts of %s: %w", runID, err)
		}
		heads[runID] = head
	}
	return heads, nil
}

// textArgs are strings of any type as arguments of a statement.
func textArgs[S ~string](all []S) []any {
	out := make([]any, len(all))
	for i, one := range all {
		out[i] = string(one)
	}
	return out
}

// saveGrowth stores what was appended to logs: the events, the runs' new states, and what the conversations are told.
func (t *Tx) saveGrowth(ctx context.Context, laneID int64, grown ...*runlog.Growth) error {
	grown = slices.DeleteFunc(grown, func(g *runlog.Growth) bool { return len(g.Events) == 0 })
	if err := t.insertEvents(ctx, laneID, grown); err != nil {
		return fmt.Errorf("insert events: %w", err)
	}
	if err := t.updateRuns(ctx, grown); err != nil {
		return fmt.Errorf("update runs: %w", err)
	}
	for _, g := range grown {
		if err := t.saveConsequences(ctx, g); err != nil {
			return fmt.Errorf("append to %s: %w", g.Run, err)
		}
	}
	return nil
}

// saveConsequences stores what some events mean beside the log, and tells the conversation.
func (t *Tx) saveConsequences(ctx context.Context, g *runlog.Growth) error {
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
	if g.State.Ended() {
		t.over = append(t.over, g.Run)
	}
	if err := t.tellPrompts(ctx, g); err != nil {
		return err
	}
	if g.Post {
		if err := t.postFinal(ctx, g); err != nil {
			return err
		}
	}
	return t.tellDone(ctx, g)
}

// tellDone notifies whoever asked for a run of its outcome, if they are still in its conversation. Who stopped it knows, and one that
// another run goes on with is not over.
func (t *Tx) tellDone(ctx context.Context, g *runlog.Growth) error {
	if !g.Ended || g.Continued || g.State == run.StateCancelled {
		return nil
	}
	const query = `SELECT r.requested_by FROM runs r JOIN session_members m ON m.session_id = r.session_id AND m.member_id = r.requested_by
WHERE r.run_id = $1 AND m.left_at IS NULL`
	var user id.User
	switch err := t.QueryRow(ctx, query, string(g.Run)).Scan(&user); {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return fmt.Errorf("find who asked: %w", err)
	}
	n, err := notice.Done(user, g.Run, g.Session, g.Agent, g.State)
	if err != nil {
		return err
	}
	return t.notify(ctx, n)
}

var insertEvents = bulk{
	begin: `
INSERT INTO run_events (run_id, event_seq, place, lane_id, producer_seq, event_id, event_type, wire_type, occurred_at, recorded_at,
    payload, payload_checksum, schema_version, trace_id, span_id, late) VALUES `,
	width: 16,
}

func (t *Tx) insertEvents(ctx context.Context, laneID int64, grown []*runlog.Growth) error {
	places, err := t.takePlaces(ctx, grown)
	if err != nil {
		return err
	}
	var args, order []any
	for _, g := range grown {
		order = append(order, string(g.Session), places[g.Session]+1, len(g.Events), string(g.Run), int64(g.From))
		for _, e := range g.Events {
			places[g.Session]++
			args = t.appendEvent(args, g.Run, e, places[g.Session], laneID)
		}
	}
	if err := t.execRows(ctx, insertOrder, order); err != nil {
		return fmt.Errorf("enter into the order: %w", err)
	}
	return t.execRows(ctx, insertEvents, args)
}

// appendEvent adds the row of an event for insertEvents.
func (t *Tx) appendEvent(args []any, run id.Run, e runlog.Placed, place, laneID int64) []any {
	var lane, producer any
	if e.ProducerSeq > 0 {
		lane, producer = laneID, int64(e.ProducerSeq)
	}
	return append(args, string(run), int64(e.Seq), place, lane, producer, string(e.ID), string(e.Type),
		string(e.WireType), micros(e.OccurredAt), micros(t.now), []byte(e.Body.Payload), e.Body.Checksum,
		runlog.SchemaVersion, e.TraceID, e.SpanID, e.Late)
}

var takePlaces = bulk{
	begin: `UPDATE conversation_counters SET last_place = last_place + v.column2 FROM (VALUES `,
	width: 2, types: "TEXT BIGINT",
	end: `) AS v WHERE session_id = v.column1 RETURNING session_id, last_place`,
}

// takePlaces takes the next places of each conversation's order for all events and returns the places before them.
func (t *Tx) takePlaces(ctx context.Context, grown []*runlog.Growth) (before map[id.Session]int64, err error) {
	taken := map[id.Session]int64{}
	for _, g := range grown {
		taken[g.Session] += int64(len(g.Events))
	}
	var args []any
	for _, session := range slices.Sorted(maps.Keys(taken)) {
		args = append(args, string(session), taken[session])
	}
	before = make(map[id.Session]int64, len(taken))
	err = t.queryRows(ctx, takePlaces, args, func(row Scanner) error {
		var session id.Session
		var last int64
		err := row.Scan(&session, &last)
		before[session] = last - taken[session]
		return err
	})
	if err == nil && len(before) < len(taken) {
		err = errors.New("a conversation has no counter")
	}
	if err != nil {
		return nil, fmt.Errorf("take places: %w", err)
	}
	return before, nil
}

var growRuns = bulk{
	begin: `UPDATE runs SET state = v.column2, last_event_seq = v.column3, final_message = v.column4 FROM (VALUES `,
	width: 4, types: "TEXT TEXT BIGINT TEXT",
	end: `) AS v WHERE run_id = v.column1`,
}

// updateRuns writes what changes with every event.
func (t *Tx) updateRuns(ctx context.Context, grown []*runlog.Growth) error {
	var args []any
	for _, g := range grown {
		args = append(args, string(g.Run), string(g.State), int64(g.Last), string(g.Final))
	}
	return t.execRows(ctx, growRuns, args)
}

// updateRun writes what changes with a few events only.
func (t *Tx) updateRun(ctx context.Context, g *runlog.Growth) error {
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
