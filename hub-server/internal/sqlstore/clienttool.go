package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/hub-server/internal/prompt"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// OfferTools implements chat.ToolStore.
func (c *Chat) OfferTools(ctx context.Context, session id.Session, user id.User, tools []wire.ClientTool) error {
	list, err := event.Encode(tools)
	if err != nil {
		return fmt.Errorf("encode tools of a client: %w", err)
	}
	return c.writer.Do(ctx, []Lock{LockConversation(string(session))}, func(ctx context.Context, tx *Tx) error {
		in, err := tx.memberNow(ctx, session, chat.OfUser(user))
		switch {
		case err != nil:
			return err
		case !in:
			return sessionNotFound()
		case len(tools) == 0:
			return tx.withdrawTools(ctx, session, chat.OfUser(user))
		}
		const offer = `
INSERT INTO client_tools (session_id, user_id, tools) VALUES ($1, $2, $3) ON CONFLICT (session_id, user_id) DO UPDATE SET tools = excluded.tools`
		if _, err := tx.Exec(ctx, offer, string(session), string(user), list); err != nil {
			return fmt.Errorf("keep tools of a client: %w", err)
		}
		return nil
	})
}

// withdrawTools forgets what a member's clients carry out there.
func (t *Tx) withdrawTools(ctx context.Context, session id.Session, m chat.MemberID) error {
	if _, err := t.Exec(ctx, `DELETE FROM client_tools WHERE session_id = $1 AND user_id = $2`, string(session), string(m)); err != nil {
		return fmt.Errorf("withdraw tools of a client: %w", err)
	}
	return nil
}

// ClientTools implements runlog.PersonStore.
func (r *Runlog) ClientTools(ctx context.Context, session id.Session, user id.User) (tools []wire.ClientTool, err error) {
	const query = `SELECT tools FROM client_tools WHERE session_id = $1 AND user_id = $2`
	var list []byte
	err = r.store.queryRowPrepared(ctx, query, string(session), string(user)).Scan(&list)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(list, &tools)
	}
	if err != nil {
		return nil, fmt.Errorf("read tools of a client: %w", err)
	}
	return tools, nil
}

// Of the calls of a client's tools in the conversation $1, those that wait for a client of the user $2: the run, or that which began all, is theirs.
const fromCalls = fromPrompts + ` JOIN runs o ON o.run_id = r.root_run_id
  LEFT JOIN card_prompts c ON c.request_id = p.request_id
WHERE r.session_id = $1 AND o.requested_by = $2 AND p.kind = 'client_tool'`

// Called implements prompt.Store. Ids of cards are unique in the trace, those of agents are not: the call of the card comes first, then the one that
// waits, then the newest.
func (p *Prompts) Called(ctx context.Context, session id.Session, user id.User, named string) (prompt.Prompt, error) {
	const query = `SELECT ` + promptColumns + fromCalls + ` AND p.request_id IN (
  SELECT q.request_id FROM prompts q WHERE q.tool_call_id = $3 AND q.tool_call_id <> '' UNION ALL
  SELECT f.request_id FROM card_prompts f JOIN card_traces t ON t.trace_id = f.trace_id
  WHERE t.session_id = $1 AND f.card_id = $3 AND f.card_id <> '')
ORDER BY CASE WHEN c.card_id = $3 THEN 0 ELSE 1 END, CASE WHEN p.state = 'pending' THEN 0 ELSE 1 END, p.asked_at DESC, p.event_seq DESC LIMIT 1`
	return p.first(ctx, query, string(session), string(user), named)
}
