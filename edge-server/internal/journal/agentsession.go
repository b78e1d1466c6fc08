package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/switchyard-dev/switchyard/shared/id"
)

// Dialogue names what one agent under one profile has going on in one conversation.
type Dialogue struct {
	Session id.Session
	Agent   id.Agent
	Profile string
}

// AgentSession returns the agent's own name of the dialogue (S4 session_id), "" if it never gave one.
func (j *Journal) AgentSession(ctx context.Context, d Dialogue) (string, error) {
	const statement = `SELECT value FROM agent_sessions WHERE session = ? AND agent = ? AND profile = ?`
	var value string
	err := j.db.readDB.QueryRowContext(ctx, statement, string(d.Session), string(d.Agent), d.Profile).Scan(&value)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("read agent session: %w", err)
	}
	return value, nil
}

// KeepAgentSession remembers the agent's own name of the dialogue for the next turn.
func (j *Journal) KeepAgentSession(ctx context.Context, d Dialogue, value string) error {
	err := j.record(ctx, func(tx *transaction) error {
		const statement = `INSERT INTO agent_sessions (session, agent, profile, value) VALUES (?, ?, ?, ?)
			ON CONFLICT (session, agent, profile) DO UPDATE SET value = excluded.value`
		return tx.exec(statement, string(d.Session), string(d.Agent), d.Profile, value)
	})
	if err != nil {
		return fmt.Errorf("keep agent session: %w", err)
	}
	return nil
}
