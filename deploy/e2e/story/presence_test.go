package story

import (
	"testing"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
)

// person is somebody with a first device.
type person struct {
	*rig.Device
	id string
}

// company is a hub at which the first user has two friends, and one who is none. Somebody counts as online for that long after they have left.
type company struct {
	*rig.Rig
	t               *testing.T
	bob, carol, eve person
	desk, phone     *rig.Lookout // of the first user
}

// came and went are what friends are told of somebody.
func (p person) came() string { return "device.online " + p.id }
func (p person) went() string { return "device.offline " + p.id }

func newCompany(t *testing.T, grace string) *company {
	t.Helper()
	c := &company{Rig: rig.New(t, rig.Options{Env: []string{"HUB_PRESENCE_GRACE=" + grace}}), t: t}
	c.bob, c.carol, c.eve = c.person("bob"), c.person("carol"), c.person("eve")
	rig.Befriend(c.Owner(), rig.Username, c.bob.Device, "bob")
	rig.Befriend(c.Owner(), rig.Username, c.carol.Device, "carol")
	c.desk, c.phone = c.Device("desk", c.HubURL()).LookOut(), c.Device("phone", c.HubURL()).LookOut()
	c.desk.UntilListed()
	c.phone.UntilListed()
	return c
}

func (c *company) person(name string) person {
	c.t.Helper()
	d, user := c.Invite(name)
	return person{d, user}
}

// sees waits until both devices of the first user show a friend as online, or not.
func (c *company) sees(p person, online bool) {
	c.t.Helper()
	c.desk.UntilOnline(p.id, online)
	c.phone.UntilOnline(p.id, online)
}

// comeAndGo lets somebody connect and leave. Whoever has left before is told of by then.
func (c *company) comeAndGo(p person) {
	c.t.Helper()
	visit := p.LookOut()
	c.sees(p, true)
	visit.Close()
	c.sees(p, false)
}

// S3, device.online and device.offline: to friends alone, on all their devices, when the first connection comes and when the last one has gone.
func TestFriendsSeeOneAnotherComeAndGoAndNobodyElseDoes(t *testing.T) {
	t.Parallel()
	c := newCompany(t, "1s")
	eves := c.eve.LookOut()
	eves.UntilConnected(1)
	first := c.bob.LookOut()
	c.sees(c.bob, true)
	second := c.bob.Another("second", c.HubURL()).LookOut()
	second.UntilConnected(1)
	first.Close()
	c.comeAndGo(c.carol)
	if n := c.desk.Told(c.bob.came()) + c.desk.Told(c.bob.went()); n != 1 {
		t.Errorf("told %d things about bob, who has been there all the while: %q", n, c.desk.Everything())
	}
	if got := c.Owner().Contact(c.bob.id); !got.Online || !got.LastSeenAt.IsZero() {
		t.Errorf("bob, who is there, is listed as %+v", got)
	}
	second.Close()
	c.sees(c.bob, false)
	if got := c.Owner().Contact(c.bob.id); got.Online || got.LastSeenAt.IsZero() {
		t.Errorf("bob, who is not there, is listed as %+v", got)
	}
	if n := second.Told(c.bob.came()) + first.Told(c.bob.came()); n != 0 {
		t.Errorf("bob's own devices were told %d times of bob", n)
	}
	if told := eves.Everything(); len(told) != 0 {
		t.Errorf("a stranger was told %q", told)
	}
	rig.Befriend(c.eve.Device, "eve", c.carol.Device, "carol")
	carols := c.carol.LookOut()
	eves.UntilOnline(c.carol.id, true) // her device can hear
	carols.UntilOnline(c.eve.id, true)
}

func TestTheEndOfAFriendshipEndsWhatTheySee(t *testing.T) {
	t.Parallel()
	c := newCompany(t, "1s")
	me, err := client.Decode[client.Me](c.Owner().API().GetMe(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	bobs, carols := c.bob.LookOut(), c.carol.LookOut()
	for _, their := range []*rig.Lookout{bobs, carols} {
		their.UntilOnline(me.User.ID, true)
	}
	c.sees(c.bob, true)
	c.sees(c.carol, true)
	if _, err := client.Decode[client.Nothing](c.Owner().API().BlockContact(t.Context(), c.bob.id)); err != nil {
		t.Fatal(err)
	}
	c.sees(c.bob, false)
	bobs.UntilOnline(me.User.ID, false)
	if _, err := client.Decode[client.Nothing](c.carol.API().RemoveContact(t.Context(), me.User.ID)); err != nil {
		t.Fatal(err)
	}
	c.sees(c.carol, false)
	carols.UntilOnline(me.User.ID, false)
	told := c.desk.Told(c.bob.came())
	bobs.Close()
	again := c.bob.LookOut()
	again.UntilConnected(1)
	dave := c.person("dave")
	rig.Befriend(c.Owner(), rig.Username, dave.Device, "dave")
	c.comeAndGo(dave)
	if n := c.desk.Told(c.bob.came()) - told; n != 0 || again.Told("device.online "+me.User.ID) != 0 {
		t.Errorf("after a block, one was told %d times of the other: %q, %q", n, c.desk.Everything(), again.Everything())
	}
}

func TestTheEndOfALoginEndsPresence(t *testing.T) {
	t.Parallel()
	c := newCompany(t, "1s")
	bobs := c.bob.LookOut()
	device := c.carol.Another("phone", c.HubURL())
	carols := device.LookOut()
	c.sees(c.bob, true)
	c.sees(c.carol, true)
	if _, err := client.Decode[client.Nothing](c.bob.API().LogoutEverywhere(t.Context())); err != nil {
		t.Fatal(err)
	}
	bobs.UntilKicked()
	c.sees(c.bob, false)
	if _, err := client.Decode[client.Nothing](c.carol.API().RevokeDevice(t.Context(), device.ID)); err != nil {
		t.Fatal(err)
	}
	carols.UntilKicked()
	c.sees(c.carol, false)
}

// While a hub restarts, everybody loses the connection. Whoever comes back has not been away for anybody; whoever does not is offline in the end.
func TestAHubThatRestartsMakesNobodyBlink(t *testing.T) {
	t.Parallel()
	c := newCompany(t, "10s")
	bobs, carols := c.bob.LookOut(), c.carol.LookOut()
	c.sees(c.bob, true)
	c.sees(c.carol, true)
	c.KillHub()
	carols.Close()
	c.StartHub()
	bobs.UntilConnected(2)
	c.sees(c.carol, false)
	for name, mine := range map[string]*rig.Lookout{"desk": c.desk, "phone": c.phone} {
		if mine.Blinked(c.bob.id) {
			t.Errorf("at the %s bob has blinked: %q", name, mine.Everything())
		}
	}
	bobs.Close()
	c.sees(c.bob, false)
}
