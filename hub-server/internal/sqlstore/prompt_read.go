package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/prompt"
	"github.com/switchyard-dev/switchyard/hub-server/internal/timer"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Prompts keeps the list of questions to people: prompt.Store.
type Prompts struct {
	store  *Store
	writer *Writer
}

var _ prompt.Store = (*Prompts)(nil)

// NewPrompts reads from s and writes through w.
func NewPrompts(s *Store, w *Writer) *Prompts { return &Prompts{store: s, writer: w} }

// selectPrompt reads a prompt with its run, and with what became of the command that took its answer to the edge.
const selectPrompt = `SELECT ` + promptColumns + fromPrompts

const promptColumns = `p.request_id, p.run_id, r.session_id, r.agent_id, r.edge_id, p.kind, p.asked, p.digest, p.event_seq, p.asked_at, p.state, p.outlived,
    p.decided_by, p.decision, p.reason, p.updated_input, p.user_id, p.device_id, p.answered_at, p.delivered_at,
    p.response, p.expires_at, p.by_hub,
    COALESCE((SELECT c.receipt_code FROM edge_commands c WHERE c.delivery_id = p.delivery_id AND p.delivery_id <> ''), ''),
    COALESCE((SELECT s.run_id FROM runs s WHERE s.continues_run_id = p.run_id AND s.continues_run_id <> '' AND p.outlived), '')`

// asksPerson is true of a prompt that is no call of a client's tool.
const asksPerson = `p.kind <> 'client_tool'`

const fromPrompts = `
FROM prompts p JOIN runs r ON r.run_id = p.run_id`

func scanPrompt(row Scanner) (prompt.Prompt, error) { return scanPromptAnd(row) }

// scanPromptAnd reads promptColumns and whatever columns stand behind.
func scanPromptAnd(row Scanner, more ...any) (prompt.Prompt, error) {
	var p prompt.Prompt
	var a prompt.Answer
	var asked, answered, delivered, expires int64
	err := row.Scan(append([]any{
		&p.ID, &p.Run, &p.Session, &p.Agent, &p.Edge, &p.Kind, (*[]byte)(&p.Payload), &p.Digest, &p.Seq, &asked, &p.State,
		&p.Outlived, &a.By, &a.Decision, &a.Reason, (*[]byte)(&a.UpdatedInput), &a.User, &a.Device, &answered, &delivered, (*[]byte)(&a.Response),
		&expires, &p.ByHub, &a.Refused, &a.ContinuedBy,
	}, more...)...)
	if err != nil {
		return p, err
	}
	p.AskedAt, p.ExpiresAt, a.At, a.DeliveredAt = fromMicros(asked), fromZero(expires), fromZero(answered), fromZero(delivered)
	if p.State == prompt.Answered {
		p.Answer = &a
	}
	return p, nil
}

// Prompt implements prompt.Store.
func (p *Prompts) Prompt(ctx context.Context, run id.Run, request id.Request) (prompt.Prompt, error) {
	return p.one(ctx, ` WHERE p.request_id = $1 AND p.run_id = $2`, string(request), string(run))
}

// Asked implements prompt.Store.
func (p *Prompts) Asked(ctx context.Context, session id.Session, request id.Request) (prompt.Prompt, error) {
	return p.one(ctx, ` WHERE p.request_id = $1 AND r.session_id = $2`, string(request), string(session))
}

func (p *Prompts) one(ctx context.Context, where string, args ...any) (prompt.Prompt, error) {
	return p.first(ctx, selectPrompt+where, args...)
}

// Settled implements prompt.Store. The conversation's runs come first: the names of calls are the agents' own, and the same in many conversations.
func (p *Prompts) Settled(ctx context.Context, session id.Session, call string) ([]prompt.Prompt, error) {
	const query = `SELECT ` + promptColumns + `
FROM (SELECT * FROM runs WHERE session_id = $1) r CROSS JOIN prompts p
WHERE p.run_id = r.run_id AND p.tool_call_id || '' = $2 AND p.kind <> 'client_tool' AND p.state <> 'pending'
ORDER BY p.asked_at DESC, p.event_seq DESC LIMIT 2`
	if call == "" {
		return nil, nil
	}
	rows, err := p.store.readDB.QueryContext(ctx, query, string(session), call)
	found, err := collect(rows, err, scanPrompt)
	if err != nil {
		return nil, fmt.Errorf("read settled prompts: %w", err)
	}
	return found, nil
}

func (p *Prompts) first(ctx context.Context, query string, args ...any) (prompt.Prompt, error) {
	found, err := scanPrompt(p.store.readDB.QueryRowContext(ctx, query, args...))
	if errors.Is(err, sql.ErrNoRows) {
		return found, promptNotFound()
	}
	if err != nil {
		return found, fmt.Errorf("read prompt: %w", err)
	}
	return found, nil
}

func promptNotFound() error { return fault.New(fault.NotFound, "There is no such request.") }

// Unheard implements prompt.Store.
func (p *Prompts) Unheard(ctx context.Context, run id.Run) ([]prompt.Prompt, error) {
	const query = selectPrompt + ` WHERE p.run_id = $1 AND (p.state = 'pending' OR p.outlived) AND ` + asksPerson + ` ORDER BY p.event_seq`
	rows, err := p.store.readDB.QueryContext(ctx, query, string(run))
	found, err := collect(rows, err, scanPrompt)
	if err != nil {
		return nil, fmt.Errorf("read prompts of %s: %w", run, err)
	}
	return found, nil
}

// Due implements prompt.Store.
func (p *Prompts) Due(ctx context.Context, now time.Time, limit int) ([]prompt.Due, error) {
	const query = `SELECT ` + promptColumns + `, t.due` + fromPrompts + ` JOIN timers t ON t.key = p.request_id
WHERE t.kind = 'prompt.expiry' AND t.due <= $1 ORDER BY t.due, p.asked_at, p.run_id, p.event_seq LIMIT $2`
	rows, err := p.store.readDB.QueryContext(ctx, query, micros(now), limit)
	found, err := collect(rows, err, func(row Scanner) (d prompt.Due, err error) {
		var due int64
		d.Prompt, err = scanPromptAnd(row, &due)
		d.Timer = timer.Timer{Kind: timer.PromptExpiry, Key: string(d.ID), Due: fromMicros(due)}
		return d, err
	})
	if err != nil {
		return nil, fmt.Errorf("read questions that are due: %w", err)
	}
	return found, nil
}

// ArmAll implements prompt.Store.
func (p *Prompts) ArmAll(ctx context.Context) error {
	return p.writer.Do(ctx, nil, func(ctx context.Context, tx *Tx) error {
		const arm = `
INSERT INTO timers (kind, key, due) SELECT 'prompt.expiry', request_id, asked_at FROM prompts WHERE state = 'pending'
ON CONFLICT (kind, key) DO NOTHING`
		_, err := tx.Exec(ctx, arm)
		return err
	})
}

// operatesEdge is true of a run `r` on a machine that the user $1 was let at: theirs, or one whose owner has named them.
const operatesEdge = `EXISTS (SELECT 1 FROM edges e WHERE e.id = r.edge_id AND (e.owner_id = $1 OR EXISTS (
SELECT 1 FROM edge_operators o WHERE o.edge_id = e.id AND o.user_id = $1)))`

// mayBeAnswered is true of a prompt of run `r` that the user $1 may answer now.
const mayBeAnswered = `EXISTS (SELECT 1 FROM session_members m WHERE m.session_id = r.session_id AND m.member_id = $1 AND m.left_at IS NULL)
AND EXISTS (SELECT 1 FROM agents a WHERE a.id = r.agent_id AND ` + operatedBy + `) AND ` + operatesEdge

// operators returns the people who may answer what the run asks: mayBeAnswered, for everybody at once.
func (t *Tx) operators(ctx context.Context, run id.Run) ([]id.User, error) {
	ofMember := strings.NewReplacer("$1", "m.member_id")
	query := `SELECT m.member_id FROM session_members m JOIN runs r ON r.session_id = m.session_id JOIN agents a ON a.id = r.agent_id
WHERE r.run_id = $1 AND m.left_at IS NULL AND ` + ofMember.Replace(operatedBy) + ` AND ` + ofMember.Replace(operatesEdge) + ` ORDER BY m.member_id`
	rows, err := t.Query(ctx, query, string(run))
	return collect(rows, err, func(row Scanner) (u id.User, err error) {
		err = row.Scan(&u)
		return u, err
	})
}

// Prompts implements prompt.Store.
func (p *Prompts) Prompts(ctx context.Context, q prompt.Query) ([]prompt.Prompt, error) {
	var where conditions
	if q.User != "" {
		where.arg(string(q.User)) // the first one: $1
		where.parts = append(where.parts, mayBeAnswered)
	}
	where.parts = append(where.parts, asksPerson)
	if q.Run != "" {
		where.add(`p.run_id = ?`, string(q.Run))
	}
	switch q.State {
	case "":
	case prompt.Pending:
		where.parts = append(where.parts, `p.state = 'pending'`) // as the index of them says
	default:
		where.add(`p.state = ?`, string(q.State))
	}
	if q.After != "" {
		const behind = `(p.asked_at, p.run_id, p.event_seq) > (SELECT asked_at, run_id, event_seq FROM prompts WHERE request_id = ?)`
		where.add(behind, string(q.After))
	}
	limit := where.arg(q.Limit)
	query := selectPrompt + where.text() + ` ORDER BY p.asked_at, p.run_id, p.event_seq LIMIT ` + limit
	rows, err := p.store.readDB.QueryContext(ctx, query, where.args...)
	found, err := collect(rows, err, scanPrompt)
	if err != nil {
		return nil, fmt.Errorf("list prompts: %w", err)
	}
	return found, nil
}

// mayAnswer says once more, inside the transaction, what the guard has said before it: rights may have gone meanwhile.
func (t *Tx) mayAnswer(ctx context.Context, by id.User, run id.Run) (bool, error) {
	const query = `SELECT 1 FROM runs r JOIN agents a ON a.id = r.agent_id WHERE r.run_id = $2 AND ` + operatedBy + ` AND ` + operatesEdge
	return hasRow(t.QueryRow(ctx, query, string(by), string(run)))
}

// setDelivery names the command that takes an answer to the edge.
func (t *Tx) setDelivery(ctx context.Context, request id.Request, delivery id.Delivery) error {
	_, err := t.Exec(ctx, `UPDATE prompts SET delivery_id = $2 WHERE request_id = $1`, string(request), string(delivery))
	if err != nil {
		return fmt.Errorf("note command of %s: %w", request, err)
	}
	return nil
}
