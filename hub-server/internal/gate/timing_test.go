package gate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// inFakeTime runs a test with one hub on a network in memory, on a clock that moves only when everybody waits.
func inFakeTime(t *testing.T, test func(h *hub)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		test(newWorld(t).hub(newPipeListener()))
	})
}

// withAndWithoutTLS is inFakeTime, twice.
func withAndWithoutTLS(t *testing.T, test func(h *hub)) {
	t.Helper()
	t.Run("plain", func(t *testing.T) { inFakeTime(t, test) })
	t.Run("TLS", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.secure = true
			test(w.hub(newPipeListener()))
		})
	})
}

func TestSilenceIsBrokenByAHeartbeatWithTheCursorOfNow(t *testing.T) {
	inFakeTime(t, func(h *hub) {
		t := h.world.t
		token, _ := h.world.login(id.NewUser())
		c := h.dial(token, "")
		first := c.greeted()
		h.world.commit(note(delivery.ToUser(id.NewUser()), 1), note(delivery.ToUser(id.NewUser()), 2)) // not for this client
		start := time.Now()
		for range 5 {
			f, err := c.tryNext(45 * time.Second)
			if err != nil {
				t.Fatal(err)
			}
			if f.Type != AuthOK || f.Cursor != string(delivery.NewCursor(h.world.store.Epoch(), 2)) {
				t.Errorf("after %v came %s with cursor %q", time.Since(start), f.Type, f.Cursor)
			}
		}
		if got, want := time.Since(start), 5*heartbeat; got != want {
			t.Errorf("five heartbeats took %v, want %v", got, want)
		}
		if first.Heartbeat != int(heartbeat.Seconds()) {
			t.Errorf("the client is told %d s", first.Heartbeat)
		}
	})
}

func TestAClientThatAnswersNoPingIsGivenUp(t *testing.T) {
	inFakeTime(t, func(h *hub) {
		t := h.world.t
		token, _ := h.world.login(id.NewUser())
		c := h.dial(token, "")
		c.greeted()
		mute := make(chan error, 1)
		start := time.Now()
		go func() { // takes everything and says nothing: a half-open connection with a large buffer
			buf := make([]byte, 4096)
			for {
				if _, err := c.raw.Read(buf); err != nil {
					mute <- err
					return
				}
			}
		}()
		<-mute
		if took := time.Since(start); took > pongWithin+closeWithin {
			t.Errorf("given up after %v, want at most %v", took, pongWithin+closeWithin)
		}
	})
}

// A connection is half open and there is something to say all the time: that the system takes it is no sign of life.
func TestAClientThatAnswersNoPingIsGivenUpThoughMuchIsSaid(t *testing.T) {
	inFakeTime(t, func(h *hub) {
		t := h.world.t
		token, who := h.world.login(id.NewUser())
		c := h.dial(token, "")
		c.greeted()
		mute := make(chan error, 1)
		go func() {
			_, err := io.Copy(io.Discard, c.raw)
			mute <- err
		}()
		say := time.NewTicker(5 * time.Second)
		defer say.Stop()
		for start := time.Now(); ; {
			select {
			case <-mute:
				return
			case <-say.C:
				h.world.commit(note(delivery.ToUser(who.User), 1))
			}
			if took := time.Since(start); took > 30*time.Second {
				t.Fatalf("still open after %v", took)
			}
		}
	})
}

// slowLine is a network that carries a little every second.
type slowLine struct{ net.Conn }

func (l slowLine) Read(p []byte) (int, error) {
	time.Sleep(time.Second)
	return l.Conn.Read(p[:min(len(p), 4<<10)])
}

// However slowly a client reads, as long as it does it is not cut off, and its pongs may come as late as they have to.
func TestAClientThatReadsSlowlyGetsEverything(t *testing.T) {
	withAndWithoutTLS(t, func(h *hub) {
		t := h.world.t
		h.line = func(c net.Conn) net.Conn { return slowLine{c} }
		token, who := h.world.login(id.NewUser())
		c := h.dial(token, "")
		c.greeted()
		const rows = 6
		for n := range rows {
			row := note(delivery.ToUser(who.User), n)
			row.Payload = fmt.Appendf(nil, `{"session_id":%q,"changes":{"n":%d,"fill":"%s"}}`, id.NewSession(), n, strings.Repeat("x", 40<<10))
			h.world.commit(row)
		}
		for want := range rows {
			if n, err := c.tryNote(5 * time.Minute); err != nil || n != want {
				t.Fatalf("note %d came as %d, error %v", want, n, err)
			}
		}
	})
}

// What writes behind our back, as TLS does when the other side changes its keys, meets no deadline of ours.
func TestNoDeadlineIsLeftBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		read := make(chan int64)
		go func() {
			n, _ := io.Copy(io.Discard, theirs)
			read <- n
		}()
		g := newGatherConn(ours, &bufferPool{})
		g.add(0, frameOf(300))
		if err := g.Flush(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * takeWithin)
		if _, err := ours.Write([]byte("keys")); err != nil {
			t.Error(err)
		}
		g.Close()
		if n := <-read; n < 300 {
			t.Errorf("%d bytes came", n)
		}
	})
}

func TestAClientThatReadsIsNeverGivenUp(t *testing.T) {
	inFakeTime(t, func(h *hub) {
		t := h.world.t
		token, _ := h.world.login(id.NewUser())
		c := h.dial(token, "")
		c.greeted()
		for start := time.Now(); time.Since(start) < 10*time.Minute; {
			if _, err := c.tryNext(time.Minute); err != nil {
				t.Fatalf("after %v: %v", time.Since(start), err)
			}
		}
	})
}

func TestASocketThatTakesNothingIsClosedWithinTwentySeconds(t *testing.T) {
	withAndWithoutTLS(t, func(h *hub) {
		t := h.world.t
		token, who := h.world.login(id.NewUser())
		c := h.dial(token, "")
		c.greeted()
		start := time.Now()
		h.world.commit(note(delivery.ToUser(who.User), 1)) // and nobody reads
		for h.conns.has(who.User) {
			time.Sleep(100 * time.Millisecond)
			if time.Since(start) > 20*time.Second {
				t.Fatal("still open after 20 s")
			}
		}
		if took := time.Since(start); took < pongWithin {
			t.Errorf("closed after %v already", took)
		}
		again := h.dial(token, c.cursor)
		if answer := again.greeted(); answer.Resume != delivery.Replayed {
			t.Errorf("back again: %+v", answer)
		}
		if n := again.note(); n != 1 {
			t.Errorf("back again: note %d", n)
		}
	})
}

// A client that begins to read in the last moment learns why it was closed.
func TestASlowClientIsToldToResume(t *testing.T) {
	withAndWithoutTLS(t, func(h *hub) {
		t := h.world.t
		token, who := h.world.login(id.NewUser())
		c := h.dial(token, "")
		c.greeted()
		h.world.commit(note(delivery.ToUser(who.User), 1))
		time.Sleep(takeWithin + closeWithin/2)
		if got := c.closed(); got.Code != closeSlow {
			t.Errorf("closed with %d %s, want %d", got.Code, got.Reason, closeSlow)
		}
	})
}

func TestAFamilyThatEndedUnnoticedIsFoundAtTheNextCheck(t *testing.T) {
	inFakeTime(t, func(h *hub) {
		t := h.world.t
		token, who := h.world.login(id.NewUser())
		c := h.dial(token, "")
		c.greeted()
		h.world.devices.end(who.Family)
		start := time.Now()
		for {
			if _, err := c.tryNext(time.Minute); err != nil {
				if got := closeError(err); got.Code != closeEnded || time.Since(start) > aliveEvery+aliveEvery/10+closeWithin {
					t.Errorf("closed with %d %s after %v", got.Code, got.Reason, time.Since(start))
				}
				return
			}
		}
	})
}

func TestALoginThatCannotBeProvenIsGivenUpAfterAFewTries(t *testing.T) {
	inFakeTime(t, func(h *hub) {
		t := h.world.t
		token, _ := h.world.login(id.NewUser())
		c := h.dial(token, "")
		c.greeted()
		h.world.devices.mu.Lock()
		h.world.devices.fail = errors.New("store is away")
		h.world.devices.mu.Unlock()
		start := time.Now()
		for {
			if _, err := c.tryNext(time.Minute); err != nil {
				if got := closeError(err); got.Code != websocket.StatusTryAgainLater || time.Since(start) < (aliveTries-1)*aliveEvery {
					t.Errorf("closed with %d %s after %v", got.Code, got.Reason, time.Since(start))
				}
				return
			}
		}
	})
}

// P17 for a client that does not read: nothing it could say counts any more, and its socket is gone in time.
func TestAnEndedLoginClosesTheSocketOfAClientThatDoesNotRead(t *testing.T) {
	withAndWithoutTLS(t, func(h *hub) {
		t := h.world.t
		token, who := h.world.login(id.NewUser())
		c := h.dial(token, "")
		c.greeted()
		h.world.commit(note(delivery.ToUser(who.User), 1)) // its writer is stuck
		time.Sleep(time.Second)
		h.CloseFamily(who.Family)
		start := time.Now()
		for h.conns.has(who.User) {
			time.Sleep(50 * time.Millisecond)
			if time.Since(start) > 2*time.Second {
				t.Fatal("still open after 2 s")
			}
		}
	})
}

func TestThePingFloodOfAClientIsNotAnswered(t *testing.T) {
	inFakeTime(t, func(h *hub) {
		t := h.world.t
		token, _ := h.world.login(id.NewUser())
		c := h.dial(token, "")
		c.greeted()
		c.socket.CloseRead(t.Context())
		answered := 0
		for range 100 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			if c.socket.Ping(ctx) == nil {
				answered++
			}
			cancel()
		}
		if answered < int(pingRate.Burst) || answered > int(pingRate.Burst)+2 {
			t.Errorf("%d of 100 pings were answered, want %d", answered, int(pingRate.Burst))
		}
	})
}
