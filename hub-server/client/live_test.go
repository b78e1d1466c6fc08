package client

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// A feed of what happens from now on tells nothing older, whatever the hub cannot replay; and all that is younger, also what was said on a
// connection that was dead before anybody noticed.
func TestAFeedOfNowTellsNothingOlderAndAllThatIsYounger(t *testing.T) {
	for name, gap := range map[string]func(hub *farEnd, next <-chan *farEnd){
		"a gap":   func(hub *farEnd, _ <-chan *farEnd) { hub.send("system.gap", `{"reason":"buffer"}`, "c1") },
		"a reset": func(hub *farEnd, next <-chan *farEnd) { hub.socket.CloseNow(); (<-next).hello("reset", "c1") },
		"a dead connection": func(_ *farEnd, next <-chan *farEnd) { // noticed after 45 s
			(<-next).hello("reset", "c1")
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newPipeHub(t)
				c, _ := h.client(time.Hour)
				message := func(seq SeqID, at time.Time) {
					id := fmt.Sprintf("msg_%d", seq)
					h.messages = append(h.messages, Message{ID: id, MessageID: id, SessionID: "sess_1", SeqID: seq, CreatedAt: at})
				}
				message(1, time.Now().Add(-time.Second))
				go func() {
					hub := <-h.sockets
					hub.hello("fresh", "c0")
					synctest.Wait()
					message(2, time.Now().Add(time.Second))
					gap(hub, h.sockets)
				}()
				var told []string
				ready := 0
				for u, err := range c.Feed(&place{}, FeedOptions{Begin: BeginLive}).Follow(t.Context()) {
					if err != nil {
						t.Fatal(err)
					}
					if u.New {
						told = append(told, Key(*u.Frame))
					}
					if u.Ready {
						ready++
					}
					if ready == 2 {
						break
					}
				}
				if want := []string{"message.new msg_2"}; !slices.Equal(told, want) {
					t.Errorf("told %q, want %q", told, want)
				}
			})
		})
	}
}
