package fleet

import (
	"context"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestOperatingIsForTheOwnerAndWhomTheyNameOnAnEdgeThatCanRunIt(t *testing.T) {
	ada, bob, carl := id.NewUser(), id.NewUser(), id.NewUser()
	scout := []wire.Profile{{Name: "scout"}}
	laptop := Edge{ID: id.NewEdge(), Owner: ada, Profiles: scout, Operators: []id.User{bob}}
	server := Edge{ID: id.NewEdge(), Owner: ada, Profiles: []wire.Profile{{Name: "chat"}}, Operators: []id.User{carl}}
	gone := Edge{ID: id.NewEdge(), Owner: ada, Profiles: scout, Operators: []id.User{carl}, RevokedAt: time.Now()}
	other := Edge{ID: id.NewEdge(), Owner: carl, Profiles: scout}
	edges := []Edge{laptop, server, gone, other}
	anywhere := Agent{Owner: ada, Profile: "scout"}
	pinned := Agent{Owner: ada, Profile: "scout", Edge: server.ID}
	for _, c := range []struct {
		name  string
		agent Agent
		user  id.User
		may   bool
	}{
		{"owner", anywhere, ada, true}, {"operator of an edge that has the profile", anywhere, bob, true},
		{"operator of edges that cannot run it", anywhere, carl, false}, {"stranger", anywhere, id.NewUser(), false},
		{"owner of a pinned agent", pinned, ada, true}, {"operator of another edge", pinned, bob, false},
		{"operator of the pinned edge without the profile", pinned, carl, false},
	} {
		if got := c.agent.OperatedBy(c.user, edges); got != c.may {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestStateOfAnEdge(t *testing.T) {
	for _, c := range []struct {
		edge   Edge
		online bool
		want   State
	}{
		{Edge{}, true, Online}, {Edge{}, false, Offline}, {Edge{Refused: fault.EdgeRefused}, true, Refused},
		{Edge{Refused: fault.EdgeRefused, RevokedAt: time.Now()}, true, Revoked},
	} {
		if got := StateOf(c.edge, c.online); got != c.want {
			t.Errorf("%+v, online %v: %s", c.edge, c.online, got)
		}
	}
}

// announced is an EdgeStore that only hears announcements.
type announced struct {
	EdgeStore
	edge Edge
	got  Announcement
}

func (a *announced) Edge(context.Context, id.Edge) (Edge, error) { return a.edge, nil }

func (a *announced) Announce(_ context.Context, got Announcement) error {
	a.got = got
	return nil
}

func TestWhatAnEdgeSaysIsCutDownToWhatIsStored(t *testing.T) {
	store := &announced{edge: Edge{ID: id.NewEdge(), Owner: id.NewUser()}}
	edges := &Edges{Store: store, Now: time.Now}
	hello := wire.Hello{Version: strings.Repeat("v", 1000), Hostname: "host\x00\xff", Profiles: []wire.Profile{
		{Name: "scout", Runtime: "events", Description: strings.Repeat("é", 1000)}, {Name: "scout", Runtime: "bridge"},
		{Name: "two words", Runtime: "events"}, {Name: "chat", Runtime: "no such; rm -rf"}, {Name: "", Runtime: "events"},
	}}
	for i := range 1000 {
		hello.Profiles = append(hello.Profiles, wire.Profile{Name: "p" + strings.Repeat("x", i%60), Runtime: "events"})
	}
	if err := edges.Announce(t.Context(), store.edge.ID, hello); err != nil {
		t.Fatal(err)
	}
	got := store.got
	if len(got.Machine.Version) != maxLabel || got.Machine.Hostname != "host" {
		t.Fatalf("machine %+v", got.Machine)
	}
	if got.Profiles[0].Runtime != "events" || len([]rune(got.Profiles[0].Description)) != maxDescription {
		t.Fatalf("first profile %+v", got.Profiles[0])
	}
	if len(got.Profiles) != 1+60 || len(got.Agents) != len(got.Profiles) {
		t.Fatalf("%d profiles, %d agents", len(got.Profiles), len(got.Agents))
	}
	if a := got.Agents[0]; a.Name != "scout" || a.Owner != store.edge.Owner || a.Edge != "" || a.PermissionMode != DefaultMode {
		t.Fatalf("agent %+v", a)
	}
}

func TestNamesThatPeopleChooseAreChecked(t *testing.T) {
	good := NewAgent{Name: "helper", Profile: "scout", Runtime: "events", PermissionMode: "acceptEdits"}
	for name, change := range map[string]func(*NewAgent){
		"":                    func(*NewAgent) {},
		"name with a space":   func(n *NewAgent) { n.Name = "my helper" },
		"name with an at":     func(n *NewAgent) { n.Name = "@helper" },
		"long name":           func(n *NewAgent) { n.Name = strings.Repeat("x", 65) },
		"no profile":          func(n *NewAgent) { n.Profile = "" },
		"runtime in capitals": func(n *NewAgent) { n.Runtime = "Events" },
		"mode with a slash":   func(n *NewAgent) { n.PermissionMode = "a/b" },
		"long description":    func(n *NewAgent) { n.Description = strings.Repeat("x", 501) },
		"NUL":                 func(n *NewAgent) { n.Description = "a\x00b" },
	} {
		n := good
		change(&n)
		if err := n.check(); (err == nil) != (name == "") || (err != nil && fault.CodeOf(err) != fault.InvalidRequest) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
