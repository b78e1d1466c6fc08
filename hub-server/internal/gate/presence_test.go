package gate

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/hub-server/internal/presence"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// fakePresence knows the friends of a test.
type fakePresence struct {
	mu     sync.Mutex
	here   map[id.User]int
	online []presence.Standing
	whole  time.Time // from when on the list is whole
	fail   int       // so many questions get no answer
}

func (p *fakePresence) Arrived(u id.User)  { p.count(u, +1) }
func (p *fakePresence) Departed(u id.User) { p.count(u, -1) }

func (p *fakePresence) count(u id.User, by int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.here == nil {
		p.here = map[id.User]int{}
	}
	p.here[u] += by
}

func (p *fakePresence) of(u id.User) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.here[u]
}

func (p *fakePresence) Friends(context.Context, id.User) (presence.Statement, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fail > 0 {
		p.fail--
		return presence.Statement{}, errors.New("no store")
	}
	return presence.Statement{Online: append([]presence.Standing{}, p.online...), WholeIn: max(0, time.Until(p.whole))}, nil
}

func with(p *fakePresence) func(*Deps) { return func(d *Deps) { d.Presence = p } }

// list reads frames until one lists the friends who are there; seen are those of whom it was told before one by one.
func (c *client) list() (online, seen []id.User) {
	c.t.Helper()
	for {
		f, err := c.tryNext(time.Minute)
		if err != nil {
			c.t.Fatal(err)
		}
		switch f.Type {
		case DeviceOnline:
			var s presence.Standing
			c.read(f, &s)
			seen = append(seen, s.User)
		case AuthOK:
			var all struct {
				Online *[]presence.Standing `json:"online"`
			}
			if c.read(f, &all); all.Online == nil {
				continue // a heartbeat
			}
			for _, s := range *all.Online {
				online = append(online, s.User)
			}
			return online, seen
		}
	}
}

func (c *client) read(f received, payload any) {
	c.t.Helper()
	if err := json.Unmarshal(f.Payload, payload); err != nil {
		c.t.Fatal(err)
	}
}

func standing(u id.User, online bool) presence.Standing {
	return presence.Standing{User: u, Online: online, Version: 7}
}

func TestADeviceIsToldWhichFriendsAreThereWhenItHasCaughtUp(t *testing.T) {
	w, bob := newWorld(t), id.NewUser()
	p := &fakePresence{online: []presence.Standing{standing(bob, true)}}
	h := w.hub(nil, with(p))
	token, who := w.login(id.NewUser())
	w.commit(note(delivery.ToUser(who.User), 1))
	c := h.dial(token, "")
	c.greeted()
	if online, _ := c.list(); !slices.Equal(online, []id.User{bob}) {
		t.Errorf("told of %v, want bob", online)
	}
	p.mu.Lock()
	p.online = nil
	p.mu.Unlock()
	again := h.dial(token, c.cursor)
	again.greeted()
	if online, _ := again.list(); len(online) != 0 {
		t.Errorf("told of %v, want of nobody", online)
	}
}

func TestAHubThatHasJustBegunTellsOfFriendsOneByOneUntilItKnowsThemAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, bob, eve := newWorld(t), id.NewUser(), id.NewUser()
		const until = 15 * time.Second
		p := &fakePresence{online: []presence.Standing{standing(bob, true)}, whole: time.Now().Add(until), fail: 1}
		h := w.hub(newPipeListener(), with(p))
		token, _ := w.login(id.NewUser())
		c := h.dial(token, "")
		c.greeted()
		begin := time.Now()
		p.mu.Lock()
		p.online = append(p.online, standing(eve, true))
		p.mu.Unlock()
		online, seen := c.list()
		if took := time.Since(begin); took < until || took > until+until/3+5*time.Second {
			t.Errorf("told of all after %s, want %s or a little more", took, until)
		}
		if !slices.Equal(online, []id.User{bob, eve}) || len(seen) == 0 || seen[0] != bob {
			t.Errorf("told of all %v, of %v one by one", online, seen)
		}
	})
}

func TestAWordAboutAFriendReachesTheDevicesOfThoseItIsFor(t *testing.T) {
	w, bob := newWorld(t), id.NewUser()
	h := w.hub(nil, with(&fakePresence{}))
	token, who := w.login(id.NewUser())
	otherToken, other := w.login(id.NewUser())
	c, stranger := h.dial(token, ""), h.dial(otherToken, "")
	for _, one := range []*client{c, stranger} {
		one.greeted()
		one.list()
	}
	h.Tell([]id.User{who.User}, standing(bob, true))
	h.Tell([]id.User{who.User}, standing(bob, false))
	for _, want := range []FrameType{DeviceOnline, DeviceOffline} {
		f := c.next()
		var s presence.Standing
		if err := json.Unmarshal(f.Payload, &s); err != nil || f.Type != want || s != standing(bob, want == DeviceOnline) || f.Cursor != "" {
			t.Errorf("got %s %s with cursor %q, %v", f.Type, f.Payload, f.Cursor, err)
		}
	}
	w.commit(note(delivery.ToUser(other.User), 1))
	if f := stranger.next(); f.Type != SessionInfoUpdated {
		t.Errorf("a stranger got %s %s", f.Type, f.Payload)
	}
}

func TestPeopleArePresentFromTheFirstConnectionToTheEndOfTheLast(t *testing.T) {
	w := newWorld(t)
	p := &fakePresence{}
	h := w.hub(nil, with(p))
	user := id.NewUser()
	token, who := w.login(user)
	until := func(want int) {
		t.Helper()
		for begin := time.Now(); p.of(user) != want; <-time.After(5 * time.Millisecond) {
			if time.Since(begin) > 10*time.Second {
				t.Fatalf("%d connections, want %d", p.of(user), want)
			}
		}
	}
	first := h.dial(token, "")
	until(1)
	h.dial(token, "").greeted() // in place of the first
	first.closed()
	until(1)
	h.endLogin(who.Family)
	until(0)
	if c, _, err := h.tryDial(token, ""); err == nil {
		c.closed() // its login has ended
	}
	if n := p.of(user); n != 0 {
		t.Errorf("%d connections of a login that has ended", n)
	}
}
