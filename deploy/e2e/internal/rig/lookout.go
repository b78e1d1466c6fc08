package rig

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/client"
)

// listed is the key of a frame that lists all friends who are there.
const listed = "auth.ok online"

// Lookout is a device that notes which friends are there. Safe for concurrent use.
type Lookout struct {
	device *Device
	stop   func()

	mu      sync.Mutex
	changed chan struct{}
	links   int
	lists   int        // times that all friends who are there were listed
	told    []string   // facts about friends, by key
	history [][]string // who was online, each time that changed
	kicked  bool
}

// LookOut connects the device. What it shows goes by the state of a client.Feed.
func (d *Device) LookOut() *Lookout {
	l := &Lookout{device: d, changed: make(chan struct{})}
	feed := d.Feed(&d.at, client.FeedOptions{Begin: client.BeginLive})
	ctx, cancel := context.WithCancel(context.Background())
	var following sync.WaitGroup
	following.Go(func() { l.follow(ctx, feed) })
	l.stop = sync.OnceFunc(func() { cancel(); following.Wait() })
	d.rig.T.Cleanup(l.Close)
	return l
}

// Close cuts the device off.
func (l *Lookout) Close() { l.stop() }

func (l *Lookout) follow(ctx context.Context, feed *client.Feed) {
	for u, err := range feed.Follow(ctx) {
		switch {
		case err == nil:
			l.note(u, feed.State().Online())
		case errors.Is(err, client.ErrKicked) || errors.Is(err, client.ErrLoggedOut):
			l.end()
		case ctx.Err() == nil:
			l.device.rig.T.Errorf("device %s: feed ended: %v", l.device.Name, err)
		}
	}
}

func (l *Lookout) note(u client.Update, online []string) {
	l.change(func() {
		if u.Link == client.LinkUp {
			l.links++
		}
		if u.New && strings.HasPrefix(string(u.Frame.Type), "device.") {
			l.told = append(l.told, client.Key(*u.Frame))
		}
		if u.Frame != nil && client.Key(*u.Frame) == listed {
			l.lists++
		}
		if n := len(l.history); n == 0 || !slices.Equal(l.history[n-1], online) {
			l.history = append(l.history, online)
		}
	})
}

func (l *Lookout) end() { l.change(func() { l.kicked = true }) }

func (l *Lookout) change(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f()
	close(l.changed)
	l.changed = make(chan struct{})
}

// until waits for something; ok is called with the lock held.
func (l *Lookout) until(what string, ok func() bool) {
	l.device.rig.T.Helper()
	limit := time.After(Patience)
	for {
		l.mu.Lock()
		done, changed, told := ok(), l.changed, slices.Clone(l.told)
		l.mu.Unlock()
		if done {
			return
		}
		select {
		case <-changed:
		case <-limit:
			l.device.rig.T.Fatalf("device %s: waited in vain for %s; told %q", l.device.Name, what, told)
		}
	}
}

// UntilConnected waits for the n-th connection.
func (l *Lookout) UntilConnected(n int) {
	l.device.rig.T.Helper()
	l.until("a connection", func() bool { return l.links >= n })
}

// UntilListed waits until the device has been told of all friends who are there.
func (l *Lookout) UntilListed() {
	l.device.rig.T.Helper()
	l.until("a list of friends", func() bool { return l.lists > 0 })
}

// UntilKicked waits until the device has been sent away for good.
func (l *Lookout) UntilKicked() {
	l.device.rig.T.Helper()
	l.until("its end", func() bool { return l.kicked })
}

// UntilOnline waits until the device shows a friend as online, or not.
func (l *Lookout) UntilOnline(user string, online bool) {
	l.device.rig.T.Helper()
	what := map[bool]string{true: user + " to be online", false: user + " to be offline"}[online]
	l.until(what, func() bool {
		return len(l.history) > 0 && slices.Contains(l.history[len(l.history)-1], user) == online
	})
}

// Told is how often the device was told something by that key.
func (l *Lookout) Told(key string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, one := range l.told {
		if one == key {
			n++
		}
	}
	return n
}

// Everything is all that the device was told about friends.
func (l *Lookout) Everything() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.told)
}

// Blinked says whether a friend who was online once was shown as offline later.
func (l *Lookout) Blinked(user string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	was := false
	for _, online := range l.history {
		is := slices.Contains(online, user)
		if was && !is {
			return true
		}
		was = is
	}
	return false
}
