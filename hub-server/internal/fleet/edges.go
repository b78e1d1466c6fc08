package fleet

import (
	"context"
	"errors"
	"fmt"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Announcement is what an edge says about itself when it connects and when that changes, cut down to what is stored.
type Announcement struct {
	Edge     id.Edge
	Machine  Machine
	Profiles []wire.Profile
	Controls bool
	Fence    uint64  // of the lane that it was said on; 0 for a greeting, which takes the lane afterwards
	Agents   []Agent // one for each profile; stored if the owner has none for that profile
}

// EdgeStore keeps edges and who may operate them. Each write is one transaction; safe for concurrent use.
type EdgeStore interface {
	// Edge returns an edge, revoked or not; NotFound.
	Edge(ctx context.Context, edge id.Edge) (Edge, error)
	// EdgeByCredential returns the edge that was given the credential, revoked or not; NotFound.
	EdgeByCredential(ctx context.Context, credential account.TokenHash) (Edge, error)
	// EdgesFor returns the edges that the user owns or operates and that are not revoked, oldest first.
	EdgesFor(ctx context.Context, user id.User) ([]Edge, error)
	// Announce stores what a connected edge can run and makes missing agents; EdgeRevoked when it may not connect, ErrFenced when another
	// connection has taken the lane.
	Announce(ctx context.Context, a Announcement) error
	// MarkEdge records when the edge was last heard and, unless it is "", why its rows are refused; Announce takes that back.
	MarkEdge(ctx context.Context, edge id.Edge, refused fault.Code) error
	// RevokeEdge ends the credential and all grants. Revoking twice is fine.
	RevokeEdge(ctx context.Context, edge id.Edge) error
	// Grant lets the user operate the edge; NotFound when there is no such user. Granting twice is fine.
	Grant(ctx context.Context, edge id.Edge, user id.User) error
	// Ungrant takes that back. Doing it twice is fine.
	Ungrant(ctx context.Context, edge id.Edge, user id.User) error
}

// ErrFenced means that what an edge said came late: another connection of it has been opened since.
var ErrFenced = errors.New("another connection of the edge has taken its lane")

// Edges knows the machines. Safe for concurrent use.
type Edges struct {
	Store    EdgeStore
	Presence Presence
	Now      account.Clock
	// Revoked is told after the commit, so that the edge's tunnel closes at once on every hub. It must not block.
	Revoked func(id.Edge)
}

// Authenticate returns the edge that shows the credential: Unauthenticated, or EdgeRevoked.
func (e *Edges) Authenticate(ctx context.Context, credential string) (Edge, error) {
	token := account.Token(credential)
	if !token.Is(account.EdgeToken) {
		return Edge{}, unknownCredential(nil)
	}
	edge, err := e.Store.EdgeByCredential(ctx, token.Hash())
	switch {
	case fault.CodeOf(err) == fault.NotFound:
		return Edge{}, unknownCredential(err)
	case err != nil:
		return Edge{}, fmt.Errorf("look up edge: %w", err)
	case edge.Revoked():
		return Edge{}, fault.New(fault.EdgeRevoked, "This edge was removed from the hub. Enrol it again to use it.")
	}
	return edge, nil
}

func unknownCredential(cause error) error {
	return fault.Wrap(cause, fault.Unauthenticated, "The hub does not know this edge credential. Enrol the edge again.")
}

// Announce records what a greeting edge can run and makes an agent for each profile that has none yet.
func (e *Edges) Announce(ctx context.Context, edge id.Edge, hello wire.Hello) error {
	return e.announce(ctx, edge, hello, 0)
}

// AnnounceAgain does it for an edge that said on its open lane that something has changed; ErrFenced if the lane is another's by now.
func (e *Edges) AnnounceAgain(ctx context.Context, edge id.Edge, hello wire.Hello, fence uint64) error {
	return e.announce(ctx, edge, hello, fence)
}

func (e *Edges) announce(ctx context.Context, edge id.Edge, hello wire.Hello, fence uint64) error {
	stored, err := e.Store.Edge(ctx, edge)
	if err != nil {
		return fmt.Errorf("look up edge: %w", err)
	}
	a := Announcement{
		Edge:     edge,
		Machine:  Machine{Hostname: shorten(hello.Hostname, maxHostname), Version: shorten(hello.Version, maxLabel)},
		Profiles: acceptable(hello.Profiles),
		Controls: hello.Controls,
		Fence:    fence,
	}
	for _, p := range a.Profiles {
		a.Agents = append(a.Agents, Agent{
			ID: id.NewAgent(), Name: p.Name, Description: p.Description, Owner: stored.Owner, Profile: p.Name, Runtime: p.Runtime,
			PermissionMode: DefaultMode, CreatedAt: e.Now.Moment(),
		})
	}
	return e.Store.Announce(ctx, a)
}

// Seen records that the edge was heard just now, as its connection ends. A refusal stands.
func (e *Edges) Seen(ctx context.Context, edge id.Edge) error { return e.Store.MarkEdge(ctx, edge, "") }

// Refuse makes the edge show as refused until its next hello.
func (e *Edges) Refuse(ctx context.Context, edge id.Edge, why fault.Code) error {
	return e.Store.MarkEdge(ctx, edge, why)
}

// Standing returns an edge as the store has it: whether it was removed, and why the hub takes nothing from it.
func (e *Edges) Standing(ctx context.Context, edge id.Edge) (Edge, error) {
	return e.Store.Edge(ctx, edge)
}

// View is an edge as one person sees it. Only the owner sees the operators.
type View struct {
	Edge
	State State
}

// Get returns an edge that the caller owns or operates; NotFound for any other.
func (e *Edges) Get(ctx context.Context, by id.User, edge id.Edge) (View, error) {
	found, err := e.Store.Edge(ctx, edge)
	if err != nil {
		return View{}, err
	}
	if !found.OperatedBy(by) {
		return View{}, edgeNotFound()
	}
	return e.view(found, by), nil
}

// List returns the edges that the caller owns or operates, oldest first.
func (e *Edges) List(ctx context.Context, by id.User) ([]View, error) {
	edges, err := e.Store.EdgesFor(ctx, by)
	views := make([]View, 0, len(edges))
	for _, one := range edges {
		views = append(views, e.view(one, by))
	}
	return views, err
}

func (e *Edges) view(edge Edge, by id.User) View {
	if edge.Owner != by {
		edge.Operators = nil
	}
	return View{Edge: edge, State: StateOf(edge, e.Presence.Online(edge.ID))}
}

// Revoke takes the edge's credential back and closes its connection. Only its owner may.
func (e *Edges) Revoke(ctx context.Context, by id.User, edge id.Edge) error {
	if err := e.own(ctx, by, edge); err != nil {
		return err
	}
	if err := e.Store.RevokeEdge(ctx, edge); err != nil {
		return fmt.Errorf("revoke edge: %w", err)
	}
	e.Revoked(edge)
	return nil
}

// Grant lets a user operate the agents of the edge. Only its owner may.
func (e *Edges) Grant(ctx context.Context, by id.User, edge id.Edge, user id.User) error {
	if err := e.own(ctx, by, edge); err != nil {
		return err
	}
	return e.Store.Grant(ctx, edge, user)
}

// Ungrant takes that right back. Only the edge's owner may.
func (e *Edges) Ungrant(ctx context.Context, by id.User, edge id.Edge, user id.User) error {
	if err := e.own(ctx, by, edge); err != nil {
		return err
	}
	return e.Store.Ungrant(ctx, edge, user)
}

// own fails with NotFound for an edge the caller cannot see, and Forbidden for one that they only operate.
func (e *Edges) own(ctx context.Context, by id.User, edge id.Edge) error {
	view, err := e.Get(ctx, by, edge)
	if err != nil {
		return err
	}
	if view.Owner != by {
		return fault.New(fault.Forbidden, "Only the owner of this edge may do that.")
	}
	return nil
}

func edgeNotFound() error {
	return fault.New(fault.NotFound, "There is no such edge, or it is not yours.")
}
