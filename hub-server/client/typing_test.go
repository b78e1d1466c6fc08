package client

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestTypingIsToldOverTheStreamThatStands(t *testing.T) {
	h := newFakeHub(t)
	h.said = make(chan string, 1)
	c, _ := h.client(time.Hour)
	if err := c.Typing("sess_1"); !errors.Is(err, ErrNoStream) {
		t.Errorf("without a stream: %v", err)
	}
	f := follow(t, c, &place{})
	heard := make(chan struct{})
	go func() {
		hub := <-h.sockets
		hub.hello("fresh", "c0")
		<-heard
		hub.socket.CloseNow()
	}()
	f.up()
	if err := c.Typing("sess_1"); err != nil {
		t.Fatal(err)
	}
	if got, want := <-h.said, `{"type":"typing","payload":{"session_id":"sess_1"}}`; got != want {
		t.Errorf("the hub heard %s, want %s", got, want)
	}
	close(heard)
	f.down()
	if err := c.Typing("sess_1"); !errors.Is(err, ErrNoStream) {
		t.Errorf("after a cut: %v", err)
	}
}

func TestTypingIsToldOnceInThreeSeconds(t *testing.T) {
	var told typed
	start := time.Now()
	for _, c := range []struct {
		session SessionID
		after   time.Duration
		want    bool
	}{
		{"sess_1", 0, true}, {"sess_1", time.Second, false}, {"sess_2", time.Second, true}, {"sess_1", 2999 * time.Millisecond, false},
		{"sess_1", 3 * time.Second, true}, {"sess_2", 3 * time.Second, false}, {"sess_2", 4 * time.Second, true},
	} {
		if got := told.due(c.session, start.Add(c.after)); got != c.want {
			t.Errorf("%s after %v: %v, want %v", c.session, c.after, got, c.want)
		}
	}
}

func TestWhoTypesIsKnownForSixSecondsOrUntilTheMessageComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newPipeHub(t)
		c, _ := h.client(time.Hour)
		go func() {
			hub := <-h.sockets
			hub.hello("replayed", "c0")
			for _, typing := range []string{
				`{"user_id":"ada","session_id":"sess_1"}`, `{"user_id":"ben","session_id":"sess_1"}`, `{"user_id":"ada","session_id":"sess_2"}`,
				`{"user_id":"ada","session_id":"sess_1"}`,
			} {
				hub.send(HubWebSocketFrameTypeTyping, typing, "")
			}
			hub.send(HubWebSocketFrameTypeMessageNew, `{"id":"msg_1","session_id":"sess_1","sender_id":"ben","seq_id":1}`, "c1")
		}()
		feed := c.Feed(&place{cursor: "c0"}, FeedOptions{Begin: BeginMissed})
		for u, err := range feed.Follow(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			if len(feed.Typists("sess_2")) > 0 && !slices.Contains(feed.Typists("sess_1"), "ben") && !u.New {
				t.Error("who types was forgotten")
			}
			if u.New {
				break
			}
		}
		for _, c := range []struct {
			after time.Duration
			want  []UserID
		}{{0, []UserID{"ada"}}, {5999 * time.Millisecond, []UserID{"ada"}}, {time.Millisecond, nil}} {
			time.Sleep(c.after)
			if got := feed.Typists("sess_1"); !slices.Equal(got, c.want) {
				t.Errorf("%v later %q type, want %q", c.after, got, c.want)
			}
		}
	})
}
