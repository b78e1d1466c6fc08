package client

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
)

func TestFramesAreHandedOnAndTheirCursorIsKeptOnceTheyAreTaken(t *testing.T) {
	h := newFakeHub(t)
	c, _ := h.client(time.Hour)
	at := &place{}
	f := follow(t, c, at)
	go func() {
		hub := <-h.sockets
		hub.hello("fresh", "c0")
		hub.message("msg_1", "c1")
		hub.message("msg_2", "") // one of several frames of a row
		hub.message("msg_3", "c3")
	}()
	if e := f.up(); e.Resume.Resume != AuthOKPayloadResumeFresh {
		t.Errorf("resume %q", e.Resume.Resume)
	}
	for _, step := range []struct{ key, before string }{
		{"message.new msg_1", "c0"}, {"message.new msg_2", "c1"}, {"message.new msg_3", "c1"},
	} {
		f.frame(step.key)
		if got := at.at(); got != step.before { // while the frame is in the caller's hands
			t.Errorf("%s: cursor %q, want %q", step.key, got, step.before)
		}
	}
}

func TestACutConnectionIsMadeAgainFromTheCursor(t *testing.T) {
	h := newFakeHub(t)
	c, _ := h.client(time.Hour)
	f := follow(t, c, &place{cursor: "c7"})
	go func() {
		hub := <-h.sockets
		if hub.cursor != "c7" {
			t.Errorf("first cursor %q", hub.cursor)
		}
		hub.hello("replayed", "c7")
		hub.message("msg_8", "c8 &=")
		hub.socket.CloseNow()
		hub = <-h.sockets
		if hub.cursor != "c8 &=" {
			t.Errorf("second cursor %q", hub.cursor)
		}
		hub.hello("replayed", "c8 &=")
		hub.message("msg_9", "c9")
	}()
	f.up()
	f.frame("message.new msg_8")
	f.down()
	f.up()
	f.frame("message.new msg_9")
}

func TestAResetIsReported(t *testing.T) {
	h := newFakeHub(t)
	c, _ := h.client(time.Hour)
	f := follow(t, c, &place{cursor: "of another epoch"})
	go func() {
		hub := <-h.sockets
		hub.send(HubWebSocketFrameTypeAuthOk, `{"resume":"reset","reason":"epoch","connection_id":"conn_1","cursor":"new"}`, "")
	}()
	if e := f.up(); e.Resume.Resume != AuthOKPayloadResumeReset || e.Resume.Reason != "epoch" || e.Frame.Cursor != "new" {
		t.Fatalf("event %+v, %+v", e.Resume, e.Frame)
	}
}

func TestAHeartbeatIsNoNewLink(t *testing.T) {
	h := newFakeHub(t)
	c, _ := h.client(time.Hour)
	at := &place{}
	f := follow(t, c, at)
	go func() {
		hub := <-h.sockets
		hub.hello("fresh", "c0")
		hub.hello("fresh", "c1")
		hub.message("msg_1", "")
	}()
	f.up()
	if e := f.event(); e.Link != "" || e.Frame.Type != HubWebSocketFrameTypeAuthOk {
		t.Fatalf("event %+v", e)
	}
	f.frame("message.new msg_1")
	if at.at() != "c1" {
		t.Errorf("cursor %q", at.at())
	}
}

func TestACursorThatCannotBeKeptEndsTheStream(t *testing.T) {
	h := newFakeHub(t)
	c, _ := h.client(time.Hour)
	f := follow(t, c, &place{broken: true})
	go func() { (<-h.sockets).hello("fresh", "c0") }()
	f.up()
	if err := f.end(); !strings.Contains(err.Error(), "disk full") {
		t.Fatalf("ended with %v", err)
	}
}

func TestWhatCannotBeReadIsALostConnection(t *testing.T) {
	h := newFakeHub(t)
	c, _ := h.client(time.Hour)
	f := follow(t, c, &place{})
	go func() {
		(<-h.sockets).sendRaw([]byte("{"))
		hub := <-h.sockets
		hub.send(HubWebSocketFrameTypeAuthOk, `[]`, "")
		hub = <-h.sockets
		hub.hello("fresh", "")
		hub.sendRaw([]byte(`{"type":"message.new","seq_id":2,"payload":"` + strings.Repeat("x", maxFrame) + `"}`))
	}()
	f.down()
	f.down()
	f.up()
	f.down()
}

func TestASocketThatIsRefusedAsExpiredComesWithANewToken(t *testing.T) {
	h := newFakeHub(t)
	c, _ := h.client(time.Hour)
	h.expire()
	f := follow(t, c, &place{})
	go func() { (<-h.sockets).hello("fresh", "") }()
	f.up()
	if got := h.renewed(); got != 1 {
		t.Errorf("%d renewals, want 1", got)
	}
}

func TestTheCallerMayLeaveAtAnyEvent(t *testing.T) {
	h := newFakeHub(t)
	c, _ := h.client(time.Hour)
	at := &place{}
	go func() {
		hub := <-h.sockets
		hub.hello("fresh", "c0")
		hub.message("msg_1", "c1")
	}()
	for e, err := range c.Stream(t.Context(), at) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Frame.Type == HubWebSocketFrameTypeMessageNew {
			break
		}
	}
	if at.at() != "c0" {
		t.Errorf("cursor %q: the last frame counts as taken only when the caller comes back", at.at())
	}
}

func TestTheEndOfTheContextEndsTheStream(t *testing.T) {
	h := newFakeHub(t)
	c, _ := h.client(time.Hour)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { (<-h.sockets).hello("fresh", "") }()
	var last error
	for _, err := range c.Stream(ctx, &place{}) {
		last = err
		cancel()
	}
	if !errors.Is(last, context.Canceled) {
		t.Fatalf("ended with %v", last)
	}
}

// failing is a transport to a hub that is not there.
type failing struct{}

func (failing) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("connection refused")
}

func TestRetriesSlowDownToTheirLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := New(Options{
			Hub: "http://hub", Transport: failing{},
			Keeper: NewMemoryKeeper(Credentials{AccessToken: "a", RefreshToken: "r", ExpiresAt: time.Now().Add(time.Hour)}),
		})
		if err != nil {
			t.Fatal(err)
		}
		f := follow(t, c, &place{})
		var waits []time.Duration
		for last := time.Now(); len(waits) < 12; last = time.Now() {
			if err := f.down(); !errors.Is(err, ErrUnreachable) {
				t.Fatalf("error %v", err)
			}
			waits = append(waits, time.Since(last))
		}
		want := firstBackoff
		for i, got := range waits[1:] {
			if got < want*3/4 || got > want*5/4 {
				t.Errorf("wait %d: %v, want about %v", i+1, got, want)
			}
			want = min(want*2, lastBackoff)
		}
	})
}

func TestABusyHubIsLeftAloneForAsLongAsItAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newPipeHub(t)
		c, _ := h.client(time.Hour)
		h.refuse = func(w http.ResponseWriter) bool {
			w.Header().Set("Retry-After", "60")
			h.problem(w, http.StatusTooManyRequests, ProblemCodeRateLimited)
			return true
		}
		f := follow(t, c, &place{})
		if err := f.down(); CodeOf(err) != ProblemCodeRateLimited {
			t.Fatalf("error %v", err)
		}
		start := time.Now()
		f.down()
		if got := time.Since(start); got < time.Minute || got > 75*time.Second {
			t.Errorf("came back after %v", got)
		}
	})
}

func TestAHubThatIsSilentForTooLongIsGivenUp(t *testing.T) {
	for _, c := range []struct {
		hello string
		want  time.Duration
	}{
		{`{"resume":"fresh","connection_id":"conn_1"}`, 45 * time.Second},
		{`{"resume":"fresh","connection_id":"conn_1","heartbeat_secs":60}`, 125 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := newPipeHub(t)
			client, _ := h.client(time.Hour)
			f := follow(t, client, &place{})
			go func() { (<-h.sockets).send(HubWebSocketFrameTypeAuthOk, c.hello, "c0") }()
			f.up()
			start := time.Now()
			if err := f.down(); !errors.Is(err, errSilent) {
				t.Fatalf("error %v", err)
			}
			if got := time.Since(start); got != c.want {
				t.Errorf("%s: given up after %v, want %v", c.hello, got, c.want)
			}
		})
	}
}

func TestAClosedLidIsNoticedWithinSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newPipeHub(t)
		c, _ := h.client(time.Hour)
		lid := make(chan struct{}, 1)
		var asleep time.Duration
		c.now = func() time.Time {
			select {
			case <-lid:
				asleep = time.Hour
			default:
			}
			return time.Now().Add(asleep)
		}
		f := follow(t, c, &place{})
		go func() {
			(<-h.sockets).hello("fresh", "c0")
			(<-h.sockets).hello("replayed", "c0")
		}()
		f.up()
		synctest.Wait() // the clock has been read once
		lid <- struct{}{}
		start := time.Now()
		if err := f.down(); !errors.Is(err, errSlept) {
			t.Fatalf("error %v", err)
		}
		f.up()
		if got := time.Since(start); got > 2*time.Second {
			t.Errorf("back after %v", got)
		}
	})
}

// One slow second must not make every client reconnect.
func TestABusyMachineIsNotAsleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var behind time.Duration
		now := func() time.Time { behind += wakeGap / 2; return time.Now().Add(behind) }
		if noticeSleep(ctx, now) {
			t.Error("sleep noticed")
		}
	})
}

func TestAClosedSocketsReasonIsTold(t *testing.T) {
	h := newFakeHub(t)
	c, _ := h.client(time.Hour)
	f := follow(t, c, &place{})
	go func() {
		hub := <-h.sockets
		hub.hello("fresh", "c0")
		hub.socket.Close(4409, "slow, resume")
		(<-h.sockets).hello("replayed", "c0")
	}()
	f.up()
	err := f.down()
	if websocket.CloseStatus(err) != 4409 {
		t.Fatalf("error %v", err)
	}
	f.up()
}
