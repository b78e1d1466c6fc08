package httpapi

import (
	"context"

	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// ListSessions implements listSessions.
func (h handlers) ListSessions(ctx context.Context, r ListSessionsRequestObject) (ListSessionsResponseObject, error) {
	limit, err := pageLimit(r.Params.Limit, 50, 200)
	if err != nil {
		return nil, err
	}
	after, err := chat.ParsePageMark(valueOf(r.Params.After))
	if err != nil {
		return nil, err
	}
	if r.Params.Name != nil && *r.Params.Name == "" {
		return nil, fault.New(fault.InvalidRequest, "name must not be empty; leave it out to list all conversations.")
	}
	sessions, next, err := h.Sessions.List(ctx, caller(ctx).User, chat.Filter{Name: valueOf(r.Params.Name), After: after, Limit: limit})
	if err != nil {
		return nil, err
	}
	return ListSessions200JSONResponse{Items: mapAll(sessions, renderSession), Next: next.String()}, nil
}

// GetSession implements getSession.
func (h handlers) GetSession(ctx context.Context, r GetSessionRequestObject) (GetSessionResponseObject, error) {
	s, err := h.Sessions.Get(ctx, caller(ctx).User, id.Session(r.SessionID))
	if err != nil {
		return nil, hide(err)
	}
	return GetSession200JSONResponse(renderSession(s)), nil
}

// CreatePrivateSession implements createPrivateSession.
func (h handlers) CreatePrivateSession(
	ctx context.Context, r CreatePrivateSessionRequestObject,
) (CreatePrivateSessionResponseObject, error) {
	attempt, err := attemptOf(ctx, r.Params.IdempotencyKey)
	if err != nil {
		return nil, err
	}
	member, err := bodyID("member_id", chat.ParseMemberID, r.Body.MemberID)
	if err != nil {
		return nil, err
	}
	s, err := h.Sessions.OpenPrivate(ctx, caller(ctx), chat.NewPrivate{Member: member, Name: r.Body.Name}, attempt)
	if err != nil {
		return nil, err
	}
	return CreatePrivateSession201JSONResponse(renderSession(s)), nil
}

// CreateGroupSession implements createGroupSession.
func (h handlers) CreateGroupSession(ctx context.Context, r CreateGroupSessionRequestObject) (CreateGroupSessionResponseObject, error) {
	attempt, err := attemptOf(ctx, r.Params.IdempotencyKey)
	if err != nil {
		return nil, err
	}
	members, err := bodyIDs("member_ids", chat.ParseMemberID, r.Body.MemberIds)
	if err != nil {
		return nil, err
	}
	s, err := h.Sessions.OpenGroup(ctx, caller(ctx), chat.NewGroup{Name: r.Body.Name, Members: members}, attempt)
	if err != nil {
		return nil, err
	}
	return CreateGroupSession201JSONResponse(renderSession(s)), nil
}

// AddMember implements addMember.
func (h handlers) AddMember(ctx context.Context, r AddMemberRequestObject) (AddMemberResponseObject, error) {
	attempt, err := attemptOf(ctx, r.Params.IdempotencyKey)
	if err != nil {
		return nil, err
	}
	member, err := bodyID("member_id", chat.ParseMemberID, r.Body.MemberID)
	if err != nil {
		return nil, err
	}
	m, err := h.Sessions.AddMember(ctx, caller(ctx), id.Session(r.SessionID), member, attempt)
	if err != nil {
		return nil, err
	}
	return AddMember201JSONResponse(renderMember(m)), nil
}

// RemoveMember implements removeMember.
func (h handlers) RemoveMember(ctx context.Context, r RemoveMemberRequestObject) (RemoveMemberResponseObject, error) {
	member, err := pathID(chat.ParseMemberID, r.MemberID)
	if err != nil {
		return nil, err
	}
	if err := h.Sessions.RemoveMember(ctx, caller(ctx), id.Session(r.SessionID), member); err != nil {
		return nil, hide(err)
	}
	return RemoveMember204Response{}, nil
}

func renderSession(s chat.Session) Session {
	return Session{
		ID: SessionID(s.ID), Type: SessionType(s.Type), Name: s.Name, OwnerID: UserID(s.Owner), Members: mapAll(s.Members, renderMember),
		LastSeq: SeqID(s.LastSeq), LastReadSeq: SeqID(s.LastRead), CreatedAt: s.CreatedAt, UpdatedAt: s.UpdatedAt,
	}
}

func renderMember(m chat.Member) SessionMember {
	return SessionMember{
		MemberID: MemberID(m.ID), MemberType: MemberType(m.ID.Type()), Name: m.Name, Role: MemberRole(m.Role), JoinedAt: m.JoinedAt,
	}
}
