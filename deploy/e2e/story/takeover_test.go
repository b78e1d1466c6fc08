package story

import (
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/hubtest"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// pair is a scene with two hub processes over one PostgreSQL, one bus and one Redis. The edge and device a come to the first through a load balancer,
// device b and the owner are at the second.
type pair struct {
	*scene
	second string // its URL
}

func newPair(t *testing.T, agentArgs ...string) *pair {
	t.Helper()
	p := bothHubs(t)
	p.edge = p.AddEdge("laptop", map[string]string{"worker": p.TestAgent(append(agentArgs, "--truth", p.truth.Path)...)})
	p.open(p.Proxy.URL(), p.second)
	p.MoveOwner(p.second)
	return p
}

// bothHubs is a pair without an edge and devices yet.
func bothHubs(t *testing.T) *pair {
	t.Helper()
	return bothHubsOn(t, "HUB_NATS_URL="+startNATS(t).ClientURL())
}

// bothHubsOn is bothHubs with a bus of the caller's.
func bothHubsOn(t *testing.T, bus ...string) *pair {
	t.Helper()
	r := rig.New(t, rig.Options{Env: append(bus, "HUB_DATABASE_URL="+hubtest.Postgres(t), "HUB_REDIS_URL="+hubtest.StartRedis(t).URL())})
	return &pair{scene: &scene{Rig: r, t: t, truth: r.NewTruth()}, second: r.AddHub("second")}
}

// takeOver lets the load balancer send everybody to the second hub.
func (p *pair) takeOver() {
	p.Proxy.Retarget(strings.TrimPrefix(p.second, "http://"))
	p.Proxy.Cut()
}

func (p *pair) beginAtSecond() id.Run {
	p.t.Helper()
	run := p.b.Run(p.session, order)
	p.seenA.UntilEvents(run, 60)
	return run
}

func TestAnotherHubTakesOverWhenOneIsKilled(t *testing.T) {
	t.Parallel()
	p := newPair(t, "--events", "500", "--rate", "150", "--tools", "--artifact", "report.md")
	run := p.beginAtSecond()
	p.KillHub()
	p.takeOver()
	p.complete(run)
}

// The first hub is not dead, only stopped for a while: when it goes on, it still believes that it holds the edge's lane. The fence in the
// store keeps what it then commits out of the log.
func TestAHubThatWakesUpAfterATakeoverHarmsNothing(t *testing.T) {
	t.Parallel()
	p := newPair(t, "--events", "900", "--rate", "150", "--tools", "--artifact", "report.md")
	run := p.beginAtSecond()
	p.Hub().Pause()
	p.takeOver()
	p.seenB.UntilEvents(run, 250)
	p.Hub().Resume()
	p.complete(run)
}
