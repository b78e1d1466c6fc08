package lookup

import (
	"context"
	"fmt"

	"github.com/switchyard-dev/switchyard/hub-server/client"
)

// Contact finds somebody with whom the caller has to do: a friend, a request in either direction, somebody who is blocked.
func (f Finder) Contact(ctx context.Context, ref string) (client.Contact, error) {
	list, err := client.Decode[client.ContactList](f.api.ListContacts(ctx))
	if err != nil {
		return client.Contact{}, fmt.Errorf("find contact: %w", err)
	}
	return choose(kind{"contact", "yard friends"}, ref, list.Items, func(c client.Contact) thing { return thing{c.UserID, c.Username} })
}

// Person finds anybody, by exactly the name that they log in with.
func (f Finder) Person(ctx context.Context, name client.Username) (client.Person, error) {
	found, err := client.Decode[client.Person](f.api.FindPerson(ctx, name))
	if client.CodeOf(err) == client.ProblemCodeNotFound {
		return found, &noMatch{ErrNone, fmt.Sprintf("nobody here logs in as %q; a name has to be exact", name)}
	}
	return found, err
}
