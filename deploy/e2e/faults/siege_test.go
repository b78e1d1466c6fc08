package faults

import (
	"fmt"
	"net"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/nemesis"
	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// siege is a hub on a bus of its own, an edge behind a relay that repeats its rows, and agents that are kept at work while all of it is struck.
type siege struct {
	*rig.Rig
	t      *testing.T
	addr   string // of the bus
	bus    *server.Server
	relay  *relay
	edge   *rig.Edge
	seen   *rig.Recorder
	asker  *rig.Device
	truth  *rig.Truth
	clocks *clocks
}

// worker is the one agent of a siege, laptop its edge.
const (
	worker = "worker"
	laptop = "laptop"
)

// newSiege starts everything. agentArgs say how the agent behaves.
func newSiege(t *testing.T, c *clocks, agentArgs ...string) *siege {
	t.Helper()
	s := newSiegeWith(t, c.options(), agentArgs...)
	s.clocks = c
	return s
}

// newSiegeWith is newSiege with options of the rig.
func newSiegeWith(t *testing.T, options rig.Options, agentArgs ...string) *siege {
	t.Helper()
	s := &siege{t: t, addr: rig.FreeAddr(t)}
	s.startBus()
	t.Cleanup(s.stopBus)  // after the hub has ended
	s.relay = newRelay(t) // ends after the edge
	options.Env = append(options.Env, "HUB_NATS_URL=nats://"+s.addr)
	s.Rig = rig.New(t, options)
	s.relay.SetHub(s.HubURL())
	s.Proxy.Retarget(s.relay.Addr())
	s.truth = s.NewTruth()
	s.edge = s.AddEdge(laptop, map[string]string{worker: s.TestAgent(append(agentArgs, "--truth", s.truth.Path)...)})
	s.asker = s.Device("asker", s.HubURL())
	s.seen = s.Device("watcher", s.HubURL()).Watch()
	s.seen.UntilConnected(1)
	return s
}

func (s *siege) startBus() {
	s.t.Helper()
	host, port, err := net.SplitHostPort(s.addr)
	if err != nil {
		s.t.Fatal(err)
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		s.t.Fatal(err)
	}
	if s.bus, err = server.NewServer(&server.Options{Host: host, Port: number, NoSigs: true, NoLog: true}); err != nil {
		s.t.Fatal(err)
	}
	s.bus.Start()
	if !s.bus.ReadyForConnections(rig.Patience) {
		s.t.Fatal("the bus between hubs did not start")
	}
}

func (s *siege) stopBus() {
	s.bus.Shutdown()
	s.bus.WaitForShutdown()
}

// play makes the faults of a plan, one after another.
func (s *siege) play(plan []nemesis.Step) {
	s.t.Helper()
	for _, step := range plan {
		<-time.After(step.After)
		s.t.Log(step)
		s.strike(step)
		s.clocks.jump()
	}
}

func (s *siege) strike(step nemesis.Step) {
	s.t.Helper()
	switch step.Fault {
	case nemesis.KillEdge:
		s.edge.Kill()
		<-time.After(step.Lasts)
		s.edge.Start()
	case nemesis.KillHub:
		s.KillHub()
		<-time.After(step.Lasts)
		s.StartHub()
	case nemesis.WipeBus:
		s.stopBus()
		<-time.After(step.Lasts)
		s.startBus()
	case nemesis.Cut:
		s.Proxy.Cut()
	case nemesis.Unplug:
		s.Proxy.Down()
		<-time.After(step.Lasts)
		s.Proxy.Heal()
	case nemesis.HalfOpen:
		s.Proxy.Stall()
		<-time.After(step.Lasts)
		s.Proxy.Heal()
	case nemesis.PauseEdge:
		pause(s.edge.Process(), step.Lasts)
	case nemesis.PauseHub:
		pause(s.Hub(), step.Lasts)
	}
}

func pause(p *rig.Process, lasts time.Duration) {
	p.Pause()
	<-time.After(lasts)
	p.Resume()
}

// turn is one run and what was asked of its agent.
type turn struct {
	run    id.Run
	prompt string
}

// during keeps conversations busy, a run after the other in each, while f works, and returns all runs when the last has ended.
func (s *siege) during(conversations int, f func()) (all []turn) {
	s.t.Helper()
	over := make(chan struct{})
	var busy sync.WaitGroup
	turns := make([][]turn, conversations)
	for i := range conversations {
		session := s.asker.Group(fmt.Sprintf("conversation %d", i), worker)
		busy.Go(func() { turns[i] = s.converse(session, fmt.Sprintf("work for conversation %d", i), over) })
	}
	f()
	close(over)
	busy.Wait()
	for _, some := range turns {
		all = append(all, some...)
	}
	return all
}

// converse asks for a turn after the other until over is closed, and for one more, which nothing strikes.
func (s *siege) converse(session, what string, over <-chan struct{}) (turns []turn) {
	for calm := false; ; {
		prompt := fmt.Sprintf("%s, turn %d", what, len(turns))
		next := turn{s.asker.Run(session, "@"+worker+" "+prompt), prompt}
		s.seen.UntilEnded(next.run)
		if turns = append(turns, next); calm {
			return turns
		}
		select {
		case <-over:
			calm = true
		default:
		}
	}
}
