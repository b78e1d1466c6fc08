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

// GetUnread implements getUnread.
func (h handlers) GetUnread(ctx context.Context, _ GetUnreadRequestObject) (GetUnreadResponseObject, error) {
	badge, err := h.Sessions.Unread(ctx, caller(ctx).User)
	if err != nil {
		return nil, err
	}
	return GetUnread200JSONResponse{Unread: badge.Messages, Sessions: badge.Sessions}, nil
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
	if err := h.mayBring(ctx, member); err != nil {
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
	if err := h.mayBring(ctx, members...); err != nil {
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
	if err := h.mayBring(ctx, member); err != nil {
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

// UpdateSessionInfo implements updateSessionInfo.
func (h handlers) UpdateSessionInfo(ctx context.Context, r UpdateSessionInfoRequestObject) (UpdateSessionInfoResponseObject, error) {
	change := chat.InfoChange{Name: r.Body.Name, AvatarURL: r.Body.AvatarURL, Announcement: r.Body.Announcement}
	s, err := h.Sessions.ChangeInfo(ctx, caller(ctx), id.Session(r.SessionID), change)
	if err != nil {
		return nil, hide(err)
	}
	return UpdateSessionInfo200JSONResponse(renderSession(s)), nil
}

// UpdateSessionSettings implements updateSessionSettings.
func (h handlers) UpdateSessionSettings(
	ctx context.Context, r UpdateSessionSettingsRequestObject,
) (UpdateSessionSettingsResponseObject, error) {
	change := chat.SettingsChange{Pinned: r.Body.Pinned, Archived: r.Body.Archived, Muted: r.Body.Muted}
	s, err := h.Sessions.ChangeSettings(ctx, caller(ctx), id.Session(r.SessionID), change)
	if err != nil {
		return nil, hide(err)
	}
	return UpdateSessionSettings200JSONResponse(renderSession(s)), nil
}

// LeaveSession implements leaveSession.
func (h handlers) LeaveSession(ctx context.Context, r LeaveSessionRequestObject) (LeaveSessionResponseObject, error) {
	by := caller(ctx)
	if err := h.Sessions.RemoveMember(ctx, by, id.Session(r.SessionID), chat.OfUser(by.User)); err != nil {
		return nil, hide(err)
	}
	return LeaveSession204Response{}, nil
}

// TransferSession implements transferSession.
func (h handlers) TransferSession(ctx context.Context, r TransferSessionRequestObject) (TransferSessionResponseObject, error) {
	to, err := bodyID("user_id", id.ParseUser, r.Body.UserID)
	if err != nil {
		return nil, err
	}
	s, err := h.Sessions.Transfer(ctx, caller(ctx), id.Session(r.SessionID), to)
	if err != nil {
		return nil, hide(err)
	}
	return TransferSession200JSONResponse(renderSession(s)), nil
}

// DissolveSession implements dissolveSession.
func (h handlers) DissolveSession(ctx context.Context, r DissolveSessionRequestObject) (DissolveSessionResponseObject, error) {
	s, err := h.Sessions.Dissolve(ctx, caller(ctx), id.Session(r.SessionID))
	if err != nil {
		return nil, hide(err)
	}
	return DissolveSession200JSONResponse(renderSession(s)), nil
}

func renderSession(s chat.Session) Session {
	return Session{
		ID: SessionID(s.ID), Type: SessionType(s.Type), Name: s.Name, OwnerID: UserID(s.Owner),
		AvatarURL: s.AvatarURL, Announcement: s.Announcement, InfoVersion: int64(s.Info), //nolint:gosec // counts changes
		Members: mapAll(s.Members, renderMember),
		LastSeq: SeqID(s.LastSeq), LastReadSeq: SeqID(s.LastRead), LastChange: ChangeSeq(s.LastChange), ReadMarks: renderReadMarks(s),
		Unread: s.Unread, CreatedAt: s.CreatedAt, UpdatedAt: s.UpdatedAt, DissolvedAt: s.DissolvedAt, ReadOnly: s.ReadOnly,
		Pinned: s.Settings.Pinned, Archived: s.Settings.Archived, Muted: s.Settings.Muted,
		SettingsVersion: int64(s.Settings.Version), //nolint:gosec // counts changes
	}
}

// renderReadMarks says how far the people of a conversation have read who have read anything.
func renderReadMarks(s chat.Session) []SessionReadMark {
	var marks []SessionReadMark
	for _, m := range s.Members {
		if user, ok := m.ID.User(); ok && m.LastRead > 0 {
			marks = append(marks, SessionReadMark{UserID: UserID(user), LastReadSeq: SeqID(m.LastRead)})
		}
	}
	return marks
}

func renderMember(m chat.Member) SessionMember {
	return SessionMember{
		MemberID: MemberID(m.ID), MemberType: MemberType(m.ID.Type()), Name: m.Name, Role: MemberRole(m.Role), JoinedAt: m.JoinedAt,
	}
}
