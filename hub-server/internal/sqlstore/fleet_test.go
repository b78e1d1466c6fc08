package sqlstore

import (
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

func (w *town) joiningAgent(owner id.User) fleet.Agent {
	return fleet.Agent{
		ID: id.NewAgent(), Name: "helper", Description: "helps", Owner: owner, Profile: "scout", Runtime: "events",
		PermissionMode: fleet.DefaultMode, CreatedAt: w.now,
	}
}

func TestSEC15OfTwoRedemptionsOneWins(t *testing.T) {
	eachTown(t, func(w *town) {
		t := w.t
		e := w.enrolment(id.NewUser())
		errs := together(8, func(int) error {
			edge, err := w.fleet.Redeem(t.Context(), w.redemption(e))
			if err == nil && edge != e.Edge {
				t.Errorf("redeemed as %s, the token names %s", edge, e.Edge)
			}
			return err
		})
		if count(errs, "") != 1 || count(errs, fault.EnrolmentInvalid) != 7 {
			t.Fatalf("errors %v", errs)
		}
	})
}

func TestSEC15AnEnrolmentExpiresAndIsKeptAsAHash(t *testing.T) {
	eachTown(t, func(w *town) {
		t := w.t
		e := w.enrolment(id.NewUser())
		late := w.redemption(e)
		late.Now = e.ExpiresAt
		_, err := w.fleet.Redeem(t.Context(), late)
		w.wants(fault.EnrolmentInvalid, err)
		var stored int
		row := w.store.readDB.QueryRowContext(t.Context(), `SELECT COUNT(*) FROM enrolments WHERE token_hash = $1`, []byte(e.Token))
		if err := row.Scan(&stored); err != nil || stored != 0 {
			t.Fatalf("%d rows hold the token itself, %v", stored, err)
		}
	})
}

func TestAnEdgeIsFoundByItsCredentialAlsoWhenRevoked(t *testing.T) {
	eachTown(t, func(w *town) {
		t := w.t
		owner := w.person("ada")
		r := w.redemption(w.enrolment(owner.ID))
		edge, err := w.fleet.Redeem(t.Context(), r)
		w.must(err)
		w.must(w.fleet.Grant(t.Context(), edge, w.person("bob").ID))
		found, err := w.fleet.EdgeByCredential(t.Context(), r.Credential)
		if err != nil || found.ID != edge || found.Owner != owner.ID || found.Revoked() || len(found.Operators) != 1 {
			t.Fatalf("found %+v, %v", found, err)
		}
		_, err = w.fleet.EdgeByCredential(t.Context(), account.TokenHash{})
		w.wants(fault.NotFound, err)

		for range 2 {
			w.must(w.fleet.RevokeEdge(t.Context(), edge))
		}
		if found, err = w.fleet.EdgeByCredential(t.Context(), r.Credential); err != nil || !found.Revoked() || len(found.Operators) != 0 {
			t.Fatalf("after the revocation %+v, %v", found, err)
		}
		if edges, err := w.fleet.EdgesOf(t.Context(), owner.ID); err != nil || len(edges) != 0 {
			t.Fatalf("EdgesOf = %+v, %v", edges, err)
		}
		w.wants(fault.EdgeRevoked, w.fleet.Announce(t.Context(), fleet.Announcement{Edge: edge}))
	})
}

func TestAnnouncedProfilesReplaceEarlierOnesAndMakeOneAgentEach(t *testing.T) {
	eachTown(t, func(w *town) {
		t := w.t
		owner := w.person("ada")
		edge := w.edge(owner.ID, "scout", "chat")
		first := w.agentOf(owner.ID, "scout")
		w.must(w.fleet.MarkEdge(t.Context(), edge, fault.EdgeRefused))
		w.must(w.fleet.MarkEdge(t.Context(), edge, "")) // the connection ends after that, and the refusal stands
		if e, err := w.fleet.Edge(t.Context(), edge); err != nil || e.Refused != fault.EdgeRefused {
			t.Fatalf("edge %+v, %v", e, err)
		}
		w.announce(owner.ID, edge, "scout", "writer")
		e, err := w.fleet.Edge(t.Context(), edge)
		w.must(err)
		want := []wire.Profile{{Name: "scout", Runtime: "events"}, {Name: "writer", Runtime: "events"}}
		if !reflect.DeepEqual(e.Profiles, want) || e.Version != "2" || e.LastSeenAt.IsZero() || e.Refused != "" {
			t.Fatalf("edge %+v", e)
		}
		w.edge(owner.ID, "scout") // another machine with the same profile
		agents, err := w.fleet.VisibleAgents(t.Context(), owner.ID)
		if err != nil || len(agents) != 3 || w.agentOf(owner.ID, "scout") != first {
			t.Fatalf("agents %+v, %v", agents, err)
		}
	})
}

// A hub process that was paused may still hold what an edge said before it went to another one.
func TestWhatWasSaidOnALaneThatIsTakenChangesNothing(t *testing.T) {
	eachTown(t, func(w *town) {
		t := w.t
		edge := w.edge(w.person("ada").ID, "scout")
		hello := wire.Hello{Incarnation: "0123456789abcdef", BootNonce: "0011223344556677"}
		first, _, err := w.runs.OpenLane(t.Context(), edge, hello)
		w.must(err)
		said := func(fence runlog.Fence, profile string) error {
			return w.fleet.Announce(t.Context(), fleet.Announcement{
				Edge: edge, Fence: uint64(fence), Profiles: []wire.Profile{{Name: profile, Runtime: "events"}},
			})
		}
		w.must(said(first.Fence, "writer"))
		second, _, err := w.runs.OpenLane(t.Context(), edge, hello)
		w.must(err)
		w.must(said(second.Fence, "reader"))
		if err := said(first.Fence, "writer"); !errors.Is(err, fleet.ErrFenced) {
			t.Fatalf("the older lane: %v", err)
		}
		if e, err := w.fleet.Edge(t.Context(), edge); err != nil || len(e.Profiles) != 1 || e.Profiles[0].Name != "reader" {
			t.Fatalf("edge %+v, %v", e, err)
		}
	})
}

func TestGrantsAreForUsersThatExistAndMayBeRepeated(t *testing.T) {
	eachTown(t, func(w *town) {
		t := w.t
		owner, bob := w.person("ada"), w.person("bob")
		edge := w.edge(owner.ID, "scout")
		w.wants(fault.NotFound, w.fleet.Grant(t.Context(), edge, id.NewUser()))
		for range 2 {
			w.must(w.fleet.Grant(t.Context(), edge, bob.ID))
		}
		edges, err := w.fleet.EdgesFor(t.Context(), bob.ID)
		if err != nil || len(edges) != 1 || !edges[0].OperatedBy(bob.ID) {
			t.Fatalf("EdgesFor = %+v, %v", edges, err)
		}
		for range 2 {
			w.must(w.fleet.Ungrant(t.Context(), edge, bob.ID))
		}
		if edges, err = w.fleet.EdgesFor(t.Context(), bob.ID); err != nil || len(edges) != 0 {
			t.Fatalf("EdgesFor = %+v, %v", edges, err)
		}
	})
}

// The right to operate is said twice: in SQL, for transactions and lists, and in Go, for decisions. Both must say the same.
func TestTheRightToOperateIsTheSameInSQLAndInGo(t *testing.T) {
	eachTown(t, func(w *town) {
		t := w.t
		ada, bob, carl := w.person("ada"), w.person("bob"), w.person("carl")
		laptop, server, old := w.edge(ada.ID, "scout"), w.edge(ada.ID, "scout", "chat"), w.edge(ada.ID, "scout", "chat")
		pinned := w.joiningAgent(ada.ID)
		pinned.Edge = laptop
		w.must(w.fleet.AddAgent(t.Context(), pinned, w.claim()))
		w.must(w.fleet.Grant(t.Context(), laptop, bob.ID))
		w.must(w.fleet.Grant(t.Context(), server, carl.ID))
		w.must(w.fleet.Grant(t.Context(), old, bob.ID))
		w.must(w.fleet.RevokeEdge(t.Context(), old))
		edges, err := w.fleet.EdgesOf(t.Context(), ada.ID)
		w.must(err)
		agents, err := w.fleet.VisibleAgents(t.Context(), ada.ID)
		w.must(err)
		rights := 0
		for _, user := range []account.User{ada, bob, carl} {
			visible, err := w.fleet.VisibleAgents(t.Context(), user.ID)
			w.must(err)
			for _, a := range agents {
				inGo := a.OperatedBy(user.ID, edges)
				if inSQL := slices.Contains(visible, a); inSQL != inGo {
					t.Errorf("%s on %s (edge %q): SQL says %v, Go says %v", user.Name, a.Name, a.Edge, inSQL, inGo)
				}
				if inGo {
					rights++
				}
			}
		}
		if rights != 3+2+2 { // ada: all; bob: scout and the pinned one; carl: scout and chat
			t.Fatalf("%d rights", rights)
		}
	})
}

func TestAgentsAreVisibleInASharedConversation(t *testing.T) {
	eachTown(t, func(w *town) {
		t := w.t
		ada, bob := w.person("ada"), w.person("bob")
		w.edge(ada.ID, "scout")
		scout := w.agentOf(ada.ID, "scout")
		if agents, err := w.fleet.VisibleAgents(t.Context(), bob.ID); err != nil || len(agents) != 0 {
			t.Fatalf("before %+v, %v", agents, err)
		}
		s := w.group(ada, memberOf(scout), userOf(bob))
		if agents, err := w.fleet.VisibleAgents(t.Context(), bob.ID); err != nil || !slices.Contains(agents, scout) {
			t.Fatalf("inside %+v, %v", agents, err)
		}
		w.leave(s.ID, userOf(bob))
		if agents, err := w.fleet.VisibleAgents(t.Context(), bob.ID); err != nil || len(agents) != 0 {
			t.Fatalf("after %+v, %v", agents, err)
		}
		if agents, err := w.fleet.Agents(t.Context(), []id.Agent{scout.ID, id.NewAgent()}); err != nil || !slices.Equal(agents, []fleet.Agent{scout}) {
			t.Fatalf("Agents = %+v, %v", agents, err)
		}
	})
}
