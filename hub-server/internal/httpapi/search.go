package httpapi

import (
	"context"
	"fmt"
	"net/http"

	"github.com/switchyard-dev/switchyard/hub-server/internal/search"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// SearchMessages implements searchMessages.
func (h handlers) SearchMessages(ctx context.Context, r SearchMessagesRequestObject) (SearchMessagesResponseObject, error) {
	by := caller(ctx)
	if err := take(ctx, h.Limiter, "search", string(by.User), h.Limits.Search); err != nil {
		return nil, err
	}
	wanted := search.Request{User: by.User, Text: r.Params.Q}
	var err error
	if wanted.Limit, err = pageLimit(r.Params.Limit, 20, search.MaxPage); err != nil {
		return nil, err
	}
	if wanted.After, err = search.ParseMark(valueOf(r.Params.After)); err != nil {
		return nil, err
	}
	if wanted.Session, err = h.within(ctx, by.User, valueOf(r.Params.SessionID)); err != nil {
		return nil, err
	}
	page, err := h.Finder.Find(ctx, wanted)
	if err != nil {
		return nil, err
	}
	return foundPage{Items: mapAll(page.Messages, renderMessage), Next: page.Next.String(), Partial: page.Partial}, nil
}

// within reads the conversation that a query is about, if it is about one: the caller must be in it.
func (h handlers) within(ctx context.Context, user id.User, session string) (id.Session, error) {
	if session == "" {
		return "", nil
	}
	parsed, err := pathID(id.ParseSession, session)
	if err != nil {
		return "", err
	}
	in, err := h.Sessions.IsMember(ctx, user, parsed)
	switch {
	case err != nil:
		return "", fmt.Errorf("check membership: %w", err)
	case !in:
		return "", notThere()
	}
	return parsed, nil
}

// foundPage answers with messages whose content is what people wrote.
type foundPage MessagesFound

// VisitSearchMessagesResponse implements the generated answer.
func (p foundPage) VisitSearchMessagesResponse(w http.ResponseWriter) error { return writePlain(w, p) }
