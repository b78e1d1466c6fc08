package faults

import (
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
)

// Figures of presence with several hubs.
const (
	presenceGrace  = 2 * time.Second
	presenceLease  = 10 * time.Second // for so long a hub is believed that says nothing more
	presenceWithin = 10 * time.Second // on top of both, for a loaded machine
)

// pals are two friends of the first user, who looks out at the first hub; bob is at the second one.
type pals struct {
	*several
	bob, carol     *rig.Device
	bobID, carolID string
	desk, bobs     *rig.Lookout
}

func newPals(t *testing.T) *pals {
	t.Helper()
	p := &pals{several: newSeveral(t, "HUB_PRESENCE_GRACE="+presenceGrace.String())}
	p.bob, p.bobID = p.Invite("bob")
	p.carol, p.carolID = p.Invite("carol")
	rig.Befriend(p.Owner(), rig.Username, p.bob, "bob")
	rig.Befriend(p.Owner(), rig.Username, p.carol, "carol")
	p.desk = p.Device("desk", p.HubURL()).LookOut()
	p.bobs = p.bob.At(p.second.URL).LookOut()
	p.desk.UntilOnline(p.bobID, true)
	p.bobs.UntilConnected(1)
	return p
}

// marked lets carol come and go at the first hub. What was told before is known by then.
func (p *pals) marked() {
	p.t.Helper()
	visit := p.carol.LookOut()
	p.desk.UntilOnline(p.carolID, true)
	visit.Close()
	p.desk.UntilOnline(p.carolID, false)
}

// P15, for presence: losing Redis, or the bus, for longer than everybody is believed makes nobody blink as long as hubs have the other one.
func TestLosingRedisOrTheBusMakesNobodyBlink(t *testing.T) {
	t.Parallel()
	p := newPals(t)
	p.untilRedisIs(up)
	p.redis.Kill()
	p.untilRedisIs(down)
	<-time.After(presenceLease + 2*presenceGrace)
	p.marked()
	p.redis.Launch()
	p.untilRedisIs(up)
	p.redis.Flush()
	p.marked()
	p.stopBus()
	<-time.After(presenceLease + 2*presenceGrace)
	p.marked()
	p.startBus()
	p.marked()
	if p.desk.Blinked(p.bobID) {
		t.Errorf("bob, who was there all the while, has blinked: %q", p.desk.Everything())
	}
	p.bobs.Close()
	p.desk.UntilOnline(p.bobID, false)
}

// The people of a hub that is killed are offline once it is not believed any more, and online when they are back. At the other hub nobody blinks.
func TestThePeopleOfAHubThatIsKilledGoOfflineAfterItsLease(t *testing.T) {
	t.Parallel()
	p := newPals(t)
	carols := p.carol.LookOut()
	p.desk.UntilOnline(p.carolID, true)
	p.second.Kill()
	begin := time.Now()
	p.desk.UntilOnline(p.bobID, false)
	if took := time.Since(begin); took < presenceGrace || took > presenceLease+presenceGrace+presenceWithin {
		t.Errorf("offline after %s, want a lease of %s and a grace of %s", show(took), presenceLease, presenceGrace)
	}
	p.second.Start()
	p.desk.UntilOnline(p.bobID, true)
	p.bobs.UntilConnected(2)
	if p.desk.Blinked(p.carolID) {
		t.Errorf("carol, at the hub that lived, has blinked: %q", p.desk.Everything())
	}
	carols.Close()
	p.desk.UntilOnline(p.carolID, false)
}

// The same device connects at the other hub: the older connection is sent away, and for friends the person was there all the while.
func TestADeviceThatComesTwiceIsThereAllTheWhile(t *testing.T) {
	t.Parallel()
	p := newPals(t)
	moved := p.bob.LookOut()
	moved.UntilConnected(1)
	p.bobs.UntilKicked()
	p.marked()
	if p.desk.Blinked(p.bobID) {
		t.Errorf("bob has blinked: %q", p.desk.Everything())
	}
	moved.Close()
	p.desk.UntilOnline(p.bobID, false)
}
