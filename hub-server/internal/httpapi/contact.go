package httpapi

import (
	"context"

	"github.com/switchyard-dev/switchyard/hub-server/internal/contact"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// FindPerson implements findPerson.
func (h handlers) FindPerson(ctx context.Context, r FindPersonRequestObject) (FindPersonResponseObject, error) {
	p, err := h.Contacts.Find(ctx, caller(ctx).User, r.Username)
	if err != nil {
		return nil, hide(err)
	}
	return FindPerson200JSONResponse{UserID: UserID(p.ID), Username: p.Name, DisplayName: p.DisplayName}, nil
}

// ListContacts implements listContacts.
func (h handlers) ListContacts(ctx context.Context, _ ListContactsRequestObject) (ListContactsResponseObject, error) {
	all, err := h.Contacts.List(ctx, caller(ctx).User)
	if err != nil {
		return nil, err
	}
	return ListContacts200JSONResponse{Items: mapAll(all, renderContact)}, nil
}

// RequestContact implements requestContact.
func (h handlers) RequestContact(ctx context.Context, r RequestContactRequestObject) (RequestContactResponseObject, error) {
	if err := h.mayInvite(ctx, caller(ctx)); err != nil {
		return nil, err
	}
	c, err := h.Contacts.Ask(ctx, caller(ctx), r.Body.Username, r.Body.Message)
	if err != nil {
		return nil, hide(err)
	}
	return RequestContact200JSONResponse(renderContact(c)), nil
}

// AcceptContact implements acceptContact.
func (h handlers) AcceptContact(ctx context.Context, r AcceptContactRequestObject) (AcceptContactResponseObject, error) {
	request, err := pathID(id.ParseRequest, r.RequestID)
	if err != nil {
		return nil, err
	}
	c, err := h.Contacts.Accept(ctx, caller(ctx).User, request)
	if err != nil {
		return nil, hide(err)
	}
	return AcceptContact200JSONResponse(renderContact(c)), nil
}

// DeclineContact implements declineContact.
func (h handlers) DeclineContact(ctx context.Context, r DeclineContactRequestObject) (DeclineContactResponseObject, error) {
	request, err := pathID(id.ParseRequest, r.RequestID)
	if err != nil {
		return nil, err
	}
	if err := h.Contacts.Decline(ctx, caller(ctx).User, request); err != nil {
		return nil, hide(err)
	}
	return DeclineContact204Response{}, nil
}

// RemoveContact implements removeContact.
func (h handlers) RemoveContact(ctx context.Context, r RemoveContactRequestObject) (RemoveContactResponseObject, error) {
	other, err := pathID(id.ParseUser, r.UserID)
	if err != nil {
		return nil, err
	}
	if err := h.Contacts.Remove(ctx, caller(ctx).User, other); err != nil {
		return nil, err
	}
	return RemoveContact204Response{}, nil
}

// BlockContact implements blockContact.
func (h handlers) BlockContact(ctx context.Context, r BlockContactRequestObject) (BlockContactResponseObject, error) {
	other, err := pathID(id.ParseUser, r.UserID)
	if err != nil {
		return nil, err
	}
	if err := h.Contacts.Block(ctx, caller(ctx).User, other); err != nil {
		return nil, hide(err)
	}
	return BlockContact204Response{}, nil
}

// UnblockContact implements unblockContact.
func (h handlers) UnblockContact(ctx context.Context, r UnblockContactRequestObject) (UnblockContactResponseObject, error) {
	other, err := pathID(id.ParseUser, r.UserID)
	if err != nil {
		return nil, err
	}
	if err := h.Contacts.Unblock(ctx, caller(ctx).User, other); err != nil {
		return nil, err
	}
	return UnblockContact204Response{}, nil
}

func renderContact(c contact.Contact) Contact {
	return Contact{
		UserID: UserID(c.ID), Username: c.Name, DisplayName: c.DisplayName, State: ContactState(c.State), RequestID: RequestID(c.Request),
		Message: c.Message, Since: c.Since, Online: c.Online, LastSeenAt: c.LastSeen,
	}
}
