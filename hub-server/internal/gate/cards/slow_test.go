package cards

import (
	"bytes"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/gate"
	"github.com/switchyard-dev/switchyard/shared/card"
)

// loud has a run say more than sockets hold.
func (s *scene) loud(megabytes int) {
	s.t.Helper()
	c := s.hub.joined(s.ada, s.session)
	run := s.asked(c, "hi")
	message := s.begins(s.edge, run)
	c.socket.CloseNow()
	piece := strings.Repeat("x", 100<<10)
	for range 10 * megabytes {
		s.says(s.edge, run, message, piece)
	}
}

// R7: nothing is dropped for a client that is slow, it is only told later.
func TestASlowClientIsToldEverythingByteForByte(t *testing.T) {
	s := newScene(sole(t))
	c := s.hub.joined(s.ada, s.session)
	s.loud(8) // while it reads nothing
	trace, err := s.hub.Traces.Open(t.Context(), s.session)
	s.must(err)
	whole := s.stored(trace)
	c.say(`{"type":"session.interrupt","trace_id":%q}`, trace.ID) // and it is heard all the while
	c.until("the end of what was said", func(e card.Event) bool { return len(c.lines) >= len(whole) })
	if got := strings.Join(c.lines[:len(whole)], ""); got != strings.Join(whole, "") {
		t.Errorf("told %d bytes, want %d", len(got), len(strings.Join(whole, "")))
	}
}

func TestASocketThatTakesNothingIsClosedWithTryAgainLater(t *testing.T) {
	if testing.Short() {
		t.Skip("takes as long as a socket may take nothing")
	}
	s := newScene(sole(t))
	said := &lines{}
	h := s.town.hub(func(h *Server) { h.Log = slog.New(slog.NewTextHandler(said, nil)) })
	raw := s.dumb(h)
	if tcp, ok := raw.(*net.TCPConn); ok {
		s.must(tcp.SetReadBuffer(4 << 10))
	}
	s.loud(12)
	start := time.Now()
	for !said.contain("closing 1013: slow, resume") || !h.roll.empty() {
		if time.Since(start) > time.Minute {
			t.Fatal("it is still open after a minute")
		}
		time.Sleep(50 * time.Millisecond) // nothing else tells that a socket is given up
	}
}

// empty says that nothing is left of any connection.
func (r *roll) empty() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.conns) == 0 && len(r.sessions) == 0 && len(r.users) == 0
}

// lines is a log that tests read while it is written.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *lines) contain(s string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.buf.String(), s)
}

func TestFramesThatComeTooOftenWaitAndNoneIsLost(t *testing.T) {
	s := newScene(sole(t))
	h := s.town.hub(func(h *Server) { h.Inbound = gate.Rate{PerSecond: 50, Burst: 2} })
	c := h.joined(s.ada, s.session)
	start := time.Now()
	const frames = 22
	for range frames {
		c.say(`{"type":"ping"}`)
	}
	for range frames {
		if c.next(); !strings.Contains(string(c.raw), "pong") {
			t.Fatalf("answered %s", c.raw)
		}
	}
	if took := time.Since(start); took < 300*time.Millisecond {
		t.Errorf("%d frames were heard within %s", frames, took)
	}
}
