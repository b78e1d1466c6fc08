package client

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestPingsAreAnsweredWhileTheCallerIsBusy(t *testing.T) {
	h := newFakeHub(t)
	c, _ := h.client(time.Hour)
	f := follow(t, c, &place{})
	pinged := make(chan error, 1)
	go func() {
		hub := <-h.sockets
		hub.hello("fresh", "c0")
		hub.message("msg_1", "c1")
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		pinged <- hub.socket.Ping(ctx)
		hub.message("msg_2", "c2")
	}()
	f.up() // and the caller does not come back for more
	if err := <-pinged; err != nil {
		t.Errorf("ping: %v", err)
	}
	f.frame("message.new msg_1")
	f.frame("message.new msg_2")
}

// What is read ahead is bounded, and all of it is told, though the connection has ended meanwhile.
func TestWhatIsReadAheadIsBoundedAndNotLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newPipeHub(t)
		c, _ := h.client(time.Hour)
		at := &place{}
		f := follow(t, c, at)
		const (
			size = 1 << 20
			all  = 3 * maxAhead / size
		)
		var sent atomic.Int64
		asked := make(chan string, 1)
		go func() {
			hub := <-h.sockets
			hub.hello("fresh", "c0")
			for i := range all {
				hub.send(HubWebSocketFrameTypeMessageNew, fmt.Sprintf(`{"id":"msg_%d","content":%q}`, i, strings.Repeat("x", size)), fmt.Sprintf("c%d", i+1))
				sent.Add(1)
			}
			hub.socket.CloseNow()
			hub = <-h.sockets
			asked <- hub.cursor
			hub.hello("replayed", hub.cursor)
		}()
		f.up()
		synctest.Wait()
		if n := sent.Load(); n < maxAhead/size || n > maxAhead/size+2 {
			t.Errorf("%d frames of 1 MiB were read ahead, want %d", n, maxAhead/size)
		}
		for i := range all {
			f.frame(fmt.Sprintf("message.new msg_%d", i))
			synctest.Wait()
		}
		f.down()
		f.up()
		if got, want := <-asked, fmt.Sprintf("c%d", all); got != want {
			t.Errorf("came back with %q, want %q", got, want)
		}
	})
}

// A frame that was read and not handed on has to come again.
func TestWhatWasReadAheadOfACallerWhoLeavesCountsForNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newPipeHub(t)
		c, _ := h.client(time.Hour)
		at := &place{cursor: "c0"}
		feed := c.Feed(at, FeedOptions{Begin: BeginMissed})
		asked := make(chan string, 1)
		go func() {
			hub := <-h.sockets
			hub.hello("replayed", "c0")
			hub.message("msg_1", "c1")
			hub.message("msg_2", "c2")
			hub = <-h.sockets
			asked <- hub.cursor
			hub.hello("replayed", "c1")
			hub.message("msg_2", "c2")
		}()
		for want := range 2 {
			for u, err := range feed.Follow(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				if u.New {
					if got := Key(*u.Frame); got != fmt.Sprintf("message.new msg_%d", want+1) {
						t.Errorf("got %s", got)
					}
					break
				}
				synctest.Wait() // everything that the hub has sent was read
			}
		}
		if got := <-asked; got != "c1" || at.at() != "c1" {
			t.Errorf("came back with %q, kept %q", got, at.at())
		}
	})
}
