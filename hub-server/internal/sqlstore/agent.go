package sqlstore

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

const agentColumns = `a.id, a.name, a.description, a.owner_id, a.profile, a.runtime, a.edge_id, a.permission_mode, a.created_at`

func scanAgent(row Scanner) (a fleet.Agent, err error) {
	var created int64
	err = row.Scan(&a.ID, &a.Name, &a.Description, &a.Owner, &a.Profile, &a.Runtime, &a.Edge, &a.PermissionMode, &created)
	a.CreatedAt = fromMicros(created)
	return a, err
}

// operatedBy is true of an agent `a` that the user $1 may operate: theirs, or on an edge they were let at that can run it. It says
// in SQL what fleet.Agent.OperatedBy says in Go; a contract test holds the two together.
const operatedBy = `(a.owner_id = $1 OR EXISTS (
SELECT 1 FROM edge_operators o JOIN edges e ON e.id = o.edge_id JOIN edge_profiles p ON p.edge_id = e.id
WHERE o.user_id = $1 AND e.owner_id = a.owner_id AND e.revoked_at IS NULL AND (a.edge_id = '' OR a.edge_id = e.id) AND p.name = a.profile))`

// VisibleAgents implements fleet.AgentStore.
func (f *Fleet) VisibleAgents(ctx context.Context, user id.User) ([]fleet.Agent, error) {
	const query = `SELECT ` + agentColumns + ` FROM agents a WHERE ` + operatedBy + ` OR EXISTS (
SELECT 1 FROM session_members theirs JOIN session_members mine ON mine.session_id = theirs.session_id
WHERE theirs.member_id = a.id AND theirs.left_at IS NULL AND mine.member_id = $1 AND mine.left_at IS NULL) ORDER BY a.name, a.id`
	rows, err := f.store.readDB.QueryContext(ctx, query, string(user))
	return collect(rows, err, scanAgent)
}

// Agents implements fleet.AgentStore.
func (f *Fleet) Agents(ctx context.Context, agents []id.Agent) ([]fleet.Agent, error) {
	if len(agents) == 0 {
		return nil, nil
	}
	query, args := inList(`SELECT `+agentColumns+` FROM agents a WHERE a.id IN `, agents)
	rows, err := f.store.readDB.QueryContext(ctx, query, args...)
	return collect(rows, err, scanAgent)
}

// inList puts a list of placeholders behind query and returns their values.
func inList[T ~string](query string, values []T) (string, []any) { return inListFrom(1, query, values) }

// inListFrom is inList with placeholders from $first on.
func inListFrom[T ~string](first int, query string, values []T) (string, []any) {
	args := make([]any, len(values))
	marks := make([]string, len(values))
	for i, v := range values {
		args[i], marks[i] = string(v), "$"+strconv.Itoa(i+first)
	}
	return query + "(" + strings.Join(marks, ", ") + ")", args
}

// AddAgent implements fleet.AgentStore.
func (f *Fleet) AddAgent(ctx context.Context, a fleet.Agent, c account.Claim) error {
	locks := []Lock{lockAttempt(c.Attempt), lockAgents(a.Owner)}
	return f.writer.Do(ctx, locks, func(ctx context.Context, tx *Tx) error {
		if err := tx.claim(ctx, c); err != nil {
			return err
		}
		n, err := tx.insertAgent(ctx, a, `TRUE`)
		if err != nil {
			return err
		}
		if n == 0 {
			return fault.New(fault.Conflict, "You have an agent named %s already. Choose another name.", a.Name)
		}
		return nil
	})
}

// lockAgents guards the names of an owner's agents.
func lockAgents(owner id.User) Lock { return LockAccount("agents:" + string(owner)) }

// insertMissingAgent makes the agent unless its owner has one for that profile, or another one of that name.
func (t *Tx) insertMissingAgent(ctx context.Context, a fleet.Agent) error {
	_, err := t.insertAgent(ctx, a, `NOT EXISTS (SELECT 1 FROM agents WHERE owner_id = $4 AND profile = $5)`)
	return err
}

// insertAgent makes the agent if the condition holds and its name is free, and says how many it made.
func (t *Tx) insertAgent(ctx context.Context, a fleet.Agent, condition string) (int64, error) {
	query := `
INSERT INTO agents (id, name, description, owner_id, profile, runtime, edge_id, permission_mode, created_at)
SELECT CAST($1 AS TEXT), CAST($2 AS TEXT), CAST($3 AS TEXT), CAST($4 AS TEXT), CAST($5 AS TEXT), CAST($6 AS TEXT), CAST($7 AS TEXT),
    CAST($8 AS TEXT), CAST($9 AS BIGINT)
WHERE ` + condition + ` ON CONFLICT (owner_id, name) DO NOTHING`
	n, err := t.Exec(ctx, query, string(a.ID), a.Name, a.Description, string(a.Owner), a.Profile, a.Runtime, string(a.Edge),
		a.PermissionMode, micros(a.CreatedAt))
	if err != nil {
		return 0, fmt.Errorf("insert agent: %w", err)
	}
	return n, nil
}
