package sqlstore

import (
	"context"
	"fmt"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/shared/fault"
)

// Join implements chat.SessionStore.
func (c *Chat) Join(ctx context.Context, j chat.Joining, claim account.Claim) error {
	locks := []Lock{lockAttempt(claim.Attempt), LockConversation(string(j.Session))}
	return c.writer.Do(ctx, locks, func(ctx context.Context, tx *Tx) error {
		if err := tx.claim(ctx, claim); err != nil {
			return err
		}
		if err := tx.mayJoin(ctx, j); err != nil {
			return err
		}
		if err := tx.putMember(ctx, j.Session, j.Member); err != nil {
			return err
		}
		if err := tx.touchConversation(ctx, j.Session); err != nil {
			return fmt.Errorf("touch conversation: %w", err)
		}
		tx.emitJoined(j.Session, j.Member.ID, j.Created)
		tx.emitToSession(j.Session, frameMemberJoined, j.Joined)
		return nil
	})
}

func (t *Tx) mayJoin(ctx context.Context, j chat.Joining) error {
	var members, by, already int
	const count = `
SELECT COUNT(*), COALESCE(SUM(CASE WHEN member_id = $2 THEN 1 ELSE 0 END), 0), COALESCE(SUM(CASE WHEN member_id = $3 THEN 1 ELSE 0 END), 0)
FROM session_members WHERE session_id = $1 AND left_at IS NULL`
	err := t.QueryRow(ctx, count, string(j.Session), string(j.By), string(j.Member.ID)).Scan(&members, &by, &already)
	switch {
	case err != nil:
		return fmt.Errorf("count members: %w", err)
	case by == 0:
		return sessionNotFound()
	case already > 0:
		return fault.New(fault.Conflict, "Somebody else has just added this member.")
	case members >= chat.MaxMembers:
		return fault.New(fault.TooLarge, "This conversation has %d members and takes no more.", members)
	}
	return nil
}

// Leave implements chat.SessionStore. The person's own row comes first: it closes their interval, so that nothing behind it is theirs.
func (c *Chat) Leave(ctx context.Context, l chat.Leaving) error {
	return c.writer.Do(ctx, []Lock{LockConversation(string(l.Session))}, func(ctx context.Context, tx *Tx) error {
		const leave = `UPDATE session_members SET left_at = $3 WHERE session_id = $1 AND member_id = $2 AND left_at IS NULL`
		n, err := tx.Exec(ctx, leave, string(l.Session), string(l.Member), micros(tx.now))
		if err != nil {
			return fmt.Errorf("end membership: %w", err)
		}
		if n == 0 {
			return nil
		}
		tx.emitLeft(l)
		if l.Heir != "" {
			if err := tx.handOver(ctx, l); err != nil {
				return err
			}
		}
		return tx.touchConversation(ctx, l.Session)
	})
}

func (t *Tx) emitLeft(l chat.Leaving) {
	if user, ok := l.Member.User(); ok {
		t.Emit(delivery.Row{
			Audience: delivery.ToUser(user), Kind: delivery.KindFrame, FrameType: frameMemberLeft, Payload: l.Left,
			Session: l.Session, Change: delivery.Left, ChangeUser: user,
		})
	}
	t.emitToSession(l.Session, frameMemberLeft, l.Left)
}

func (t *Tx) handOver(ctx context.Context, l chat.Leaving) error {
	const promote = `UPDATE session_members SET role = $3 WHERE session_id = $1 AND member_id = $2 AND left_at IS NULL`
	n, err := t.Exec(ctx, promote, string(l.Session), string(l.Heir), string(chat.OwnerRole))
	if err != nil {
		return fmt.Errorf("promote heir: %w", err)
	}
	if n == 0 {
		return fault.New(fault.Conflict, "The members have changed meanwhile. Try again.")
	}
	if _, err := t.Exec(ctx, `UPDATE sessions SET owner_id = $2 WHERE id = $1`, string(l.Session), string(l.Heir)); err != nil {
		return fmt.Errorf("hand over conversation: %w", err)
	}
	t.emitToSession(l.Session, frameInfoUpdated, l.HeirFrame)
	return nil
}
