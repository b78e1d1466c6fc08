package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/audit"
	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Fleet keeps edges, enrolments, operators and agents: fleet.EnrolmentStore, fleet.EdgeStore, fleet.AgentStore and runlog.Edges.
type Fleet struct {
	store  *Store
	writer *Writer
}

// NewFleet reads from s and writes through w.
func NewFleet(s *Store, w *Writer) *Fleet { return &Fleet{store: s, writer: w} }

// lockEdge guards an edge's row, profiles and operators.
func lockEdge(e id.Edge) Lock { return LockAccount("edge:" + string(e)) }

// AddEnrolment implements fleet.EnrolmentStore.
func (f *Fleet) AddEnrolment(ctx context.Context, e fleet.Enrolment, c account.Claim) error {
	hash := e.Token.Hash()
	return f.writer.Do(ctx, []Lock{lockAttempt(c.Attempt)}, func(ctx context.Context, tx *Tx) error {
		if err := tx.claim(ctx, c); err != nil {
			return err
		}
		const insert = `INSERT INTO enrolments (token_hash, edge_id, name, owner_id, created_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6)`
		_, err := tx.Exec(ctx, insert, hash[:], string(e.Edge), e.Name, string(e.Owner), micros(e.CreatedAt), micros(e.ExpiresAt))
		if err != nil {
			return fmt.Errorf("insert enrolment: %w", err)
		}
		tx.Audit(audit.Entry{Act: audit.EdgeInvited, User: e.Owner, Target: string(e.Edge)})
		return nil
	})
}

// Redeem implements fleet.EnrolmentStore. The conditional update decides between two redemptions.
func (f *Fleet) Redeem(ctx context.Context, r fleet.Redemption) (edge id.Edge, err error) {
	err = f.writer.Do(ctx, nil, func(ctx context.Context, tx *Tx) error {
		const use = `
UPDATE enrolments SET used_at = $2 WHERE token_hash = $1 AND used_at IS NULL AND expires_at > $2 RETURNING edge_id, name, owner_id`
		var name, owner string
		err := tx.QueryRow(ctx, use, r.Token[:], micros(r.Now)).Scan(&edge, &name, &owner)
		if errors.Is(err, sql.ErrNoRows) {
			return fault.New(fault.EnrolmentInvalid,
				"The enrolment token was used, has expired or never existed. Make a new one with `yard edge enrol`.")
		}
		if err != nil {
			return fmt.Errorf("use enrolment: %w", err)
		}
		const insert = `
INSERT INTO edges (id, name, owner_id, hostname, version, refused, credential_hash, created_at) VALUES ($1, $2, $3, $4, $5, '', $6, $7)`
		_, err = tx.Exec(ctx, insert, string(edge), name, owner, r.Machine.Hostname, r.Machine.Version, r.Credential[:], micros(r.Now))
		if err != nil {
			return fmt.Errorf("insert edge: %w", err)
		}
		tx.Audit(audit.Entry{Act: audit.EdgeEnrolled, User: id.User(owner), Target: string(edge)})
		return nil
	})
	return edge, err
}

const edgeColumns = `e.id, e.name, e.owner_id, e.hostname, e.version, e.refused, e.created_at, e.last_seen_at, e.revoked_at, e.controls`

func scanEdge(row Scanner) (e fleet.Edge, err error) {
	var created int64
	var seen, revoked sql.NullInt64
	err = row.Scan(&e.ID, &e.Name, &e.Owner, &e.Hostname, &e.Version, &e.Refused, &created, &seen, &revoked, &e.Controls)
	e.CreatedAt, e.LastSeenAt, e.RevokedAt = fromMicros(created), fromNull(seen), fromNull(revoked)
	return e, err
}

// Edge implements fleet.EdgeStore and runlog.Edges.
func (f *Fleet) Edge(ctx context.Context, edge id.Edge) (fleet.Edge, error) {
	return f.oneEdge(ctx, `SELECT `+edgeColumns+` FROM edges e WHERE e.id = $1`, string(edge))
}

// EdgeByCredential implements fleet.EdgeStore.
func (f *Fleet) EdgeByCredential(ctx context.Context, credential account.TokenHash) (fleet.Edge, error) {
	return f.oneEdge(ctx, `SELECT `+edgeColumns+` FROM edges e WHERE e.credential_hash = $1`, credential[:])
}

func (f *Fleet) oneEdge(ctx context.Context, query string, key any) (fleet.Edge, error) {
	edges, err := f.edges(ctx, query, key)
	if err == nil && len(edges) == 0 {
		return fleet.Edge{}, fault.New(fault.NotFound, "There is no such edge, or it is not yours.")
	}
	if err != nil {
		return fleet.Edge{}, err
	}
	return edges[0], nil
}

// EdgesFor implements fleet.EdgeStore.
func (f *Fleet) EdgesFor(ctx context.Context, user id.User) ([]fleet.Edge, error) {
	const query = `SELECT ` + edgeColumns + ` FROM edges e WHERE e.revoked_at IS NULL AND (e.owner_id = $1
OR EXISTS (SELECT 1 FROM edge_operators o WHERE o.edge_id = e.id AND o.user_id = $1)) ORDER BY e.created_at, e.id`
	return f.edges(ctx, query, string(user))
}

// EdgesOf implements fleet.AgentStore and runlog.Edges.
func (f *Fleet) EdgesOf(ctx context.Context, owner id.User) ([]fleet.Edge, error) {
	const query = `SELECT ` + edgeColumns + ` FROM edges e WHERE e.revoked_at IS NULL AND e.owner_id = $1 ORDER BY e.created_at, e.id`
	return f.edges(ctx, query, string(owner))
}

func (f *Fleet) edges(ctx context.Context, query string, key any) ([]fleet.Edge, error) {
	rows, err := f.store.readDB.QueryContext(ctx, query, key)
	edges, err := collect(rows, err, scanEdge)
	if err != nil {
		return nil, fmt.Errorf("read edges: %w", err)
	}
	for i := range edges {
		if err := f.fillEdge(ctx, &edges[i]); err != nil {
			return nil, err
		}
	}
	return edges, nil
}

func (f *Fleet) fillEdge(ctx context.Context, e *fleet.Edge) error {
	const profiles = `SELECT name, runtime, description, controls FROM edge_profiles WHERE edge_id = $1 ORDER BY name`
	rows, err := f.store.readDB.QueryContext(ctx, profiles, string(e.ID))
	e.Profiles, err = collect(rows, err, func(row Scanner) (p wire.Profile, err error) {
		var controls string
		err = row.Scan(&p.Name, &p.Runtime, &p.Description, &controls)
		if controls != "" {
			p.Controls = strings.Fields(controls)
		}
		return p, err
	})
	if err != nil {
		return fmt.Errorf("read profiles: %w", err)
	}
	const operators = `SELECT user_id FROM edge_operators WHERE edge_id = $1 ORDER BY granted_at, user_id`
	rows, err = f.store.readDB.QueryContext(ctx, operators, string(e.ID))
	e.Operators, err = collect(rows, err, func(row Scanner) (u id.User, err error) {
		err = row.Scan(&u)
		return u, err
	})
	if err != nil {
		return fmt.Errorf("read operators: %w", err)
	}
	return nil
}

// Announce implements fleet.EdgeStore.
func (f *Fleet) Announce(ctx context.Context, a fleet.Announcement) error {
	locks := []Lock{lockEdge(a.Edge)}
	if a.Fence != 0 {
		locks = append(locks, LockLane(string(a.Edge)))
	}
	for _, agent := range a.Agents {
		locks = append(locks, lockAgents(agent.Owner))
	}
	return f.writer.Do(ctx, locks, func(ctx context.Context, tx *Tx) error {
		const update = `
UPDATE edges SET hostname = $2, version = $3, refused = '', last_seen_at = $4, controls = $5 WHERE id = $1 AND revoked_at IS NULL`
		n, err := tx.Exec(ctx, update, string(a.Edge), a.Machine.Hostname, a.Machine.Version, micros(tx.now), a.Controls)
		if err != nil {
			return fmt.Errorf("update edge: %w", err)
		}
		if n == 0 {
			return fault.New(fault.EdgeRevoked, "This edge was removed from the hub. Enrol it again to use it.")
		}
		if err := tx.checkFence(ctx, a.Edge, a.Fence); err != nil {
			return err
		}
		if err := tx.replaceProfiles(ctx, a.Edge, a.Profiles); err != nil {
			return err
		}
		for _, agent := range a.Agents {
			if err := tx.insertMissingAgent(ctx, agent); err != nil {
				return err
			}
		}
		return nil
	})
}

// checkFence keeps a hub process that was away for a while from writing down what an edge could run before. 0 is in force always.
func (t *Tx) checkFence(ctx context.Context, e id.Edge, fence uint64) error {
	if fence == 0 {
		return nil
	}
	held, err := hasRow(t.QueryRow(ctx, `SELECT 1 FROM lane_fences WHERE edge_id = $1 AND fence = $2`, string(e), int64(fence)))
	if err != nil {
		return fmt.Errorf("check fence: %w", err)
	}
	if !held {
		return fleet.ErrFenced
	}
	return nil
}

func (t *Tx) replaceProfiles(ctx context.Context, e id.Edge, profiles []wire.Profile) error {
	if _, err := t.Exec(ctx, `DELETE FROM edge_profiles WHERE edge_id = $1`, string(e)); err != nil {
		return fmt.Errorf("drop profiles: %w", err)
	}
	const insert = `INSERT INTO edge_profiles (edge_id, name, runtime, description, controls) VALUES ($1, $2, $3, $4, $5)`
	for _, p := range profiles {
		if _, err := t.Exec(ctx, insert, string(e), p.Name, p.Runtime, p.Description, strings.Join(p.Controls, " ")); err != nil {
			return fmt.Errorf("insert profile: %w", err)
		}
	}
	return nil
}

// MarkEdge implements fleet.EdgeStore.
func (f *Fleet) MarkEdge(ctx context.Context, edge id.Edge, refused fault.Code) error {
	return f.writer.Do(ctx, []Lock{lockEdge(edge)}, func(ctx context.Context, tx *Tx) error {
		const mark = `UPDATE edges SET last_seen_at = $2, refused = CASE WHEN $3 = '' THEN refused ELSE $3 END WHERE id = $1`
		_, err := tx.Exec(ctx, mark, string(edge), micros(tx.now), string(refused))
		return err
	})
}

// RevokeEdge implements fleet.EdgeStore.
func (f *Fleet) RevokeEdge(ctx context.Context, edge id.Edge) error {
	return f.writer.Do(ctx, []Lock{lockEdge(edge)}, func(ctx context.Context, tx *Tx) error {
		const revoke = `UPDATE edges SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL`
		n, err := tx.Exec(ctx, revoke, string(edge), micros(tx.now))
		if err != nil {
			return fmt.Errorf("revoke: %w", err)
		}
		if err := tx.auditOwner(ctx, n, edge, audit.Entry{Act: audit.EdgeRevoked}); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `DELETE FROM edge_operators WHERE edge_id = $1`, string(edge)); err != nil {
			return fmt.Errorf("drop operators: %w", err)
		}
		return nil
	})
}

// Grant implements fleet.EdgeStore.
func (f *Fleet) Grant(ctx context.Context, edge id.Edge, user id.User) error {
	return f.writer.Do(ctx, []Lock{lockEdge(edge)}, func(ctx context.Context, tx *Tx) error {
		known, err := tx.userExists(ctx, user)
		if err != nil {
			return fmt.Errorf("look up user: %w", err)
		}
		if !known {
			return fault.New(fault.NotFound, "There is no such user.")
		}
		const grant = `INSERT INTO edge_operators (edge_id, user_id, granted_at) VALUES ($1, $2, $3) ON CONFLICT (edge_id, user_id) DO NOTHING`
		n, err := tx.Exec(ctx, grant, string(edge), string(user), micros(tx.now))
		if err != nil {
			return fmt.Errorf("grant: %w", err)
		}
		return tx.auditOwner(ctx, n, edge, audit.Entry{Act: audit.OperateGranted, Detail: string(user)})
	})
}

// Ungrant implements fleet.EdgeStore.
func (f *Fleet) Ungrant(ctx context.Context, edge id.Edge, user id.User) error {
	return f.writer.Do(ctx, []Lock{lockEdge(edge)}, func(ctx context.Context, tx *Tx) error {
		n, err := tx.Exec(ctx, `DELETE FROM edge_operators WHERE edge_id = $1 AND user_id = $2`, string(edge), string(user))
		if err != nil {
			return fmt.Errorf("take grant back: %w", err)
		}
		return tx.auditOwner(ctx, n, edge, audit.Entry{Act: audit.OperateTaken, Detail: string(user)})
	})
}

// auditOwner enters what only the owner of an edge may do, if it has changed anything.
func (t *Tx) auditOwner(ctx context.Context, changed int64, edge id.Edge, e audit.Entry) error {
	if changed == 0 {
		return nil
	}
	e.Target = string(edge)
	if err := t.QueryRow(ctx, `SELECT owner_id FROM edges WHERE id = $1`, e.Target).Scan(&e.User); err != nil {
		return fmt.Errorf("read owner: %w", err)
	}
	t.Audit(e)
	return nil
}
