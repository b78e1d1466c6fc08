package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/audit"
	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/hub-server/internal/timer"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Join implements chat.SessionStore.
func (c *Chat) Join(ctx context.Context, j chat.Joining, claim account.Claim) error {
	s := j.Session.ID
	locks := []Lock{lockAttempt(claim.Attempt), LockConversation(string(s))}
	return c.writer.Do(ctx, locks, func(ctx context.Context, tx *Tx) error {
		if err := tx.claim(ctx, claim); err != nil {
			return err
		}
		if err := tx.mayJoin(ctx, j); err != nil {
			return err
		}
		if err := tx.mayBring(ctx, j.By, j.Member); err != nil {
			return err
		}
		if err := tx.roomInGroups(ctx, j.Limits, j.By, j.Member); err != nil {
			return err
		}
		if err := tx.putMember(ctx, s, j.Member); err != nil {
			return err
		}
		if err := tx.touchMembers(ctx, s); err != nil {
			return err
		}
		tx.emitJoined(s, j.Member.ID, j.Created)
		tx.emitToSession(s, frameMemberJoined, j.Joined)
		if err := tx.tellJoiner(ctx, s, j.Member.ID); err != nil {
			return err
		}
		return tx.notify(ctx, j.Notices...)
	})
}

// putMember makes m a member, again if need be, who has read what was said so far and begins with no settings.
func (t *Tx) putMember(ctx context.Context, s id.Session, m chat.Member) error {
	const put = `
INSERT INTO session_members (session_id, member_id, role, last_read_seq, joined_at) VALUES ($1, $2, $3, (SELECT last_seq FROM conversation_counters WHERE session_id = $1), $4)
ON CONFLICT (session_id, member_id) DO UPDATE SET role = excluded.role, last_read_seq = excluded.last_read_seq,
    joined_at = excluded.joined_at, left_at = NULL, pinned = FALSE, archived = FALSE, muted = FALSE, settings_version = 0, approval_mode = ''`
	if _, err := t.Exec(ctx, put, string(s), string(m.ID), string(m.Role), micros(m.JoinedAt)); err != nil {
		return fmt.Errorf("put member: %w", err)
	}
	return nil
}

// emitJoined tells a person that they are in: from this row on they get what the conversation gets. Agents hear nothing.
func (t *Tx) emitJoined(s id.Session, m chat.MemberID, created []byte) {
	user, ok := m.User()
	if !ok {
		return
	}
	t.Emit(delivery.Row{
		Audience: delivery.ToUser(user), Kind: delivery.KindFrame, FrameType: frameSessionCreated, Payload: created,
		Session: s, Change: delivery.Joined, ChangeUser: user,
	})
}

// tellJoiner tells that who joins has read what was said before, if anything was.
func (t *Tx) tellJoiner(ctx context.Context, s id.Session, m chat.MemberID) error {
	user, ok := m.User()
	if !ok {
		return nil
	}
	r, err := t.reading(ctx, s, user)
	if err == nil && r.LastSeq > 0 {
		t.tellReading(s, user, r)
	}
	return err
}

// mayJoin holds the joining to the state that its frames tell of: who joins hears only what changes afterwards.
func (t *Tx) mayJoin(ctx context.Context, j chat.Joining) error {
	var members, by, already int
	var info sql.NullInt64 // NULL when it is dissolved
	var roster chat.Version
	const count = `
SELECT COUNT(*), COALESCE(SUM(CASE WHEN member_id = $2 THEN 1 ELSE 0 END), 0), COALESCE(SUM(CASE WHEN member_id = $3 THEN 1 ELSE 0 END), 0),
    (SELECT info_version FROM sessions WHERE id = $1 AND dissolved_at IS NULL), (SELECT roster_version FROM sessions WHERE id = $1)
FROM session_members WHERE session_id = $1 AND left_at IS NULL`
	err := t.QueryRow(ctx, count, string(j.Session.ID), string(j.By), string(j.Member.ID)).Scan(&members, &by, &already, &info, &roster)
	switch {
	case err != nil:
		return fmt.Errorf("count members: %w", err)
	case by == 0:
		return sessionNotFound()
	case already > 0, !info.Valid, chat.Version(info.Int64) != j.Session.Info, roster != j.Session.Roster:
		return chat.ErrMoved
	}
	return j.Limits.RoomFor(members, 1)
}

// Leave implements chat.SessionStore. The person's own row comes first: it closes their interval, so that nothing behind it is theirs.
func (c *Chat) Leave(ctx context.Context, l chat.Leaving) error {
	return c.writer.Do(ctx, []Lock{LockConversation(string(l.Session))}, func(ctx context.Context, tx *Tx) error {
		if _, err := tx.memberNow(ctx, l.Session, l.Member); err != nil {
			return err
		}
		const leave = `UPDATE session_members SET left_at = $3 WHERE session_id = $1 AND member_id = $2 AND left_at IS NULL`
		n, err := tx.Exec(ctx, leave, string(l.Session), string(l.Member), micros(tx.now))
		if err != nil {
			return fmt.Errorf("end membership: %w", err)
		}
		if n == 0 {
			return nil
		}
		if err := tx.withdrawTools(ctx, l.Session, l.Member); err != nil {
			return err
		}
		tx.emitLeft(l)
		if l.Heir != nil {
			if err := tx.handOver(ctx, *l.Heir); err != nil {
				return err
			}
		}
		return tx.touchMembers(ctx, l.Session)
	})
}

// touchMembers says that the members are others than before.
func (t *Tx) touchMembers(ctx context.Context, s id.Session) error {
	if _, err := t.Exec(ctx, `UPDATE sessions SET roster_version = roster_version + 1 WHERE id = $1`, string(s)); err != nil {
		return fmt.Errorf("count change of members: %w", err)
	}
	if err := t.touchConversation(ctx, s); err != nil {
		return fmt.Errorf("touch conversation: %w", err)
	}
	return nil
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

// handOver makes the owner of u the one member with that role.
func (t *Tx) handOver(ctx context.Context, u chat.Update) error {
	s := u.Now
	const promote = `UPDATE session_members SET role = $3 WHERE session_id = $1 AND member_id = $2 AND left_at IS NULL`
	n, err := t.Exec(ctx, promote, string(s.ID), string(s.Owner), string(chat.OwnerRole))
	if err != nil {
		return fmt.Errorf("promote heir: %w", err)
	}
	if n == 0 {
		return chat.ErrMoved
	}
	const demote = `UPDATE session_members SET role = $3 WHERE session_id = $1 AND member_id <> $2 AND role <> $3`
	if _, err := t.Exec(ctx, demote, string(s.ID), string(s.Owner), string(chat.Participant)); err != nil {
		return fmt.Errorf("take role of owner: %w", err)
	}
	return t.update(ctx, u)
}

// update changes what is said of a conversation, if that is as it was read.
func (t *Tx) update(ctx context.Context, u chat.Update) error {
	s := u.Now
	const set = `
UPDATE sessions SET name = $3, avatar_url = $4, announcement = $5, owner_id = $6, info_version = $2 + 1 
 WHERE id = $1 AND info_version = $2 AND dissolved_at IS NULL`
	n, err := t.Exec(ctx, set, string(s.ID), int64(u.Was), s.Name, s.AvatarURL, s.Announcement, string(s.Owner)) //nolint:gosec // counts changes
	if err != nil {
		return fmt.Errorf("update conversation: %w", err)
	}
	if n == 0 {
		return chat.ErrMoved
	}
	t.emitToSession(s.ID, frameInfoUpdated, u.Frame)
	return nil
}

// Update implements chat.SessionStore. Whose right it is follows from the version: an owner changes only with it.
func (c *Chat) Update(ctx context.Context, by id.User, u chat.Update) error {
	return c.writer.Do(ctx, []Lock{LockConversation(string(u.Now.ID))}, func(ctx context.Context, tx *Tx) error {
		if u.Now.Owner == by {
			return tx.update(ctx, u)
		}
		tx.Audit(audit.Entry{Act: audit.SessionGiven, User: by, Target: string(u.Now.ID), Detail: string(u.Now.Owner)})
		return tx.handOver(ctx, u)
	})
}

// Set implements chat.SessionStore.
func (c *Chat) Set(ctx context.Context, s chat.Setting) error {
	return c.writer.Do(ctx, []Lock{LockConversation(string(s.Session))}, func(ctx context.Context, tx *Tx) error {
		const set = `
UPDATE session_members SET pinned = $4, archived = $5, muted = $6, settings_version = $3 + 1
 WHERE session_id = $1 AND member_id = $2 AND settings_version = $3 AND left_at IS NULL`
		n, err := tx.Exec(ctx, set, string(s.Session), string(s.User), int64(s.Was), s.Now.Pinned, s.Now.Archived, s.Now.Muted) //nolint:gosec // counts changes
		if err != nil {
			return fmt.Errorf("keep settings: %w", err)
		}
		if n == 0 {
			return chat.ErrMoved
		}
		tx.Emit(delivery.Row{
			Audience: delivery.ToUser(s.User), Kind: delivery.KindFrame, FrameType: frameInfoUpdated, Payload: s.Frame, Session: s.Session,
		})
		return nil
	})
}

// Dissolve implements chat.SessionStore.
func (c *Chat) Dissolve(ctx context.Context, d chat.Dissolution) error {
	s := d.Session
	return c.writer.Do(ctx, []Lock{LockConversation(string(s.ID))}, func(ctx context.Context, tx *Tx) error {
		const dissolve = `
UPDATE sessions SET dissolved_at = $3 WHERE id = $1 AND info_version = $2 AND dissolved_at IS NULL`
		n, err := tx.Exec(ctx, dissolve, string(s.ID), int64(s.Info), micros(s.DissolvedAt)) //nolint:gosec // counts changes
		if err != nil {
			return fmt.Errorf("close conversation: %w", err)
		}
		if n == 0 {
			return chat.ErrMoved
		}
		if err := tx.touchConversation(ctx, s.ID); err != nil {
			return fmt.Errorf("touch conversation: %w", err)
		}
		if err := tx.armTimer(ctx, timer.Timer{Kind: timer.SessionEnd, Key: string(s.ID), Due: tx.now}); err != nil {
			return fmt.Errorf("arm end of runs: %w", err)
		}
		tx.Audit(audit.Entry{Act: audit.SessionClosed, User: d.By, Target: string(s.ID)})
		tx.emitToSession(s.ID, frameDissolved, d.Frame)
		return nil
	})
}

// Owner implements chat.EndingStore.
func (c *Chat) Owner(ctx context.Context, s id.Session) (owner id.User, err error) {
	err = c.store.queryRowPrepared(ctx, `SELECT owner_id FROM sessions WHERE id = $1`, string(s)).Scan(&owner)
	if errors.Is(err, sql.ErrNoRows) {
		return "", sessionNotFound()
	}
	return owner, err
}

// OpenRuns implements chat.EndingStore.
func (c *Chat) OpenRuns(ctx context.Context, s id.Session) ([]id.Run, error) {
	rows, err := c.store.readDB.QueryContext(ctx, `SELECT run_id FROM runs WHERE session_id = $1 AND ended_at = 0 ORDER BY run_id`, string(s))
	return collect(rows, err, func(row Scanner) (run id.Run, err error) {
		err = row.Scan(&run)
		return run, err
	})
}
