package httpapi

import (
	"context"

	"github.com/switchyard-dev/switchyard/hub-server/internal/push"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// PutAttention implements putAttention. Which device speaks is known from its login: nobody looks in somebody else's name.
func (h handlers) PutAttention(ctx context.Context, r PutAttentionRequestObject) (PutAttentionResponseObject, error) {
	by := caller(ctx)
	session, err := optionalID("session_id", id.ParseSession, r.Body.SessionID)
	if err != nil {
		return nil, err
	}
	if r.Body.Foreground {
		h.Attention.Look(ctx, push.Glance{User: by.User, Device: by.Device, Session: session})
	} else {
		h.Attention.Away(ctx, by.User, by.Device)
	}
	return PutAttention204Response{}, nil
}
