package httpapi

import (
	"context"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// ListEdges implements listEdges.
func (h handlers) ListEdges(ctx context.Context, _ ListEdgesRequestObject) (ListEdgesResponseObject, error) {
	edges, err := h.Edges.List(ctx, caller(ctx).User)
	if err != nil {
		return nil, err
	}
	return ListEdges200JSONResponse{Items: mapAll(edges, renderEdge)}, nil
}

// GetEdge implements getEdge.
func (h handlers) GetEdge(ctx context.Context, r GetEdgeRequestObject) (GetEdgeResponseObject, error) {
	edge, err := h.Edges.Get(ctx, caller(ctx).User, id.Edge(r.EdgeID))
	if err != nil {
		return nil, hide(err)
	}
	return GetEdge200JSONResponse(renderEdge(edge)), nil
}

// RevokeEdge implements revokeEdge.
func (h handlers) RevokeEdge(ctx context.Context, r RevokeEdgeRequestObject) (RevokeEdgeResponseObject, error) {
	if err := h.Edges.Revoke(ctx, caller(ctx).User, id.Edge(r.EdgeID)); err != nil {
		return nil, hide(err)
	}
	return RevokeEdge204Response{}, nil
}

// GrantOperator implements grantOperator.
func (h handlers) GrantOperator(ctx context.Context, r GrantOperatorRequestObject) (GrantOperatorResponseObject, error) {
	user, err := pathID(id.ParseUser, r.UserID)
	if err != nil {
		return nil, err
	}
	if err := h.Edges.Grant(ctx, caller(ctx).User, id.Edge(r.EdgeID), user); err != nil {
		return nil, hide(err)
	}
	return GrantOperator204Response{}, nil
}

// RevokeOperator implements revokeOperator.
func (h handlers) RevokeOperator(ctx context.Context, r RevokeOperatorRequestObject) (RevokeOperatorResponseObject, error) {
	user, err := pathID(id.ParseUser, r.UserID)
	if err != nil {
		return nil, err
	}
	if err := h.Edges.Ungrant(ctx, caller(ctx).User, id.Edge(r.EdgeID), user); err != nil {
		return nil, hide(err)
	}
	return RevokeOperator204Response{}, nil
}

// CreateEnrolment implements createEnrolment.
func (h handlers) CreateEnrolment(ctx context.Context, r CreateEnrolmentRequestObject) (CreateEnrolmentResponseObject, error) {
	attempt, err := attemptOf(ctx, r.Params.IdempotencyKey)
	if err != nil {
		return nil, err
	}
	e, err := h.Enrolments.Create(ctx, caller(ctx), r.Body.Name, attempt)
	if err != nil {
		return nil, err
	}
	return CreateEnrolment201JSONResponse{EdgeID: EdgeID(e.Edge), Token: string(e.Token), ExpiresAt: e.ExpiresAt}, nil
}

// EnrolEdge implements enrolEdge.
func (h handlers) EnrolEdge(ctx context.Context, r EnrolEdgeRequestObject) (EnrolEdgeResponseObject, error) {
	b := r.Body
	edge, credential, err := h.Enrolments.Redeem(ctx, account.Token(b.Token), fleet.Machine{Hostname: b.Hostname, Version: b.Version})
	if err != nil {
		return nil, err
	}
	return EnrolEdge201JSONResponse{EdgeID: EdgeID(edge), Credential: string(credential)}, nil
}

// ListAgents implements listAgents.
func (h handlers) ListAgents(ctx context.Context, _ ListAgentsRequestObject) (ListAgentsResponseObject, error) {
	agents, err := h.Agents.List(ctx, caller(ctx).User)
	if err != nil {
		return nil, err
	}
	return ListAgents200JSONResponse{Items: mapAll(agents, renderAgent)}, nil
}

// GetAgent implements getAgent.
func (h handlers) GetAgent(ctx context.Context, r GetAgentRequestObject) (GetAgentResponseObject, error) {
	agent, err := h.Agents.Get(ctx, caller(ctx).User, id.Agent(r.AgentID))
	if err != nil {
		return nil, hide(err)
	}
	return GetAgent200JSONResponse(renderAgent(agent)), nil
}

// CreateAgent implements createAgent.
func (h handlers) CreateAgent(ctx context.Context, r CreateAgentRequestObject) (CreateAgentResponseObject, error) {
	attempt, err := attemptOf(ctx, r.Params.IdempotencyKey)
	if err != nil {
		return nil, err
	}
	b := r.Body
	edge, err := optionalID("edge_id", id.ParseEdge, b.EdgeID)
	if err != nil {
		return nil, err
	}
	agent, err := h.Agents.Create(ctx, caller(ctx).User, fleet.NewAgent{
		Name: b.Name, Description: b.Description, Profile: b.Profile, Runtime: b.Runtime, PermissionMode: b.PermissionMode, Edge: edge,
	}, attempt)
	if err != nil {
		return nil, err
	}
	return CreateAgent201JSONResponse(renderAgent(agent)), nil
}

func renderEdge(e fleet.View) Edge {
	return Edge{
		ID: EdgeID(e.ID), Name: e.Name, OwnerID: UserID(e.Owner), State: EdgeState(e.State), LastSeenAt: e.LastSeenAt, Version: e.Version,
		Operators: texts(e.Operators), CreatedAt: e.CreatedAt,
		Profiles: mapAll(e.Profiles, func(p wire.Profile) EdgeProfile {
			return EdgeProfile{Name: p.Name, Runtime: p.Runtime, Description: p.Description}
		}),
	}
}

func renderAgent(a fleet.AgentView) Agent {
	return Agent{
		ID: AgentID(a.ID), Name: a.Name, Description: a.Description, OwnerID: UserID(a.Owner), Profile: a.Profile, Runtime: a.Runtime,
		EdgeID: EdgeID(a.Edge), PermissionMode: a.PermissionMode, Online: a.Online, CanOperate: a.CanOperate, CreatedAt: a.CreatedAt,
	}
}
