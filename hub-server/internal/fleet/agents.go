package fleet

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// DefaultMode is what an agent may do without asking, unless its owner says otherwise: what its own program allows by default.
const DefaultMode = "default"

// AgentStore keeps agents. Each write is one transaction; safe for concurrent use.
type AgentStore interface {
	// VisibleAgents returns the agents that the user owns, may operate, or shares a conversation with, by name.
	VisibleAgents(ctx context.Context, user id.User) ([]Agent, error)
	// Agents returns those of the agents that exist, in no order.
	Agents(ctx context.Context, agents []id.Agent) ([]Agent, error)
	// AddAgent stores the agent with the claim; Conflict when the owner has one of that name, *account.Repeated as everywhere.
	AddAgent(ctx context.Context, a Agent, claim account.Claim) error
	// EdgesOf returns the owner's edges that are not revoked, with profiles and operators.
	EdgesOf(ctx context.Context, owner id.User) ([]Edge, error)
}

// Agents knows the agents and who may operate them. Safe for concurrent use.
type Agents struct {
	Store    AgentStore
	Presence Presence
	Attempts *account.Attempts
	Now      account.Clock
}

// AgentView is an agent as one person sees it.
type AgentView struct {
	Agent
	Online     bool // an edge that can run it is connected
	CanOperate bool
}

// NewAgent is what a person chooses for an agent of theirs.
type NewAgent struct {
	Name, Description, Profile, Runtime, PermissionMode string
	Edge                                                id.Edge // "" for any of the owner's edges
}

// List returns the agents that the caller owns, may operate, or shares a conversation with.
func (a *Agents) List(ctx context.Context, by id.User) ([]AgentView, error) {
	agents, err := a.Store.VisibleAgents(ctx, by)
	if err != nil {
		return nil, fmt.Errorf("list agents: %w", err)
	}
	return a.views(ctx, by, agents)
}

// Get returns one of them; NotFound for any other.
func (a *Agents) Get(ctx context.Context, by id.User, agent id.Agent) (AgentView, error) {
	views, err := a.List(ctx, by)
	if err != nil {
		return AgentView{}, err
	}
	i := slices.IndexFunc(views, func(v AgentView) bool { return v.ID == agent })
	if i < 0 {
		return AgentView{}, fault.New(fault.NotFound, "There is no such agent, or it is not yours to see.")
	}
	return views[i], nil
}

// Default returns the agent that a person means who names none: the first that they made, or else the first made of those that they may
// operate; AgentUnknown if there is none (R33).
func (a *Agents) Default(ctx context.Context, user id.User) (AgentView, error) {
	views, err := a.List(ctx, user)
	if err != nil {
		return AgentView{}, err
	}
	views = slices.DeleteFunc(views, func(v AgentView) bool { return !v.CanOperate })
	if len(views) == 0 {
		return AgentView{}, fault.New(fault.AgentUnknown, "You have no agent yet. Enrol an edge and make one first.")
	}
	return slices.MinFunc(views, func(a, b AgentView) int {
		return cmp.Or(foreign(user, a)-foreign(user, b), a.CreatedAt.Compare(b.CreatedAt), strings.Compare(string(a.ID), string(b.ID)))
	}), nil
}

func foreign(user id.User, v AgentView) int {
	if v.Owner == user {
		return 0
	}
	return 1
}

// ViewsOf returns those of the agents that exist, as the user sees them, whether they could find them by themselves or not.
func (a *Agents) ViewsOf(ctx context.Context, user id.User, agents []id.Agent) ([]AgentView, error) {
	found, err := a.Store.Agents(ctx, agents)
	if err != nil {
		return nil, fmt.Errorf("look up agents: %w", err)
	}
	return a.views(ctx, user, found)
}

func (a *Agents) views(ctx context.Context, by id.User, agents []Agent) ([]AgentView, error) {
	edges := map[id.User][]Edge{}
	views := make([]AgentView, 0, len(agents))
	for _, one := range agents {
		owned, known := edges[one.Owner]
		if !known {
			var err error
			if owned, err = a.Store.EdgesOf(ctx, one.Owner); err != nil {
				return nil, fmt.Errorf("look up edges: %w", err)
			}
			edges[one.Owner] = owned
		}
		online := slices.ContainsFunc(owned, func(e Edge) bool { return one.CanRunOn(e) && a.Presence.Online(e.ID) })
		views = append(views, AgentView{Agent: one, Online: online, CanOperate: one.OperatedBy(by, owned)})
	}
	return views, nil
}

// Create names a configuration on the caller's edges.
func (a *Agents) Create(ctx context.Context, by id.User, n NewAgent, attempt account.Attempt) (AgentView, error) {
	if n.PermissionMode == "" {
		n.PermissionMode = DefaultMode
	}
	if err := n.check(); err != nil {
		return AgentView{}, err
	}
	type claimed = func(AgentView) (account.Claim, error)
	return account.Once(ctx, a.Attempts, attempt, func(claim claimed) (AgentView, error) {
		edges, err := a.Store.EdgesOf(ctx, by)
		if err != nil {
			return AgentView{}, fmt.Errorf("look up edges: %w", err)
		}
		if n.Edge != "" && !slices.ContainsFunc(edges, func(e Edge) bool { return e.ID == n.Edge }) {
			return AgentView{}, edgeNotFound()
		}
		views, err := a.views(ctx, by, []Agent{{
			ID: id.NewAgent(), Name: n.Name, Description: n.Description, Owner: by, Profile: n.Profile, Runtime: n.Runtime,
			Edge: n.Edge, PermissionMode: n.PermissionMode, CreatedAt: a.Now.Moment(),
		}})
		if err != nil {
			return AgentView{}, err
		}
		c, err := claim(views[0])
		if err != nil {
			return AgentView{}, err
		}
		return views[0], a.Store.AddAgent(ctx, views[0].Agent, c)
	})
}

func (n NewAgent) check() error {
	const allowed = "letters, digits, dot, dash and underscore, and begin with a letter or digit"
	switch {
	case !validName(n.Name):
		return fault.New(fault.InvalidRequest, "name must have 1 to %d %s.", maxName, allowed)
	case !validName(n.Profile):
		return fault.New(fault.InvalidRequest, "profile must have 1 to %d %s.", maxName, allowed)
	case !validRuntime(n.Runtime):
		return fault.New(fault.InvalidRequest, "runtime must be the name of an adapter, such as bridge or events.")
	case !validMode(n.PermissionMode):
		return fault.New(fault.InvalidRequest, "permission_mode must have 1 to %d letters, digits, dashes and underscores.", maxRuntime)
	}
	return checkText("description", n.Description, 0, maxDescription)
}

// OperateRequired is the refusal of everything that starts, steers or stops an agent without the right to.
func OperateRequired(agent string) error {
	return fault.New(fault.AgentOperateRequired,
		"You may not operate the agent %s. Ask the owner of the edge that runs it to let you.", agent)
}
