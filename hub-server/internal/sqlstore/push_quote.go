package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/switchyard-dev/switchyard/hub-server/internal/prompt"
	"github.com/switchyard-dev/switchyard/hub-server/internal/push"
)

// Quote implements push.DeliveryStore.
func (p *Pushes) Quote(ctx context.Context, d push.Delivery) (q push.Quote, err error) {
	switch {
	case d.Type == "prompt":
		q, err = p.quotePrompt(ctx, d)
	case d.Message != "":
		q, err = p.quoteMessage(ctx, d)
	case d.Run != "":
		const query = `SELECT a.name FROM runs r JOIN agents a ON a.id = r.agent_id WHERE r.run_id = $1`
		err = p.store.readDB.QueryRowContext(ctx, query, string(d.Run)).Scan(&q.From)
	}
	if errors.Is(err, sql.ErrNoRows) {
		return push.Quote{}, nil
	}
	if err != nil {
		return push.Quote{}, fmt.Errorf("quote %s: %w", d.Notification, err)
	}
	return q, nil
}

func (p *Pushes) quotePrompt(ctx context.Context, d push.Delivery) (q push.Quote, err error) {
	const query = `SELECT a.name, p.asked FROM prompts p JOIN runs r ON r.run_id = p.run_id JOIN agents a ON a.id = r.agent_id WHERE p.request_id = $1`
	var asked []byte
	if err := p.store.readDB.QueryRowContext(ctx, query, d.Notification).Scan(&q.From, &asked); err != nil {
		return q, err
	}
	q.Text = prompt.Subject(asked)
	return q, nil
}

func (p *Pushes) quoteMessage(ctx context.Context, d push.Delivery) (q push.Quote, err error) {
	const query = `
SELECT COALESCE(u.display_name, a.name, ''), m.content_type, m.content FROM messages m LEFT JOIN users u ON u.id = m.sender_id
LEFT JOIN agents a ON a.id = m.sender_id WHERE m.id = $1 AND m.session_id = $2 AND m.recalled_at = 0`
	var kind string
	var content []byte
	if err := p.store.readDB.QueryRowContext(ctx, query, string(d.Message), string(d.Session)).Scan(&q.From, &kind, &content); err != nil {
		return q, err
	}
	var text struct{ Text string }
	if kind == "text" && json.Unmarshal(content, &text) == nil {
		q.Text = text.Text
	}
	return q, nil
}
