package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/hub-server/internal/paging"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Chat keeps conversations: chat.SessionStore and chat.MessageStore.
type Chat struct {
	store  *Store
	writer *Writer
}

// Frames of S3 that a conversation emits besides message.new.
const (
	frameSessionCreated = "session.created"
	frameMemberJoined   = "session.member_joined"
	frameMemberLeft     = "session.member_left"
	frameInfoUpdated    = "session.info_updated"
	frameDissolved      = "session.dissolved"
	frameMessageRead    = "message.read"
	frameMessageRecall  = "message.recall"
	frameMessagePin     = "message.pin"
	frameMessageUnpin   = "message.unpin"
	frameReactionAdded  = "message.reaction_added"
	frameReactionGone   = "message.reaction_removed"
)

// NewChat reads from s and writes through w.
func NewChat(s *Store, w *Writer) *Chat { return &Chat{store: s, writer: w} }

const sessionColumns = `s.id, s.type, s.name, s.owner_id, s.created_at, c.last_seq, c.updated_at, m.last_read_seq,
	s.avatar_url, s.announcement, s.info_version, s.roster_version, COALESCE(s.dissolved_at, 0), s.read_only,
	m.pinned, m.archived, m.muted, m.settings_version, c.last_change`

// memberSessions are the conversations that the user $1 is a member of now: the rule of SEC13, the same for every read.
const memberSessions = ` FROM session_members m JOIN sessions s ON s.id = m.session_id JOIN conversation_counters c ON c.session_id = s.id
WHERE m.member_id = $1 AND m.left_at IS NULL`

func scanSession(row Scanner) (s chat.Session, err error) {
	return scanSessionWith(row)
}

// scanSessionWith reads sessionColumns and what stands behind them.
func scanSessionWith(row Scanner, more ...any) (s chat.Session, err error) {
	var created, updated, dissolved int64
	err = row.Scan(append([]any{
		&s.ID, &s.Type, &s.Name, &s.Owner, &created, &s.LastSeq, &updated, &s.LastRead, &s.AvatarURL, &s.Announcement, &s.Info, &s.Roster,
		&dissolved, &s.ReadOnly, &s.Settings.Pinned, &s.Settings.Archived, &s.Settings.Muted, &s.Settings.Version, &s.LastChange,
	}, more...)...)
	s.CreatedAt, s.UpdatedAt = fromMicros(created), fromMicros(updated)
	if dissolved != 0 {
		s.DissolvedAt = fromMicros(dissolved)
	}
	return s, err
}

// Session implements chat.SessionStore.
func (c *Chat) Session(ctx context.Context, session id.Session, viewer id.User) (chat.Session, error) {
	const query = `SELECT ` + sessionColumns + `, ` + unread + memberSessions + ` AND s.id = $2`
	var behind int64
	s, err := scanSessionWith(c.store.queryRowPrepared(ctx, query, string(viewer), string(session)), &behind)
	if errors.Is(err, sql.ErrNoRows) {
		return s, sessionNotFound()
	}
	if err != nil {
		return s, fmt.Errorf("read conversation: %w", err)
	}
	s.Unread = behind
	still, err := c.withMembers(ctx, viewer, []chat.Session{s})
	if err == nil && len(still) == 0 {
		err = sessionNotFound()
	}
	if err != nil {
		return chat.Session{}, err
	}
	return still[0], nil
}

// withMembers adds the members to conversations that were found for the viewer. It leaves out those that the viewer has left meanwhile: they may know
// nothing of who is in them now.
func (c *Chat) withMembers(ctx context.Context, viewer id.User, found []chat.Session) (still []chat.Session, err error) {
	ids := make([]id.Session, len(found))
	for i, s := range found {
		ids[i] = s.ID
	}
	members, err := c.membersOf(ctx, ids)
	if err != nil {
		return nil, err
	}
	for _, s := range found {
		s.Members = members[s.ID]
		if slices.ContainsFunc(s.Members, func(m chat.Member) bool { return m.ID == chat.OfUser(viewer) }) {
			still = append(still, s)
		}
	}
	return still, nil
}

// WithAgents implements chat.SessionStore.
func (c *Chat) WithAgents(ctx context.Context, session id.Session, viewer id.User) (chat.Session, error) {
	const query = `SELECT ` + sessionColumns + `, COALESCE(x.member_id, ''), COALESCE(x.role, ''), COALESCE(x.joined_at, 0), COALESCE(a.name, '')
  FROM session_members m JOIN sessions s ON s.id = m.session_id JOIN conversation_counters c ON c.session_id = s.id
  LEFT JOIN session_members x ON x.session_id = s.id AND x.left_at IS NULL AND substr(x.member_id, 1, 6) = 'agent_'
  LEFT JOIN agents a ON a.id = x.member_id
 WHERE m.member_id = $1 AND m.left_at IS NULL AND s.id = $2 ORDER BY x.joined_at, x.member_id`
	rows, err := c.store.queryPrepared(ctx, query, string(viewer), string(session))
	found, err := collect(rows, err, scanWithAgent)
	switch {
	case err != nil:
		return chat.Session{}, fmt.Errorf("read conversation: %w", err)
	case len(found) == 0:
		return chat.Session{}, sessionNotFound()
	}
	s := found[0]
	for _, more := range found[1:] {
		s.Members = append(s.Members, more.Members...)
	}
	return s, nil
}

// scanWithAgent reads a conversation with one of its agents, or none.
func scanWithAgent(row Scanner) (s chat.Session, err error) {
	var joined int64
	var agent chat.Member
	s, err = scanSessionWith(row, &agent.ID, &agent.Role, &joined, &agent.Name)
	agent.JoinedAt = fromMicros(joined)
	if agent.ID != "" {
		s.Members = []chat.Member{agent}
	}
	return s, err
}

// IsMember implements chat.SessionStore.
func (c *Chat) IsMember(ctx context.Context, session id.Session, user id.User) (bool, error) {
	return hasRow(c.store.queryRowPrepared(ctx, selectMember, string(session), string(user)))
}

const selectMember = `SELECT 1 FROM session_members WHERE session_id = $1 AND member_id = $2 AND left_at IS NULL`

func sessionNotFound() error {
	return fault.New(fault.NotFound, "There is no such conversation, or you are not a member of it.")
}

// Sessions implements chat.SessionStore.
func (c *Chat) Sessions(ctx context.Context, viewer id.User, f chat.Filter) ([]chat.Session, paging.Mark, error) {
	const query = `SELECT ` + sessionColumns + memberSessions + `
AND ($2 = '' OR s.name = $2) AND ($4 = '' OR c.updated_at < $3 OR (c.updated_at = $3 AND s.id < $4))
ORDER BY c.updated_at DESC, s.id DESC LIMIT $5`
	rows, err := c.store.readDB.QueryContext(ctx, query, string(viewer), f.Name, micros(f.After.At), f.After.ID, f.Limit+1)
	sessions, err := collect(rows, err, scanSession)
	if err != nil {
		return nil, paging.Mark{}, fmt.Errorf("list conversations: %w", err)
	}
	var next paging.Mark
	if len(sessions) > f.Limit {
		sessions = sessions[:f.Limit]
		last := sessions[f.Limit-1]
		next = paging.Mark{At: last.UpdatedAt, ID: string(last.ID)}
	}
	if err := c.count(ctx, viewer, sessions); err != nil {
		return nil, paging.Mark{}, err
	}
	sessions, err = c.withMembers(ctx, viewer, sessions)
	return sessions, next, err
}

// membersOf returns the members of each conversation in the order of joining.
func (c *Chat) membersOf(ctx context.Context, sessions []id.Session) (map[id.Session][]chat.Member, error) {
	members := map[id.Session][]chat.Member{}
	if len(sessions) == 0 {
		return members, nil
	}
	query, args := inList(`
SELECT m.session_id, m.member_id, m.role, m.joined_at, m.last_read_seq, COALESCE(u.name, a.name, '')
FROM session_members m LEFT JOIN users u ON u.id = m.member_id LEFT JOIN agents a ON a.id = m.member_id
WHERE m.left_at IS NULL AND m.session_id IN `, sessions)
	rows, err := c.store.readDB.QueryContext(ctx, query+` ORDER BY m.joined_at, m.member_id`, args...)
	_, err = collect(rows, err, func(row Scanner) (m chat.Member, err error) {
		var session id.Session
		var joined int64
		err = row.Scan(&session, &m.ID, &m.Role, &joined, &m.LastRead, &m.Name)
		m.JoinedAt = fromMicros(joined)
		members[session] = append(members[session], m)
		return m, err
	})
	if err != nil {
		return nil, fmt.Errorf("read members: %w", err)
	}
	return members, nil
}

// UserNames implements chat.SessionStore.
func (c *Chat) UserNames(ctx context.Context, users []id.User) (map[id.User]string, error) {
	names := map[id.User]string{}
	if len(users) == 0 {
		return names, nil
	}
	query, args := inList(`SELECT id, name FROM users WHERE id IN `, users)
	rows, err := c.store.readDB.QueryContext(ctx, query, args...)
	_, err = collect(rows, err, func(row Scanner) (user id.User, err error) {
		var name string
		err = row.Scan(&user, &name)
		names[user] = name
		return user, err
	})
	return names, err
}

// Paired implements chat.SessionStore.
func (c *Chat) Paired(ctx context.Context, pair chat.Pair) (session id.Session, err error) {
	const query = `SELECT id FROM sessions WHERE pair = $1 AND pair <> ''`
	err = c.store.queryRowPrepared(ctx, query, string(pair)).Scan(&session)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return session, err
}

// Open implements chat.SessionStore.
func (c *Chat) Open(ctx context.Context, o chat.Opening, claim account.Claim) error {
	s, pair := o.Session, o.Session.Pair()
	locks := []Lock{lockAttempt(claim.Attempt), LockConversation(string(s.ID)), LockConversation("pair " + string(pair))}
	return c.writer.Do(ctx, locks, func(ctx context.Context, tx *Tx) error {
		if err := tx.claim(ctx, claim); err != nil {
			return err
		}
		standing, err := hasRow(tx.QueryRow(ctx, `SELECT 1 FROM sessions WHERE pair = $1 AND pair <> ''`, string(pair)))
		if err != nil {
			return fmt.Errorf("look for conversation: %w", err)
		}
		if standing {
			return chat.ErrMoved
		}
		if err := tx.mayBring(ctx, s.Owner, s.Members...); err != nil {
			return err
		}
		if s.Type == chat.Group {
			if err := tx.roomInGroups(ctx, o.Limits, s.Owner, s.Members...); err != nil {
				return err
			}
		}
		if err := tx.insertSession(ctx, s); err != nil {
			return err
		}
		for _, m := range s.Members {
			if err := tx.putMember(ctx, s.ID, m); err != nil {
				return err
			}
			tx.emitJoined(s.ID, m.ID, o.Created)
		}
		return tx.notify(ctx, o.Notices...)
	})
}

// insertSession stores a conversation, without its members, and the counter of what happens in it.
func (t *Tx) insertSession(ctx context.Context, s chat.Session) error {
	const insert = `
INSERT INTO sessions (id, type, name, owner_id, created_at, avatar_url, announcement, pair, read_only) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`
	_, err := t.Exec(ctx, insert, string(s.ID), string(s.Type), s.Name, string(s.Owner), micros(s.CreatedAt), s.AvatarURL, s.Announcement,
		string(s.Pair()), s.ReadOnly)
	if err != nil {
		return fmt.Errorf("insert conversation: %w", err)
	}
	const counter = `INSERT INTO conversation_counters (session_id, last_seq, last_place, updated_at) VALUES ($1, 0, 0, $2)`
	if _, err := t.Exec(ctx, counter, string(s.ID), micros(s.CreatedAt)); err != nil {
		return fmt.Errorf("insert counter: %w", err)
	}
	return nil
}

func (t *Tx) emitToSession(s id.Session, frame string, payload []byte) {
	t.Emit(delivery.Row{
		Audience: delivery.ToSession(s), Kind: delivery.KindFrame, FrameType: frame, Payload: payload, Session: s,
	})
}

// memberNow says whether m is a member as it is in this transaction. SessionDissolved for members of a conversation that is closed.
func (t *Tx) memberNow(ctx context.Context, s id.Session, m chat.MemberID) (in bool, err error) {
	const query = `
SELECT CASE WHEN s.dissolved_at IS NULL THEN 0 ELSE 1 END FROM session_members m JOIN sessions s ON s.id = m.session_id
WHERE m.session_id = $1 AND m.member_id = $2 AND m.left_at IS NULL`
	var dissolved int
	switch err := t.QueryRow(ctx, query, string(s), string(m)).Scan(&dissolved); {
	case errors.Is(err, sql.ErrNoRows):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("check membership of %s: %w", m, err)
	case dissolved != 0:
		return true, chat.DissolvedError()
	}
	return true, nil
}

func (t *Tx) touchConversation(ctx context.Context, s id.Session) error {
	_, err := t.Exec(ctx, `UPDATE conversation_counters SET updated_at = $2 WHERE session_id = $1`, string(s), micros(t.now))
	return err
}
