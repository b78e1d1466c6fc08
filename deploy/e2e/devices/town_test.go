package devices

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
)

// town is where days are lived: one hub, one edge with its agents, one program for the devices of the TypeScript SDK. Each day has people of its own.
type town struct {
	*rig.Rig
	t      *testing.T
	node   *node
	edge   *rig.Edge
	agents []string // ids
}

func newTown(t *testing.T) *town {
	t.Helper()
	busy := []string{"HUB_REQUESTS_PER_MINUTE=10000000", "HUB_SOCKETS_PER_MINUTE=100000", "HUB_INVITES_PER_MINUTE=1000000"}
	w := &town{t: t, node: startNode(t), Rig: rig.New(t, rig.Options{Env: busy})}
	profiles := agents(t, w.Rig)
	delete(profiles, forever) // nobody would stop it
	w.edge = w.AddEdge("laptop", profiles)
	for _, name := range slices.Sorted(maps.Keys(profiles)) {
		w.agents = append(w.agents, w.Owner().AgentID(name))
	}
	return w
}

// person is somebody who lives a day: they act by one device and follow on three, each cut off now and then.
type person struct {
	name    string
	id      string
	hand    *rig.Device
	begin   beginning
	own     string // a conversation of nobody else
	devices []*follower
	remote  string // the device of the TypeScript SDK, by its name there
	cut     *rig.Proxy
}

// settle lets a person join for a day, who may operate the agents of the edge.
func (w *town) settle(name string) *person {
	w.t.Helper()
	first, id := w.Invite(name)
	if _, err := client.Decode[client.Nothing](w.Owner().API().GrantOperator(w.t.Context(), w.edge.ID, id)); err != nil {
		w.t.Fatal(err)
	}
	p := &person{name: name, id: id, hand: first}
	page, err := client.Decode[client.SyncPage](first.API().SyncChanges(w.t.Context(), &client.SyncChangesParams{}))
	if err != nil {
		w.t.Fatal(err)
	}
	p.begin = beginning{page.Cursor, time.Now().Add(-time.Hour)}
	p.own = first.Group(name + "'s own")
	for i := range 2 {
		p.devices = append(p.devices, w.newFollower(p, fmt.Sprintf("%s's %d", name, i)))
	}
	p.cut, p.remote = w.NewProxy(), name+"'s third"
	w.node.follow(p.remote, first.Another(p.remote, p.cut.URL()), p.begin, farewell)
	return p
}

// fresh is what a new device has that begins with a snapshot, without a socket.
func (w *town) fresh(p *person) state {
	w.t.Helper()
	begun := p.hand.Another(p.name+"'s new one", p.hand.Hub())
	feed := begun.Feed(client.KeptByCaller(""), client.FeedOptions{Begin: client.BeginWhole, Since: p.begin.at})
	ctx, cancel := within(w.t)
	defer cancel()
	for _, err := range feed.Sync(ctx) {
		if err != nil {
			w.t.Fatalf("%s: %v", begun.Name, err)
		}
	}
	return stateIn(feed.State())
}

// sessions are the ids of the conversations that a person has.
func (w *town) sessions(p *person) map[string]bool {
	w.t.Helper()
	found := map[string]bool{}
	for params := (client.ListSessionsParams{}); ; {
		page, err := client.Decode[client.SessionList](p.hand.API().ListSessions(w.t.Context(), &params))
		if err != nil {
			w.t.Fatal(err)
		}
		for _, s := range page.Items {
			found[s.ID] = true
		}
		if page.Next == "" {
			return found
		}
		params.After = &page.Next
	}
}
