package sqlstore

import (
	"context"
	"fmt"
	"slices"

	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/hub-server/internal/timer"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
)

// promptBytes is roughly what a notice of a prompt comes to.
const promptBytes = 2 << 10

// mayWait says whether a run in this state can have prompts that wait for people: one that merely works has none.
func mayWait(s run.State) bool {
	return s == run.StateDispatched || s == run.StateWaitingPerson || s == run.StateCancelling
}

// pendingPrompts is called under the lock of the run. It returns what waits for people, and the calls that wait for clients.
func (t *Tx) pendingPrompts(ctx context.Context, runID id.Run) (asked, calls []id.Request, err error) {
	const query = `SELECT request_id, kind FROM prompts WHERE run_id = $1 AND state = 'pending' ORDER BY event_seq`
	rows, err := t.Query(ctx, query, string(runID))
	err = scanAll(rows, err, func(row Scanner) error {
		var r id.Request
		var kind event.PromptKind
		err := row.Scan(&r, &kind)
		if kind == event.PromptClientTool {
			calls = append(calls, r)
		} else {
			asked = append(asked, r)
		}
		return err
	})
	return asked, calls, err
}

// savePrompts makes the list of prompts say what the log says since it has grown.
func (t *Tx) savePrompts(ctx context.Context, g *runlog.Growth) error {
	p := g.Prompts
	for _, q := range p.Asked {
		if err := t.insertPrompt(ctx, g.Run, q); err != nil {
			return fmt.Errorf("insert %s: %w", q.ID, err)
		}
	}
	for _, a := range p.Answered {
		if err := t.settlePrompt(ctx, g.Run, a); err != nil {
			return fmt.Errorf("settle %s: %w", a.RequestID, err)
		}
	}
	for _, request := range p.Expired {
		if err := t.expirePrompt(ctx, g.Run, request); err != nil {
			return fmt.Errorf("expire %s: %w", request, err)
		}
	}
	if err := t.deliverPrompts(ctx, g); err != nil {
		return err
	}
	if p.Abandoned {
		if err := t.abandon(ctx, g.Run, p.Outlived); err != nil {
			return fmt.Errorf("note the end of the process: %w", err)
		}
	}
	if g.State.Ended() && (len(g.Pending) > 0 || len(g.Calls) > 0 || len(p.Asked) > 0) {
		if err := t.cancelPrompts(ctx, g.Run); err != nil {
			return fmt.Errorf("cancel what is open: %w", err)
		}
	}
	return t.saveCalls(ctx, g)
}

func (t *Tx) deliverPrompts(ctx context.Context, g *runlog.Growth) error {
	for _, d := range g.Prompts.Delivered {
		const deliver = `
UPDATE prompts SET delivered_at = $3 WHERE request_id = $1 AND run_id = $2 AND state = 'answered' AND delivered_at = 0`
		if _, err := t.Exec(ctx, deliver, string(d.Request), string(g.Run), micros(d.At)); err != nil {
			return fmt.Errorf("note delivery of %s: %w", d.Request, err)
		}
	}
	return nil
}

// saveCalls closes the calls of clients' tools that nobody waits for any more, and counts those that wait.
func (t *Tx) saveCalls(ctx context.Context, g *runlog.Growth) error {
	for _, request := range g.Prompts.Dropped {
		if err := t.dropCall(ctx, g.Run, request); err != nil {
			return fmt.Errorf("drop call %s: %w", request, err)
		}
	}
	if !g.Prompts.Called {
		return nil
	}
	if _, err := t.Exec(ctx, `UPDATE runs SET client_calls = $2 WHERE run_id = $1`, string(g.Run), len(g.Calls)); err != nil {
		return fmt.Errorf("count calls: %w", err)
	}
	return nil
}

// tellPrompts addresses what has moved to everybody who may answer it, on all of their devices.
func (t *Tx) tellPrompts(ctx context.Context, g *runlog.Growth) error {
	if len(g.Prompts.Moves) == 0 {
		return nil
	}
	users, err := t.operators(ctx, g.Run)
	if err != nil {
		return fmt.Errorf("find who may answer: %w", err)
	}
	for _, m := range g.Prompts.Moves {
		for _, u := range users {
			t.Emit(delivery.Row{
				Audience: delivery.ToUser(u), Kind: delivery.KindPrompt, Session: g.Session, Run: g.Run, Prompt: m.Request,
				From: uint64(m.By), To: uint64(m.By), Bytes: promptBytes,
			})
		}
		if err := t.pushPrompt(ctx, g, m, users); err != nil {
			return err
		}
	}
	return nil
}

// pushPrompt has those who may answer told where they are not connected, and takes that back from all once there is nothing to answer.
func (t *Tx) pushPrompt(ctx context.Context, g *runlog.Growth, m runlog.PromptMove, users []id.User) error {
	asked := slices.ContainsFunc(g.Prompts.Asked, func(q runlog.Question) bool { return q.ID == m.Request && q.Seq == m.By })
	if !asked {
		return t.withdrawPush(ctx, string(m.Request), "")
	}
	for _, u := range users {
		if err := t.planPush(ctx, occasion{notification: string(m.Request), user: u, kind: "prompt", session: g.Session, run: g.Run}); err != nil {
			return err
		}
	}
	return nil
}

// insertPrompt keeps the first prompt of an id that is taken: a second one is the edge's mistake, or its malice.
func (t *Tx) insertPrompt(ctx context.Context, runID id.Run, q runlog.Question) error {
	const insert = `
INSERT INTO prompts (request_id, run_id, kind, asked, digest, event_seq, asked_at, state, outlived, decided_by, decision, reason,
    updated_input, user_id, device_id, answered_at, delivery_id, delivered_at, expires_at, by_hub, tool_call_id)
VALUES ($1, $2, $3, $4, $5, $6, $7, 'pending', $8, '', '', '', NULL, '', '', 0, '', 0, $9, $10, $11) ON CONFLICT (request_id) DO NOTHING`
	var expires int64
	if q.Limit > 0 {
		expires = micros(t.now.Add(q.Limit))
	}
	_, err := t.Exec(ctx, insert, string(q.ID), string(runID), string(q.Kind), []byte(q.Payload), q.Digest, int64(q.Seq), micros(t.now),
		q.Outlived, expires, q.ByHub, q.Call)
	if err != nil {
		return err
	}
	// Due at once: whoever sees it first computes when it really is, by the settings of its day.
	return t.armTimer(ctx, timer.Timer{Kind: timer.PromptExpiry, Key: string(q.ID), Due: t.now})
}

func (t *Tx) expirePrompt(ctx context.Context, runID id.Run, request id.Request) error {
	const expire = `UPDATE prompts SET state = 'expired' WHERE request_id = $1 AND run_id = $2 AND state = 'pending'`
	if _, err := t.Exec(ctx, expire, string(request), string(runID)); err != nil {
		return err
	}
	return t.dropTimer(ctx, timer.PromptExpiry, string(request))
}

// dropCall closes a call whose agent is gone, though its run waits on for people.
func (t *Tx) dropCall(ctx context.Context, runID id.Run, request id.Request) error {
	const drop = `UPDATE prompts SET state = 'cancelled' WHERE request_id = $1 AND run_id = $2 AND state = 'pending'`
	if _, err := t.Exec(ctx, drop, string(request), string(runID)); err != nil {
		return err
	}
	return t.dropTimer(ctx, timer.PromptExpiry, string(request))
}

// cancelPrompts closes what a run has asked that is over: nobody is left who could be answered.
func (t *Tx) cancelPrompts(ctx context.Context, runID id.Run) error {
	const stop = `
DELETE FROM timers WHERE kind = $1 AND key IN (SELECT request_id FROM prompts WHERE run_id = $2 AND state = 'pending')`
	if _, err := t.Exec(ctx, stop, string(timer.PromptExpiry), string(runID)); err != nil {
		return fmt.Errorf("stop timers: %w", err)
	}
	_, err := t.Exec(ctx, `UPDATE prompts SET state = 'cancelled' WHERE run_id = $1 AND state = 'pending'`, string(runID))
	return err
}

// settlePrompt is the conditional update that lets one answer through.
func (t *Tx) settlePrompt(ctx context.Context, runID id.Run, a event.PromptAnsweredPayload) error {
	const settle = `
UPDATE prompts SET state = 'answered', decided_by = $3, decision = $4, reason = $5, updated_input = $6, user_id = $7, device_id = $8,
    answered_at = $9, response = $10 WHERE request_id = $1 AND run_id = $2 AND state = 'pending'`
	_, err := t.Exec(ctx, settle, string(a.RequestID), string(runID), string(a.By), string(a.Decision), a.Reason, []byte(a.UpdatedInput),
		string(a.UserID), string(a.DeviceID), micros(t.now), []byte(a.Response))
	if err != nil {
		return err
	}
	return t.dropTimer(ctx, timer.PromptExpiry, string(a.RequestID))
}

// abandon notes that a run has no process any more, and which of its prompts had no answer then.
func (t *Tx) abandon(ctx context.Context, runID id.Run, outlived []id.Request) error {
	if _, err := t.Exec(ctx, `UPDATE runs SET process_ended_at = $2 WHERE run_id = $1`, string(runID), micros(t.now)); err != nil {
		return err
	}
	for _, request := range outlived {
		const mark = `UPDATE prompts SET outlived = TRUE WHERE request_id = $1 AND run_id = $2 AND NOT by_hub AND kind <> 'client_tool'`
		if _, err := t.Exec(ctx, mark, string(request), string(runID)); err != nil {
			return err
		}
	}
	return nil
}
