package faults

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
)

// The figures of promise P17.
const (
	revocations    = 200
	closedHere     = 2 * time.Second // on the hub that was told
	closedOnOthers = 5 * time.Second
	atATime        = 10
)

// P17. Devices are removed, or log out, at one hub. Their sockets close there and on the other hub, also while NATS or Redis is gone.
func TestARevokedDeviceIsCutOffOnEveryHub(t *testing.T) {
	t.Parallel()
	effort := effortOf(t)
	s := newSeveral(t)
	s.MoveOwner(s.HubURL())
	all := max(revocations, effort.Of(revocations))
	bystanders := []*revoked{s.connect(s.HubURL()), s.connect(s.second.URL)}
	var here, there []time.Duration
	revoke := func(n int) {
		for range n / atATime {
			h, o := s.revokeSome(atATime)
			here, there = append(here, h...), append(there, o...)
		}
	}
	revoke(all - 2*atATime)
	s.redis.Kill()
	revoke(atATime)
	s.redis.Launch()
	s.untilRedisIs(up)
	s.stopBus()
	revoke(atATime)
	slices.Sort(here)
	slices.Sort(there)
	figure(t, "P17", "%d logins ended; sockets closed within %s on the hub where that was, within %s on the other; %d of them without Redis, %d without NATS",
		len(here)+len(there), show(here[len(here)-1]), show(there[len(there)-1]), atATime, atATime)
	if slowest := here[len(here)-1]; slowest > closedHere {
		t.Errorf("a socket was closed after %s where its login was ended", slowest)
	}
	if slowest := there[len(there)-1]; slowest > closedOnOthers {
		t.Errorf("a socket was closed after %s on the other hub", slowest)
	}
	s.redis.Kill()
	deaf := s.connect(s.second.URL)
	s.revoke(deaf)
	select {
	case <-deaf.closed:
		t.Error("positive control: without NATS and without Redis the other hub knew at once that a login had ended")
	case <-time.After(closedOnOthers):
	}
	_, err := client.Decode[client.DeviceList](deaf.API().ListDevices(t.Context()))
	if !errors.Is(err, client.ErrLoggedOut) && client.CodeOf(err) != client.ProblemCodeUnauthenticated {
		t.Errorf("without NATS and without Redis a request of an ended login was answered with %v", err)
	}
	for _, b := range bystanders {
		select {
		case <-b.closed:
			t.Error("the socket of a device was closed whose login stands")
		default:
		}
	}
	s.startBus() // for those that clean up
}

// revoked is a device with a socket.
type revoked struct {
	*rig.Device
	closed chan struct{} // closed with the socket
	at     time.Time     // when that was; read it after closed
}

// connect brings a device that is connected to a hub.
func (s *several) connect(hub string) *revoked {
	s.t.Helper()
	d := &revoked{Device: s.Device("to be revoked", hub), closed: make(chan struct{})}
	ctx, cancel := context.WithCancel(context.Background())
	up := make(chan struct{})
	var reading sync.WaitGroup
	reading.Go(func() { d.read(ctx, up) })
	s.t.Cleanup(func() { cancel(); reading.Wait() })
	select {
	case <-up:
	case <-time.After(rig.Patience):
		s.t.Fatal("a device could not connect")
	}
	return d
}

// read follows the socket until it is closed for the first time.
func (d *revoked) read(ctx context.Context, up chan struct{}) {
	defer close(d.closed)
	for e, err := range d.Stream(ctx, &nowhere{}) {
		if err != nil || e.Link == client.LinkDown {
			d.at = time.Now()
			return
		}
		if e.Link == client.LinkUp {
			close(up)
		}
	}
}

// nowhere is the position of a client that keeps none.
type nowhere struct{}

func (*nowhere) LoadCursor() (string, error) { return "", nil }
func (*nowhere) SaveCursor(string) error     { return nil }

// revoke ends a login, at the first hub.
func (s *several) revoke(d *revoked) {
	s.t.Helper()
	answer, err := s.Owner().API().RevokeDevice(s.t.Context(), d.ID)
	if err != nil {
		s.t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusNoContent {
		s.t.Fatalf("revoke: %s", answer.Status)
	}
}

// untilClosed waits for the end of a socket and returns how long that took.
func (s *several) untilClosed(d *revoked) time.Duration {
	s.t.Helper()
	begin := time.Now()
	select {
	case <-d.closed:
	case <-time.After(rig.Patience):
		s.t.Fatal("the socket of a login that has ended stays open")
	}
	return d.at.Sub(begin)
}

// revokeSome ends n logins at the first hub, every second of them of a device that is at the second, and returns how long their sockets stayed.
func (s *several) revokeSome(n int) (here, there []time.Duration) {
	s.t.Helper()
	hubs := s.hubURLs()
	var devices []*revoked
	for i := range n {
		devices = append(devices, s.connect(hubs[i%len(hubs)]))
	}
	for i, d := range devices {
		begin := time.Now()
		s.revoke(d)
		s.untilClosed(d)
		if took := d.at.Sub(begin); i%len(hubs) == 0 {
			here = append(here, took)
		} else {
			there = append(there, took)
		}
	}
	return here, there
}
