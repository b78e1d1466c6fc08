package cards

import (
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/hub-server/internal/sqlstore"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// person is somebody with a login.
type person struct {
	account.Principal
	town   *town
	token  account.AccessToken
	bearer account.AccessToken // for REST
}

// person makes a user by invitation.
func (w *town) person(name string) person {
	w.t.Helper()
	now := time.Now().UTC().Truncate(time.Microsecond)
	inv := account.Invitation{
		ID: id.NewInvitation(), Token: account.NewToken(account.InvitationToken), CreatedBy: id.NewUser(), CreatedAt: now, ExpiresAt: now.Add(time.Hour),
	}
	w.must(w.accounts.AddInvitation(w.t.Context(), inv, w.claim()))
	user := account.User{ID: id.NewUser(), Name: name, Role: account.Ordinary, CreatedAt: now}
	device := account.Device{
		ID: id.NewDevice(), User: user.ID, Type: account.CLI, Name: "a", Family: account.Family(uuid.NewString()), CreatedAt: now, LastSeenAt: now,
	}
	w.must(w.accounts.AddInvitedUser(w.t.Context(), inv.Token.Hash(), account.Joining{User: user, PasswordHash: "hash", Login: account.NewLogin{
		Device: device, Refresh: account.NewToken(account.RefreshToken).Hash(), Expires: now.Add(time.Hour),
	}}))
	bearer, err := w.issuer.Issue(device)
	w.must(err)
	p := person{town: w, token: account.AccessToken("token-" + name), bearer: bearer, Principal: account.Principal{
		User: user.ID, Name: name, Device: device.ID, DeviceType: account.CLI, Family: device.Family,
	}}
	w.logins.mu.Lock()
	defer w.logins.mu.Unlock()
	w.logins.known[p.token] = p.Principal
	return p
}

// edge enrols an edge of a person's that has an agent of each name.
func (p person) edge(agents ...string) id.Edge {
	w := p.town
	now := time.Now().UTC().Truncate(time.Microsecond)
	e := fleet.Enrolment{
		Edge: id.NewEdge(), Name: "box", Owner: p.User, Token: account.NewToken(account.EnrolmentToken), CreatedAt: now, ExpiresAt: now.Add(time.Hour),
	}
	w.must(w.fleets.AddEnrolment(w.t.Context(), e, w.claim()))
	_, err := w.fleets.Redeem(w.t.Context(), fleet.Redemption{
		Token: e.Token.Hash(), Credential: account.NewToken(account.EdgeToken).Hash(), Machine: fleet.Machine{Hostname: "host", Version: "1"}, Now: now,
	})
	w.must(err)
	a := fleet.Announcement{Edge: e.Edge, Machine: fleet.Machine{Hostname: "host", Version: "2"}}
	for i, name := range agents {
		a.Profiles = append(a.Profiles, wire.Profile{Name: name, Runtime: "events"})
		a.Agents = append(a.Agents, fleet.Agent{
			ID: id.NewAgent(), Name: name, Owner: p.User, Profile: name, Runtime: "events", PermissionMode: fleet.DefaultMode,
			CreatedAt: now.Add(time.Duration(i) * time.Second),
		})
	}
	w.must(w.fleets.Announce(w.t.Context(), a))
	return e.Edge
}

func (p person) agent(name string) chat.MemberID {
	agents, err := p.town.fleets.VisibleAgents(p.town.t.Context(), p.User)
	p.town.must(err)
	for _, a := range agents {
		if a.Owner == p.User && a.Name == name {
			return chat.OfAgent(a.ID)
		}
	}
	p.town.t.Fatalf("no agent %s", name)
	return ""
}

func (p person) member() chat.MemberID { return chat.OfUser(p.User) }

// lane is what an edge has told so far.
type lane struct {
	edge id.Edge
	rows [][]byte
	sent int
}

// tells has an edge report events of a run, one after the other.
func (w *town) tells(edge id.Edge, run id.Run, events ...any) {
	w.t.Helper()
	l := w.lanes[edge]
	if l == nil {
		l = &lane{edge: edge}
		w.lanes[edge] = l
	}
	for i := 0; i < len(events); i += 2 {
		raw, err := event.Encode(events[i+1])
		w.must(err)
		row, err := event.AppendRow(nil, event.Envelope{
			Version: event.Version, ID: id.NewEvent(), Seq: uint64(len(l.rows)) + 1, Type: event.WireType(events[i].(string)), Scope: event.Scope{RunID: run},
			TraceID: "trace_" + strings.Repeat("a", 32), SentAt: time.Now(), Payload: raw,
		})
		w.must(err)
		l.rows = append(l.rows, row)
	}
	opened, err := w.record.Lanes.Open(w.t.Context(), edge, wire.Hello{
		Protocol: wire.Protocol, Incarnation: "0123456789abcdef", BootNonce: "0123456789abcdef", Floor: 1, Head: wire.ProducerSeq(len(l.rows)),
	})
	w.must(err)
	frame := runlog.PrepareFrame(edge, opened, wire.Frame{First: wire.ProducerSeq(l.sent + 1), Rows: l.rows[l.sent:]})
	if res, err := w.record.Lanes.Commit(w.t.Context(), frame); err != nil || res.NeedBlob != "" {
		w.t.Fatalf("commit %+v, %v", res, err)
	}
	l.sent = len(l.rows)
}

type object = map[string]any

// says has a run begin a message, or go on with it.
func (w *town) says(edge id.Edge, run id.Run, message id.Message, pieces ...string) {
	w.t.Helper()
	var events []any
	for _, p := range pieces {
		events = append(events, "run.agent.text_delta", event.DeltaPayload{MessageID: message, Delta: p})
	}
	w.tells(edge, run, events...)
}

// begins has an edge take its orders, and a run start and begin a message.
func (w *town) begins(edge id.Edge, run id.Run) id.Message {
	w.t.Helper()
	_, err := sqlstore.NewRunlog(w.store, w.writer, "hub").TakeCommands(w.t.Context(), edge)
	w.must(err)
	message := id.NewMessage()
	w.tells(edge, run, "run.started", object{}, "item.created", event.MessageStartedPayload{MessageID: message, Role: "assistant"})
	return message
}

// asks has a run ask a person.
func (w *town) asks(edge id.Edge, run id.Run, kind event.PromptKind, inner string) id.Request {
	w.t.Helper()
	asked := event.PromptRequestedPayload{RequestID: id.NewRequest(), Kind: kind, AgentRequestID: string(id.NewEvent()), Asks: event.Person}
	var err error
	if kind == event.PromptPermission {
		asked.ToolName, asked.Input = "Bash", []byte(inner)
		asked.Digest, err = event.PromptDigest(asked.ToolName, asked.Input)
	} else {
		asked.Inner = []byte(inner)
		asked.Digest, err = event.InnerDigest(kind, asked.Inner)
	}
	w.must(err)
	w.tells(edge, run, "run.agent.permission_requested", asked) // S3's name for all kinds
	return asked.RequestID
}
