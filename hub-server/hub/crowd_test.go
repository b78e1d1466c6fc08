package hub

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"runtime"
	"testing"
)

const crowdPlaces = 2

func TestAConnectionTooManyIsToldSoAndTheNextIsServedWhenOneHasLeft(t *testing.T) {
	eachDoor(t, func(t *testing.T, d door) {
		var inside [crowdPlaces]visitor
		for i := range inside {
			inside[i] = d.enter(t)
			if status := inside[i].ask(t); status != http.StatusOK {
				t.Fatalf("connection %d: %d", i, status)
			}
		}
		if d.crowd.check(t.Context()) == nil {
			t.Error("it says that there is room")
		}
		for range maxSurplus + 1 { // each leaves when it has been told
			if status := d.enter(t).ask(t); status != http.StatusServiceUnavailable {
				t.Fatalf("a connection too many: %d", status)
			}
		}
		for i, v := range inside {
			if status := v.ask(t); status != http.StatusOK {
				t.Errorf("connection %d, after the crowd: %d", i, status)
			}
		}
		inside[0].conn.Close()
		for d.crowd.check(context.Background()) != nil {
			runtime.Gosched()
		}
		if status := d.enter(t).ask(t); status != http.StatusOK {
			t.Errorf("after one has left: %d", status)
		}
	})
}

// Those who say nothing hold nobody up: when all may be told no that can be, the first of them has to go.
func TestWhoeverComesIsToldAtOnceThoughManySayNothing(t *testing.T) {
	eachDoor(t, func(t *testing.T, d door) {
		var silent []net.Conn
		for range crowdPlaces + 2*maxSurplus {
			silent = append(silent, d.dial(t))
		}
		if status := d.enter(t).ask(t); status != http.StatusServiceUnavailable {
			t.Errorf("answered with %d", status)
		}
		if n, err := silent[crowdPlaces].Read(make([]byte, 1)); err == nil {
			t.Errorf("the first who was silent was told %d bytes", n)
		}
		d.crowd.mu.Lock()
		defer d.crowd.mu.Unlock()
		if len(d.crowd.surplus) > maxSurplus {
			t.Errorf("%d connections too many are open", len(d.crowd.surplus))
		}
	})
}

// A close while bytes of the request are unread resets the connection, and the client may never see why it was turned away.
func TestARefusalIsNotTakenBackWhileTheRequestIsStillOnItsWay(t *testing.T) {
	d := crowded(t, false)
	for range crowdPlaces {
		d.enter(t).ask(t)
	}
	conn := d.dial(t)
	sent := append([]byte("POST / HTTP/1.1\r\nHost: hub\r\nContent-Length: 1000000\r\n\r\n"), make([]byte, 64<<10)...)
	if _, err := conn.Write(sent); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil || !bytes.HasPrefix(answer, []byte("HTTP/1.1 503 ")) {
		t.Errorf("it was told %q, %v", answer, err)
	}
}

func TestTheHubKeepsDescriptorsForItself(t *testing.T) {
	for descriptors, want := range map[uint64]int{1 << 40: maxPlaces, 1024: 928, 256: 160, 100: 25, 2: 1} {
		if got := placesOf(descriptors); got != want {
			t.Errorf("of %d descriptors %d are for connections, want %d", descriptors, got, want)
		}
	}
}
