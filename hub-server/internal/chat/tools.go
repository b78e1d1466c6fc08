package chat

import (
	"context"

	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// ToolStore keeps which tools a person's clients carry out for the agents of a conversation (S0 session.create). Safe for concurrent use.
type ToolStore interface {
	// OfferTools makes them those of the person there, in place of all that were before; none withdraws them. wire.CheckClientTools has found nothing
	// wrong with them. NotFound for who is not a member, SessionDissolved.
	OfferTools(ctx context.Context, s id.Session, user id.User, tools []wire.ClientTool) error
}
