package eventsocket_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchyard-dev/switchyard/edge-server/internal/eventsocket"
)

// upgrade is what a program sends that has no library.
const upgrade = "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" +
	"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"

// pipe is a listener with one connection in memory, which buffers nothing.
type pipe struct {
	conns chan net.Conn
	once  sync.Once
}

func (p *pipe) Accept() (net.Conn, error) {
	if c, ok := <-p.conns; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (p *pipe) Close() error {
	p.once.Do(func() { close(p.conns) })
	return nil
}

func (p *pipe) Addr() net.Addr { return &net.UnixAddr{} }

// inFakeTime serves one socket with write, on a clock that moves only when everybody waits. The follower has sent its upgrade and read the
// answer when play is called.
func inFakeTime(t *testing.T, write func(context.Context, eventsocket.Send) error, play func(t *testing.T, follower net.Conn, ended <-chan error)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		listener := &pipe{conns: make(chan net.Conn, 1)}
		listener.conns <- theirs
		ended := make(chan error, 1)
		server := http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			s, err := eventsocket.Accept(w, r, marker)
			if err != nil {
				ended <- err
				return
			}
			ended <- s.Serve(r.Context(), write)
		})}
		go server.Serve(listener)
		defer server.Close()
		defer ours.Close()
		if _, err := io.WriteString(ours, upgrade); err != nil {
			t.Fatal(err)
		}
		answer, err := http.ReadResponse(bufio.NewReaderSize(ours, 16), nil)
		if err != nil || answer.StatusCode != http.StatusSwitchingProtocols {
			t.Fatalf("answer is %+v, %v", answer, err)
		}
		play(t, ours, ended)
	})
}

func TestFollowerThatAnswersNoPingIsGivenUp(t *testing.T) {
	inFakeTime(t, wait, func(t *testing.T, follower net.Conn, ended <-chan error) {
		start := time.Now()
		go io.Copy(io.Discard, follower) // takes everything and says nothing
		expectEnd(t, "server", <-ended, eventsocket.Silent)
		if took := time.Since(start); took < 50*time.Second || took > 52*time.Second {
			t.Errorf("it took %s, want 20 s to the ping and 30 s after it", took)
		}
	})
}

func TestFollowerThatTakesNothingIsGivenUp(t *testing.T) {
	write := func(ctx context.Context, send eventsocket.Send) error {
		if err := send([]byte("never taken")); err != nil {
			return err
		}
		return wait(ctx, send)
	}
	inFakeTime(t, write, func(t *testing.T, _ net.Conn, ended <-chan error) {
		start := time.Now()
		expectEnd(t, "server", <-ended, eventsocket.Slow)
		if took := time.Since(start); took < 15*time.Second || took > 17*time.Second {
			t.Errorf("it took %s, want 15 s", took)
		}
	})
}
