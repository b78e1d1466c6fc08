package faults

import (
	"fmt"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/hubtest"
)

// crossings is how often everybody is sent to the other hub.
const crossings = 20

// P23. Two hubs over one store are two hours apart, and an edge and a device are sent from one to the other again and again, in the middle of
// runs. What either hub has signed is worth nothing to the other, or has expired: the device stays logged in by renewing it each time.
func TestHubsWhoseClocksAreApartServeOneStory(t *testing.T) {
	t.Parallel()
	effort := effortOf(t)
	c := newClocks(t)
	s := &siege{t: t, addr: rig.FreeAddr(t)}
	s.startBus()
	t.Cleanup(s.stopBus)
	s.Rig = rig.New(t, c.options("HUB_DATABASE_URL="+hubtest.Postgres(t), "HUB_NATS_URL=nats://"+s.addr))
	hubs := []string{s.HubURL(), s.AddHub("second", rig.NewClock(t, -clockError).Setting())}
	s.truth = s.NewTruth()
	// Text is merged while the journal is busy: of text alone there may be fewer than 20 events. With tools there are half as many as things said.
	talk := s.TestAgent("--events", "60", "--rate", "60", "--tools", "--truth", s.truth.Path)
	s.edge = s.AddEdge(laptop, map[string]string{worker: talk})
	traveller, settled := s.Device("traveller", s.Proxy.URL()), s.Device("settled", hubs[1])
	s.asker, s.seen = traveller, traveller.Watch()
	watched := settled.Watch()
	session := traveller.Group("both hubs", worker)
	var turns []turn
	for i := range 1 + effort.Of(crossings) {
		prompt := fmt.Sprintf("turn %d", i)
		next := turn{traveller.Run(session, "@"+worker+" "+prompt), prompt}
		turns = append(turns, next)
		s.seen.UntilEvents(next.run, 20)
		s.Proxy.Retarget(strings.TrimPrefix(hubs[(i+1)%len(hubs)], "http://"))
		s.Proxy.Cut()
		s.seen.UntilSettled(next.run)
		watched.UntilSettled(next.run)
	}
	_, events, _ := s.examine(turns)
	for _, turn := range turns {
		if a, b := s.seen.Digest(turn.run), watched.Digest(turn.run); a != b {
			t.Errorf("run %s is %s to one device and %s to the other", turn.run, a, b)
		}
	}
	s.seen.Check()
	watched.Check()
	figure(t, "P23, with two hubs", "%d crossings, %d events", len(turns), events)
}
