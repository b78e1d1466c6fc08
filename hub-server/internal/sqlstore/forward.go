package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/shared/fault"
)

var _ chat.ForwardStore = (*Chat)(nil)

// NameOf implements chat.ForwardStore.
func (c *Chat) NameOf(ctx context.Context, m chat.MemberID) (name string, err error) {
	query := `SELECT name FROM users WHERE id = $1`
	if m.Type() == chat.AgentMember {
		query = `SELECT name FROM agents WHERE id = $1`
	}
	err = c.store.queryRowPrepared(ctx, query, string(m)).Scan(&name)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return name, err
}

// Forward implements chat.ForwardStore.
func (c *Chat) Forward(ctx context.Context, f chat.Forwarding) (copies []chat.Copy, err error) {
	locks := []Lock{LockConversation(string(f.Session))}
	for _, m := range f.Copies {
		locks = append(locks, LockConversation(string(m.Session)))
	}
	if len(f.Copies) > 0 && len(chat.Uploads(f.Copies[0].Attachments)) > 0 {
		locks = append(locks, lockFiles(f.By))
	}
	err = c.writer.Do(ctx, locks, func(ctx context.Context, tx *Tx) error {
		copies = nil
		for _, m := range f.Copies {
			one, err := tx.forward(ctx, f, m)
			if err != nil {
				return err
			}
			copies = append(copies, one)
		}
		return nil
	})
	return copies, err
}

func (t *Tx) forward(ctx context.Context, f chat.Forwarding, m chat.Message) (chat.Copy, error) {
	stored, again, err := sent(t.QueryRow(ctx, selectSent, string(m.Session), string(m.ClientMsgID)))
	switch {
	case err != nil:
		return chat.Copy{}, err
	case again && stored.Sender != m.Sender:
		return chat.Copy{}, fault.New(fault.Conflict, "Somebody else has used a client_msg_id there. Make a new UUID for each copy.")
	case again:
		return chat.Copy{Message: stored, Again: true}, nil
	}
	if err := t.mayForward(ctx, f); err != nil {
		return chat.Copy{}, err
	}
	if err := t.mayPost(ctx, m.Session, f.By); err != nil {
		return chat.Copy{}, err
	}
	m.Seq, err = t.insertMessage(ctx, m)
	return chat.Copy{Message: m}, err
}

// mayForward says whether the source can be read, and says what was read of it.
func (t *Tx) mayForward(ctx context.Context, f chat.Forwarding) error {
	const source = `
SELECT m.revision, m.recalled_at FROM messages m JOIN session_members r ON r.session_id = m.session_id
 WHERE m.id = $1 AND m.session_id = $2 AND r.member_id = $3 AND r.left_at IS NULL`
	var revision chat.Revision
	var recalled int64
	err := t.QueryRow(ctx, source, string(f.Source), string(f.Session), string(f.By)).Scan(&revision, &recalled)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return messageNotFound()
	case err != nil:
		return fmt.Errorf("read source: %w", err)
	case recalled > 0:
		return fault.New(fault.Conflict, "The message was taken back.")
	case revision != f.Revision:
		return chat.ErrMoved
	}
	return nil
}

// originText is the stored form of who said first what a message says.
func originText(o *chat.Origin) (string, error) {
	if o == nil {
		return "", nil
	}
	text, err := json.Marshal(o)
	if err != nil {
		return "", fmt.Errorf("encode origin: %w", err)
	}
	return string(text), nil
}
