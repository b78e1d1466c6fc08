package devices

import (
	"context"
	"errors"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
)

// farewell is the last message of a day: who has seen it has seen everything.
const farewell = "that was the day"

// follower is a device of the Go SDK behind a proxy of its own.
type follower struct {
	*rig.Device
	proxy *rig.Proxy
	feed  *client.Feed
	leave context.CancelFunc
	done  chan error // why it follows no more; nil if it has seen the farewell
}

// newFollower is another device of p, which follows from where the day begins.
func (w *town) newFollower(p *person, name string) *follower {
	w.t.Helper()
	f := &follower{proxy: w.NewProxy()}
	f.Device = p.hand.Another(name, f.proxy.URL())
	f.feed = f.Feed(client.KeptByCaller(p.begin.cursor), client.FeedOptions{Begin: client.BeginMissed, Since: p.begin.at})
	f.follow()
	w.t.Cleanup(func() { f.leave(); <-f.done })
	return f
}

func (f *follower) follow() {
	ctx, leave := context.WithCancel(context.Background())
	done := make(chan error, 2) // nobody need wait for the end of it
	f.leave, f.done = leave, done
	go func() {
		defer close(done)
		for u, err := range f.feed.Follow(ctx) {
			if err != nil {
				done <- err
				return
			}
			if isFarewell(u) {
				return
			}
		}
	}()
}

func isFarewell(u client.Update) bool {
	if u.Frame == nil || u.Frame.Type != client.HubWebSocketFrameTypeMessageNew {
		return false
	}
	m, err := client.PayloadOf[client.Message](*u.Frame)
	return err == nil && client.BubbleOf(m).Text == farewell
}

// poll closes the connection, asks once without one for what has happened, and follows again.
func (f *follower) poll(ctx context.Context) error {
	f.leave()
	if err := <-f.done; err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	defer f.follow()
	for _, err := range f.feed.Sync(ctx) {
		if err != nil && !errors.Is(err, client.ErrUnreachable) { // the device may be cut off at this moment
			return err
		}
	}
	return nil
}

// state is what the device has when it has seen its farewell.
func (f *follower) state() (state, error) {
	err := <-f.done
	return stateIn(f.feed.State()), err
}
