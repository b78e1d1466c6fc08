package faults

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/hubtest"
)

// several is the scaled form: two hub processes over one PostgreSQL, one NATS and one Redis, behind a load balancer that knows no sessions. The
// edge and everybody who is not sent elsewhere come through that.
type several struct {
	*siege
	redis  *hubtest.RedisServer
	second *rig.Peer
}

// newSeveral starts everything. env is added to the environment of both hubs.
func newSeveral(t *testing.T, env ...string) *several {
	t.Helper()
	return newSeveralWith(t, "", env...)
}

// newSeveralWith is newSeveral with another program as the second hub; "": the same.
func newSeveralWith(t *testing.T, program string, env ...string) *several {
	t.Helper()
	s := &several{siege: &siege{t: t, addr: rig.FreeAddr(t)}, redis: hubtest.StartRedis(t)}
	s.startBus()
	t.Cleanup(s.stopBus) // after the hubs have ended
	s.Rig = rig.New(t, rig.Options{Mixed: program != "", Env: append([]string{
		"HUB_DATABASE_URL=" + hubtest.Postgres(t), "HUB_NATS_URL=nats://" + s.addr, "HUB_REDIS_URL=" + s.redis.URL(),
		"HUB_SOCKETS_PER_USER=1000", "HUB_SOCKETS_PER_MINUTE=100000", "HUB_REQUESTS_PER_MINUTE=100000",
	}, env...)})
	if program == "" {
		program = s.Program("hub-server")
	}
	s.second = s.AddPeerOf(program, "second")
	s.Proxy.Retarget(s.hubAddrs()...)
	s.MoveOwner(s.Proxy.URL())
	s.truth = s.NewTruth()
	return s
}

// hubURLs are where each hub is, past the load balancer.
func (s *several) hubURLs() []string { return []string{s.HubURL(), s.second.URL} }

func (s *several) hubAddrs() (addrs []string) {
	const scheme = len("http://")
	for _, url := range s.hubURLs() {
		addrs = append(addrs, url[scheme:])
	}
	return addrs
}

// work brings an edge with the test agent as worker.
func (s *several) work(agentArgs ...string) {
	s.t.Helper()
	s.edge = s.AddEdge(laptop, map[string]string{worker: s.TestAgent(append(agentArgs, "--truth", s.truth.Path)...)})
}

// hubProcess is one of the hubs, as somebody who strikes it sees it.
type hubProcess struct {
	name              string
	stop, kill, start func()
}

func (s *several) hubProcesses() []hubProcess {
	return []hubProcess{
		{"the first hub", func() { s.Hub().Stop() }, s.KillHub, s.StartHub},
		{"the second hub", s.second.Stop, s.second.Kill, s.second.Start},
	}
}

// Whether hubs have Redis.
const (
	up   = 1
	down = 0
)

// untilRedisIs waits until both hubs say so.
func (s *several) untilRedisIs(state int) {
	s.t.Helper()
	for _, hub := range s.hubURLs() {
		s.Eventually(fmt.Sprintf("redis is %d for %s", state, hub), func() bool {
			return strings.Contains(s.metrics(hub), fmt.Sprintf("switchyard_hub_redis_up %d\n", state))
		})
	}
}

func (s *several) metrics(hub string) string {
	s.t.Helper()
	reader := http.Client{Timeout: rig.Patience}
	answer, err := reader.Get(hub + "/metrics")
	if err != nil {
		s.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(text)
}

// seesOnline says whether a hub shows the edge as online to a device of it.
func (s *several) seesOnline(d *rig.Device) bool {
	edge, err := client.Decode[client.Edge](d.API().GetEdge(s.t.Context(), s.edge.ID))
	return err == nil && edge.State == client.EdgeStateOnline
}
