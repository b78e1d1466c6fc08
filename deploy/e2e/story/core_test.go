package story

import (
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/hub"
)

func TestNothingIsLostWhenTheBusIsReplacedByAnEmptyOne(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	core := rig.StartCore(t, rig.CoreConfig(t, dir), nil)
	s := sceneOf(t, rig.New(t, rig.Options{Dir: dir, Addr: core.Addr}), "--events", "500", "--rate", "150", "--tools")
	run := s.begin()
	for _, events := range []int{60, 160, 260} {
		s.seenA.UntilEvents(run, events)
		if err := core.RestartBus(); err != nil {
			t.Fatal(err)
		}
	}
	s.complete(run)
}

// twoHubs brings a scene whose edge is at one hub and whose device a is at another; they share a store and a bus, as two processes would.
func twoHubs(t *testing.T, agentArgs ...string) (*scene, *server.Server) {
	t.Helper()
	dir, bus := t.TempDir(), startNATS(t)
	first := rig.CoreConfig(t, dir, "HUB_NATS_URL="+bus.ClientURL())
	store, err := hub.OpenStore(t.Context(), first)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	ofEdges := rig.StartCore(t, first, store)
	ofDevices := rig.StartCore(t, rig.CoreConfig(t, dir, "HUB_NATS_URL="+bus.ClientURL()), store)
	s := &scene{Rig: rig.New(t, rig.Options{Dir: dir, Addr: ofEdges.Addr}), t: t}
	s.truth = s.NewTruth()
	s.edge = s.AddEdge("laptop", map[string]string{
		"worker": s.TestAgent(append(agentArgs, "--truth", s.truth.Path)...), "endless": s.TestAgent("--events", "1000000", "--rate", "50"),
	})
	s.open("http://"+ofDevices.Addr, "http://"+ofEdges.Addr)
	return s, bus
}

// Nothing may depend on an edge and a device being at the same hub process: here even the commands have to find their way.
func TestTwoHubsOverOneStoreAndBusServeOneStory(t *testing.T) {
	t.Parallel()
	s, _ := twoHubs(t, "--events", "400", "--rate", "150", "--tools")
	run := s.a.Run(s.session, order)
	s.complete(run)
	endless := s.a.Run(s.a.Group("other", "endless"), "@endless go")
	s.seenB.UntilEvents(endless, 10)
	s.cancel(endless)
	s.settle(endless, client.RunStateCancelled)
}

func TestHubsGoOnWhenTheBusBetweenThemIsGone(t *testing.T) {
	t.Parallel()
	s, bus := twoHubs(t, "--events", "300", "--rate", "100", "--tools")
	run := s.a.Run(s.session, order)
	s.seenA.UntilEvents(run, 30)
	bus.Shutdown()
	bus.WaitForShutdown()
	s.complete(run)
	next := s.a.Run(s.session, "@worker again")
	s.settle(next, client.RunStateCompleted)
}

// startNATS starts the server that connects hubs, and returns it.
func startNATS(t *testing.T) *server.Server {
	t.Helper()
	return serveNATS(t, &server.Options{})
}

func serveNATS(t *testing.T, options *server.Options) *server.Server {
	t.Helper()
	options.Host, options.Port, options.NoSigs, options.NoLog = "127.0.0.1", server.RANDOM_PORT, true, true
	ns, err := server.NewServer(options)
	if err != nil {
		t.Fatal(err)
	}
	ns.Start()
	t.Cleanup(func() {
		ns.Shutdown()
		ns.WaitForShutdown()
	})
	if !ns.ReadyForConnections(10 * time.Second) {
		t.Fatal("the bus between hubs did not start")
	}
	return ns
}
