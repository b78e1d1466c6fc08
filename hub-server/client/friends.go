package client

import "context"

// Records of who knows whom, by the request that it began with.
const (
	befriending = "friend.request"
	befriended  = "friend.accepted"
)

// friends tells who has asked whom and who are friends, and forgets what is no more: a decline and the end of a friendship are told to nobody.
func (f *Feed) friends(ctx context.Context, tell func(Update) error) error {
	if f.options.Session != "" {
		return nil
	}
	found, err := ask(ctx, tell, func() (keptList[Contact, string], error) { return list[Contact, string](f.api.ListContacts(ctx)) })
	if err != nil {
		return forgivable(err)
	}
	asked, accepted := map[string]bool{}, map[string]bool{}
	for _, c := range found.Items {
		asked[c.RequestID] = true
		accepted[c.RequestID] = c.State == ContactStateFriend
		typ, payload := f.standingOf(c)
		if payload == nil || c.RequestID == "" {
			continue
		}
		if err := f.add(typ, payload, tell); err != nil {
			return err
		}
	}
	f.reducer.retain(befriending, asked)
	f.reducer.retain(befriended, accepted)
	return nil
}

// standingOf is the frame that tells how a contact stands; none for one that is blocked, of whom nobody is told.
func (f *Feed) standingOf(c Contact) (HubWebSocketFrameType, any) {
	me := f.client.tokens.user()
	request := FriendRequestPayload{RequestID: c.RequestID, FromUserID: me, ToUserID: c.UserID, Message: c.Message}
	switch c.State {
	case ContactStateFriend:
		return HubWebSocketFrameTypeFriendAccepted, FriendAcceptedPayload{RequestID: c.RequestID, UserID: c.UserID}
	case ContactStateRequestSent:
		return HubWebSocketFrameTypeFriendRequest, request
	case ContactStateRequestReceived:
		request.FromUserID, request.ToUserID = c.UserID, me
		return HubWebSocketFrameTypeFriendRequest, request
	case ContactStateBlocked:
	}
	return "", nil
}
