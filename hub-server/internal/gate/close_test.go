package gate

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/subject"
)

func TestANewerConnectionOfADeviceSendsTheOlderOneAway(t *testing.T) {
	w := newWorld(t)
	hubs := []*hub{w.hub(nil), w.hub(nil)}
	for _, second := range hubs {
		token, _ := w.login(id.NewUser())
		old := hubs[0].dial(token, "")
		first := old.greeted()
		newer := second.dial(token, "")
		newer.greeted()
		f := old.next()
		if want := `{"reason":"logged_in_elsewhere","connection_id":"` + string(first.Connection) + `"}`; f.Type != DeviceKicked || string(f.Payload) != want {
			t.Errorf("the older one got %s %s, want device.kicked %s", f.Type, f.Payload, want)
		}
		if got := old.closed(); got.Code != closeReplaced {
			t.Errorf("closed with %d %s, want %d", got.Code, got.Reason, closeReplaced)
		}
		w.commit(note(delivery.ToUser(w.devices.known[token].User), 1))
		if n := newer.note(); n != 1 {
			t.Errorf("the newer one got note %d", n)
		}
		newer.cut()
	}
}

// A device whose network fails goes from hub to hub faster than the hubs hear of each other: what they hear late must not end its newest
// connection. Much later, whatever another hub tells of is newer, even if its clock is far behind.
func TestWordThatComesLateDoesNotSendTheNewestConnectionAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		h := w.hub(newPipeListener())
		token, who := w.login(id.NewUser())
		told := func(newer id.Connection) { w.tellOf(who, newer) }
		before := id.NewConnection()
		time.Sleep(time.Millisecond)
		c := h.dial(token, "")
		c.greeted()
		told(before)
		w.commit(note(delivery.ToUser(who.User), 1))
		if n := c.note(); n != 1 {
			t.Fatalf("note %d", n)
		}
		time.Sleep(settled)
		told(before)
		if got := c.closed(); got.Code != closeReplaced {
			t.Errorf("closed with %d %s, want %d", got.Code, got.Reason, closeReplaced)
		}
	})
}

// tellOf has some other hub tell of a new connection of a device.
func (w *world) tellOf(who account.Principal, newer id.Connection) {
	w.t.Helper()
	word, err := json.Marshal(kick{From: "conn_another_hub", User: who.User, Device: who.Device, Except: newer})
	if err == nil {
		err = w.bus.Publish(subject.Kick, word)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// The clock of the hub to which a device went is behind, so that its new connection seems to be the older one: the hub where it was before spares
// what it has, and soon asks how old the other one is.
func TestOfTwoConnectionsOnHubsWhoseClocksDifferTheOlderOneGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		here, there := w.hub(newPipeListener()), w.hub(newPipeListener())
		token, who := w.login(id.NewUser())
		past := id.NewConnection()
		time.Sleep(time.Millisecond)
		old := here.dial(token, "")
		old.greeted()
		time.Sleep(time.Second)
		w.bus.lose(true)
		newest := there.dial(token, "")
		newest.greeted()
		w.bus.lose(false)
		w.tellOf(who, past) // what the other hub said, by its clock
		w.commit(note(delivery.ToUser(who.User), 1))
		if a, b := old.note(), newest.note(); a != 1 || b != 1 {
			t.Fatalf("notes %d and %d", a, b)
		}
		start := time.Now()
		if got := old.closed(); got.Code != closeReplaced || time.Since(start) > settled {
			t.Errorf("the older one is closed with %d %s after %v, want %d", got.Code, got.Reason, time.Since(start), closeReplaced)
		}
		w.commit(note(delivery.ToUser(who.User), 2))
		if n := newest.note(); n != 2 {
			t.Errorf("the newer one got note %d", n)
		}
	})
}

// However many connections of a device come at once, one of them stays.
func TestConnectionsOfADeviceThatComeTogetherDoNotEndEachOther(t *testing.T) {
	w := newWorld(t)
	h := w.hub(nil)
	for range 10 {
		token, who := w.login(id.NewUser())
		ends := make(chan error)
		const together = 4
		for range together {
			go func() {
				c, _, err := h.tryDial(token, "")
				for err == nil {
					_, err = c.tryNext(30 * time.Second)
				}
				ends <- err
			}()
		}
		for range together - 1 {
			if got := closeError(<-ends); got.Code != closeReplaced {
				t.Fatalf("closed with %d %s, want %d", got.Code, got.Reason, closeReplaced)
			}
		}
		h.CloseFamily(who.Family)
		if got := closeError(<-ends); got.Code != closeEnded {
			t.Fatalf("the last one was closed with %d %s: nobody was left", got.Code, got.Reason)
		}
	}
}

// Whichever of two is ready first, the one that came last stays.
func TestTheNewestConnectionOfADeviceStaysWhicheverIsReadyFirst(t *testing.T) {
	now := time.Now()
	who := account.Principal{User: id.NewUser(), Device: id.NewDevice(), Family: "fam"}
	for _, oldFirst := range []bool{true, false} {
		r := newRegistry(10)
		old, newest := &conn{who: who, came: now}, &conn{who: who, came: now.Add(time.Millisecond)}
		for _, c := range []*conn{old, newest} {
			if err := r.reserve(c); err != nil {
				t.Fatal(err)
			}
		}
		first, second := old, newest
		if !oldFirst {
			first, second = newest, old
		}
		if others, err := r.add(first); len(others) != 0 || err != nil {
			t.Errorf("the first one sends %d away and is told %v", len(others), err)
		}
		others, err := r.add(second)
		if sent := len(others) == 1 && others[0] == old; sent != oldFirst || (err != nil) == oldFirst {
			t.Errorf("old one first: %v: the second one sends %d away and is told %v", oldFirst, len(others), err)
		}
	}
}

// endingDevices ends each login right after it has let it in.
type endingDevices struct {
	*fakeDevices
	end func(account.Family)
}

func (d endingDevices) Authenticate(ctx context.Context, token account.AccessToken) (account.Principal, error) {
	p, err := d.fakeDevices.Authenticate(ctx, token)
	d.end(p.Family)
	return p, err
}

// The word of its end comes while nobody has the connection yet.
func TestALoginThatEndsOnTheWayInIsClosedAtOnce(t *testing.T) {
	w := newWorld(t)
	devices := &endingDevices{fakeDevices: w.devices}
	h := w.hub(nil, func(d *Deps) { d.Devices = devices })
	devices.end = h.CloseFamily
	token, _ := w.login(id.NewUser())
	start := time.Now()
	if got := h.dial(token, "").closed(); got.Code != closeEnded || time.Since(start) > 2*time.Second {
		t.Errorf("closed with %d %s after %v, want %d", got.Code, got.Reason, time.Since(start), closeEnded)
	}
}

func TestEndedLoginsAreRememberedForAWhileAndNotWithoutBound(t *testing.T) {
	e, now := NewEnded(), time.Now()
	name := func(n int) account.Family { return account.Family(fmt.Sprint(n)) }
	for n := range endedMost + 1 {
		e.Add(name(n), now)
		e.Add(name(n), now.Add(time.Second))
	}
	if len(e.at) != endedMost || len(e.order) != endedMost || e.Has(name(0), now) || !e.Has(name(endedMost), now) {
		t.Errorf("%d are remembered, in %d places", len(e.at), len(e.order))
	}
	later := now.Add(endedKept)
	if e.Has(name(endedMost), later) {
		t.Error("one is remembered after its time")
	}
	if e.Add("last", later); len(e.at) != 1 {
		t.Errorf("%d are kept after their time", len(e.at)-1)
	}
}

// What else lives as long as a login, such as a stream of events, hears of its end wherever it is.
func TestALoginThatEndedIsSaidOnEveryHub(t *testing.T) {
	w := newWorld(t)
	said := map[string]chan account.Family{"here": make(chan account.Family, 64), "there": make(chan account.Family, 64)}
	tell := func(place string) func(*Deps) {
		return func(d *Deps) { d.Kicked = func(f account.Family) { said[place] <- f } }
	}
	here, _ := w.hub(nil, tell("here")), w.hub(nil, tell("there"))
	_, who := w.login(id.NewUser())
	for range 60 { // the other hub may not listen yet
		here.endLogin(who.Family)
		if got := <-said["here"]; got != who.Family {
			t.Fatalf("said %q here, want %q", got, who.Family)
		}
		select {
		case got := <-said["there"]:
			if got != who.Family {
				t.Errorf("said %q on the other hub, want %q", got, who.Family)
			}
			return
		case <-time.After(100 * time.Millisecond):
		}
	}
	t.Error("the other hub never heard of it")
}

// Logout, revocation and the end of a family close live sockets within 2 s, on every hub, even of a client that does not read (P17).
func TestAnEndedLoginClosesItsSocketsEverywhere(t *testing.T) {
	w := newWorld(t)
	here, there := w.hub(nil), w.hub(nil)
	user := id.NewUser()
	for place, h := range map[string]*hub{"here": here, "on another hub": there} {
		token, who := w.login(user)
		c := h.dial(token, "")
		c.greeted()
		bystander, _ := w.login(id.NewUser())
		other := h.dial(bystander, "")
		other.greeted()
		start := time.Now()
		here.endLogin(who.Family)
		if got := c.closed(); got.Code != closeEnded || time.Since(start) > 2*time.Second {
			t.Errorf("%s: closed with %d %s after %v", place, got.Code, got.Reason, time.Since(start))
		}
		w.commit(note(delivery.ToUser(w.devices.known[bystander].User), 7))
		if n := other.note(); n != 7 {
			t.Errorf("%s: somebody else's connection was hurt", place)
		}
		other.cut()
	}
}

func TestAStoppingHubAsksItsClientsToComeBack(t *testing.T) {
	h := newWorld(t).hub(nil)
	var clients []*client
	for range 5 {
		token, _ := h.world.login(id.NewUser())
		c := h.dial(token, "")
		c.greeted()
		clients = append(clients, c)
	}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		h.stop()
	}()
	for _, c := range clients {
		if got := c.closed(); got.Code != websocket.StatusServiceRestart || !strings.HasPrefix(got.Reason, "restart, retry_ms=") {
			t.Errorf("closed with %d %s", got.Code, got.Reason)
		}
	}
	<-stopped
	token, _ := h.world.login(id.NewUser())
	if _, resp, err := h.tryDial(token, ""); err == nil || resp == nil || resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("a stopped hub let somebody in: %v", err)
	}
}

func TestAUserHasALimitedNumberOfConnections(t *testing.T) {
	h := newWorld(t).hub(nil, func(d *Deps) { d.PerUser = 3 })
	user := id.NewUser()
	var open []*client
	for range 3 {
		token, _ := h.world.login(user)
		c := h.dial(token, "")
		c.greeted()
		open = append(open, c)
	}
	token, _ := h.world.login(user)
	if _, resp, err := h.tryDial(token, ""); err == nil || resp.StatusCode != http.StatusTooManyRequests {
		t.Errorf("the fourth connection: %v", err)
	}
	other, _ := h.world.login(id.NewUser())
	h.dial(other, "").greeted()
	open[0].socket.Close(websocket.StatusNormalClosure, "")
	for again := time.Tick(5 * time.Millisecond); ; <-again {
		c, _, err := h.tryDial(token, "")
		if err == nil {
			c.greeted()
			return
		}
	}
}

func TestAClosingClientIsAnsweredAndForgotten(t *testing.T) {
	h := newWorld(t).hub(nil)
	token, _ := h.world.login(id.NewUser())
	c := h.dial(token, "")
	c.greeted()
	if err := c.socket.Close(websocket.StatusNormalClosure, "bye"); err != nil {
		t.Errorf("the close was not answered: %v", err)
	}
	h.stop() // waits for the connection's goroutines
	if left := h.conns.shut(); len(left) != 0 {
		t.Errorf("%d connections left", len(left))
	}
}
