package hub

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/http"
	"runtime"
	"sync"
	"testing"
	"time"
)

const crowdPlaces = 2

// crowded serves with two places, answering 503 to a surplus connection as the hub does.
func crowded(t *testing.T) (c *crowd, addr string) {
	t.Helper()
	var config net.ListenConfig
	l, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c = newCrowd(crowdPlaces)
	server := &http.Server{
		ConnContext: mark, ReadHeaderTimeout: time.Minute,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if surplus(r.Context()) {
				w.Header().Set("Connection", "close")
				w.WriteHeader(http.StatusServiceUnavailable)
			}
		}),
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := server.Serve(c.around(l)); !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		serving.Wait()
	})
	return c, l.Addr().String()
}

// knock opens a connection, asks once and returns the status; the connection stays open.
func knock(t *testing.T, addr string) (conn net.Conn, status int) {
	t.Helper()
	var dialer net.Dialer
	conn, err := dialer.DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if _, err := conn.Write([]byte("GET / HTTP/1.1\r\nHost: hub\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return conn, resp.StatusCode
}

func TestAConnectionTooManyIsToldSoAndTheNextIsServedWhenOneHasLeft(t *testing.T) {
	c, addr := crowded(t)
	var inside [crowdPlaces]net.Conn
	for i := range inside {
		var status int
		if inside[i], status = knock(t, addr); status != http.StatusOK {
			t.Fatalf("connection %d: %d", i, status)
		}
	}
	if c.check(t.Context()) == nil {
		t.Error("it says that there is room")
	}
	for range 2 * maxSurplus { // each leaves when it has been told
		if _, status := knock(t, addr); status != http.StatusServiceUnavailable {
			t.Fatalf("a connection too many: %d", status)
		}
	}
	inside[0].Close()
	for c.check(context.Background()) != nil {
		runtime.Gosched()
	}
	if _, status := knock(t, addr); status != http.StatusOK {
		t.Errorf("after one has left: %d", status)
	}
}

// Those who say nothing hold nobody up: when all may be told no that can be, the first of them has to go.
func TestWhoeverComesIsToldAtOnceThoughManySayNothing(t *testing.T) {
	c, addr := crowded(t)
	var dialer net.Dialer
	var silent []net.Conn
	for range crowdPlaces + 2*maxSurplus {
		conn, err := dialer.DialContext(t.Context(), "tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		silent = append(silent, conn)
	}
	if _, status := knock(t, addr); status != http.StatusServiceUnavailable {
		t.Errorf("answered with %d", status)
	}
	if n, err := silent[crowdPlaces].Read(make([]byte, 1)); err == nil {
		t.Errorf("the first who was silent was told %d bytes", n)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.surplus) > maxSurplus {
		t.Errorf("%d connections too many are open", len(c.surplus))
	}
}

func TestTheHubKeepsDescriptorsForItself(t *testing.T) {
	for descriptors, want := range map[uint64]int{1 << 40: maxPlaces, 1024: 928, 256: 160, 100: 25, 2: 1} {
		if got := placesOf(descriptors); got != want {
			t.Errorf("of %d descriptors %d are for connections, want %d", descriptors, got, want)
		}
	}
}
