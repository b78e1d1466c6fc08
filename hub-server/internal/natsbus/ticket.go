package natsbus

import (
	"crypto/subtle"
	"sync"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/subject"
)

const hubUser = "hub"

// ticketBook holds the one-time passwords with which tunnelled connections log in to the bus.
type ticketBook struct {
	mu   sync.Mutex
	open map[string]ticket // by password
}

type ticket struct {
	edge id.Edge
	conn id.Connection
}

func newTicketBook() *ticketBook { return &ticketBook{open: map[string]ticket{}} }

// Ticket makes the bus credential of one tunnel: valid for one login, as that edge, on that connection's subjects only.
func (s *Server) Ticket(e id.Edge, c id.Connection) string {
	password := randomSecret()
	s.tickets.mu.Lock()
	defer s.tickets.mu.Unlock()
	s.tickets.open[password] = ticket{e, c}
	return password
}

// Forget voids a ticket that was not used.
func (s *Server) Forget(password string) {
	s.tickets.mu.Lock()
	defer s.tickets.mu.Unlock()
	delete(s.tickets.open, password)
}

// redeem takes a ticket out of the book.
func (b *ticketBook) redeem(password string) (ticket, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t, ok := b.open[password]
	delete(b.open, password)
	return t, ok
}

// authenticator decides for the embedded server who may connect and on which subjects (SEC16). Default: nobody, nothing.
type authenticator struct {
	tickets *ticketBook
	secret  string
}

// Check implements server.Authentication.
func (a *authenticator) Check(c server.ClientAuthentication) bool {
	opts := c.GetOpts()
	if opts.Username == hubUser {
		return subtle.ConstantTimeCompare([]byte(opts.Password), []byte(a.secret)) == 1
	}
	t, ok := a.tickets.redeem(opts.Password)
	if !ok || string(t.edge) != opts.Username {
		return false
	}
	c.RegisterUser(&server.User{Username: opts.Username, Permissions: edgePermissions(t)})
	return true
}

// edgePermissions allows one connection exactly its own subjects. An edge gets no inbox: nothing on the uplink is answered to
// a subject that an edge chose.
func edgePermissions(t ticket) *server.Permissions {
	return &server.Permissions{
		Publish:   &server.SubjectPermission{Allow: []string{string(subject.AllUp(t.edge, t.conn))}},
		Subscribe: &server.SubjectPermission{Allow: []string{string(subject.AllDown(t.edge, t.conn))}},
	}
}
