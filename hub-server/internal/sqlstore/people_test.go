package sqlstore

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// town is a store with people, machines and conversations, and the stores of their domains.
type town struct {
	t        *testing.T
	store    *Store
	accounts *Accounts
	fleet    *Fleet
	chat     *Chat
	runs     *Runlog
	now      time.Time
	keys     atomic.Int64
}

func eachTown(t *testing.T, contract func(w *town)) {
	t.Helper()
	t.Parallel()
	eachStore(t, func(t *testing.T, s *Store, w *Writer) {
		contract(&town{
			t: t, store: s, accounts: NewAccounts(s, w), fleet: NewFleet(s, w), chat: NewChat(s, w), runs: NewRunlog(s, w, "hub"),
			now: time.Now().UTC().Truncate(time.Microsecond),
		})
	})
}

func (w *town) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *town) wants(code fault.Code, err error) {
	w.t.Helper()
	if fault.CodeOf(err) != code {
		w.t.Fatalf("error %v, want %q", err, code)
	}
}

// claim is a fresh attempt with some answer. Safe for concurrent use.
func (w *town) claim() account.Claim {
	n := w.keys.Add(1)
	return account.Claim{
		Attempt: account.Attempt{User: "user", Route: "POST /x", Key: "key-" + strconv.FormatInt(n, 10)}, Answer: []byte{byte(n)},
	}
}

func (w *town) login(user id.User) (account.NewLogin, account.Token) {
	refresh := account.NewToken(account.RefreshToken)
	return account.NewLogin{
		Device: account.Device{
			ID: id.NewDevice(), User: user, Type: account.CLI, Name: "a", Family: account.Family(uuid.NewString()),
			CreatedAt: w.now, LastSeenAt: w.now,
		},
		Refresh: refresh.Hash(), Expires: w.now.Add(account.FamilyIdle),
	}, refresh
}

func (w *town) joining(name string) account.Joining {
	user := account.User{ID: id.NewUser(), Name: name, Role: account.Ordinary, CreatedAt: w.now}
	login, _ := w.login(user.ID)
	return account.Joining{User: user, PasswordHash: "hash of " + name, Login: login}
}

// person makes a user by invitation.
func (w *town) person(name string) account.User {
	w.t.Helper()
	inv := w.invitation()
	j := w.joining(name)
	w.must(w.accounts.AddInvitedUser(w.t.Context(), inv.Token.Hash(), j))
	return j.User
}

func (w *town) invitation() account.Invitation {
	w.t.Helper()
	inv := account.Invitation{
		ID: id.NewInvitation(), Token: account.NewToken(account.InvitationToken), CreatedBy: id.NewUser(),
		CreatedAt: w.now, ExpiresAt: w.now.Add(time.Hour),
	}
	w.must(w.accounts.AddInvitation(w.t.Context(), inv, w.claim()))
	return inv
}

// edge enrols an edge that announces profiles.
func (w *town) edge(owner id.User, profiles ...string) id.Edge {
	w.t.Helper()
	e := w.enrolment(owner)
	edge, err := w.fleet.Redeem(w.t.Context(), w.redemption(e))
	w.must(err)
	w.announce(owner, edge, profiles...)
	return edge
}

func (w *town) enrolment(owner id.User) fleet.Enrolment {
	w.t.Helper()
	e := fleet.Enrolment{
		Edge: id.NewEdge(), Name: "box", Owner: owner, Token: account.NewToken(account.EnrolmentToken),
		CreatedAt: w.now, ExpiresAt: w.now.Add(fleet.EnrolmentLifetime),
	}
	w.must(w.fleet.AddEnrolment(w.t.Context(), e, w.claim()))
	return e
}

func (w *town) redemption(e fleet.Enrolment) fleet.Redemption {
	return fleet.Redemption{
		Token: e.Token.Hash(), Credential: account.NewToken(account.EdgeToken).Hash(),
		Machine: fleet.Machine{Hostname: "host", Version: "1"}, Now: w.now,
	}
}

func (w *town) announce(owner id.User, edge id.Edge, profiles ...string) {
	w.t.Helper()
	a := fleet.Announcement{Edge: edge, Machine: fleet.Machine{Hostname: "host", Version: "2"}}
	for _, p := range profiles {
		a.Profiles = append(a.Profiles, wire.Profile{Name: p, Runtime: "events"})
		a.Agents = append(a.Agents, fleet.Agent{
			ID: id.NewAgent(), Name: p, Owner: owner, Profile: p, Runtime: "events", PermissionMode: fleet.DefaultMode, CreatedAt: w.now,
		})
	}
	w.must(w.fleet.Announce(w.t.Context(), a))
}

// agentOf is the agent of an owner for a profile.
func (w *town) agentOf(owner id.User, profile string) fleet.Agent {
	w.t.Helper()
	agents, err := w.fleet.VisibleAgents(w.t.Context(), owner)
	w.must(err)
	for _, a := range agents {
		if a.Owner == owner && a.Profile == profile {
			return a
		}
	}
	w.t.Fatalf("no agent for %s", profile)
	return fleet.Agent{}
}

// group opens a conversation; the first member owns it.
func (w *town) group(owner account.User, others ...chat.MemberID) chat.Session {
	w.t.Helper()
	s := chat.Session{
		ID: id.NewSession(), Type: chat.Group, Name: "demo", Owner: owner.ID, CreatedAt: w.now, UpdatedAt: w.now,
		Members: []chat.Member{{ID: chat.OfUser(owner.ID), Role: chat.OwnerRole, JoinedAt: w.now}},
	}
	for i, other := range others {
		joined := w.now.Add(time.Duration(i+1) * time.Microsecond)
		s.Members = append(s.Members, chat.Member{ID: other, Role: chat.Participant, JoinedAt: joined})
	}
	w.must(w.chat.Open(w.t.Context(), chat.Opening{Session: s, Created: []byte(`{"created":true}`)}, w.claim()))
	return s
}

// post sends a plain message without runs.
func (w *town) post(s id.Session, from id.User) chat.Message {
	w.t.Helper()
	m, _, err := w.chat.Post(w.t.Context(), w.posting(s, from))
	w.must(err)
	return m
}

func (w *town) posting(s id.Session, from id.User) chat.Posting {
	return chat.Posting{By: from, Message: chat.Message{
		ID: id.NewMessage(), Session: s, ClientMsgID: chat.ClientMsgID(uuid.NewString()), Sender: chat.OfUser(from),
		ContentType: chat.Text, Content: []byte(`{"text":"<hi>  é"}`), CreatedAt: w.now,
	}}
}

// heard is what a user was told since the beginning, by frame type, `message.new` for messages.
func (w *town) heard(user id.User) []string {
	w.t.Helper()
	bounds, err := w.store.Bounds(w.t.Context())
	w.must(err)
	rows, err := w.store.RowsFor(w.t.Context(), user, 0, bounds.Head, 10_000)
	w.must(err)
	var types []string
	for _, r := range rows {
		if r.Kind == delivery.KindMessage {
			r.FrameType = "message.new"
		}
		types = append(types, r.FrameType)
	}
	return types
}

// together runs n calls at the same moment and returns their errors.
func together(n int, call func(i int) error) []error {
	errs := make([]error, n)
	var all sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		all.Go(func() {
			<-start
			errs[i] = call(i)
		})
	}
	close(start)
	all.Wait()
	return errs
}

func count(errs []error, code fault.Code) (n int) {
	for _, err := range errs {
		if fault.CodeOf(err) == code {
			n++
		}
	}
	return n
}

func (w *town) ctx() context.Context { return w.t.Context() }
