package gate

import (
	"bytes"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Some clients stop reading while much is sent to all: the others get everything at once, what is kept for the slow ones stays bounded,
// and when they read again they miss nothing (P14; that they are closed in the end is tested in fake time).
func TestSlowClientsCostNobodyElseAnything(t *testing.T) {
	const (
		quick, slow = 5, 3
		rows        = 120
		rowBytes    = 40 << 10
	)
	h := newWorld(t).hub(nil)
	session := id.NewSession()
	var clients []*client
	for range quick + slow {
		token, who := h.world.login(id.NewUser())
		h.world.commit(member(session, who.User, delivery.Joined))
		c := h.dial(token, "")
		c.greeted()
		clients = append(clients, c)
	}
	for _, c := range clients[quick:] {
		if err := c.raw.(*net.TCPConn).SetReadBuffer(128 << 10); err != nil { // the machine's own buffers would hold a test of this size
			t.Fatal(err)
		}
	}
	done := make(chan error, quick)
	for _, c := range clients[:quick] {
		go func() { done <- c.expect(rows) }()
	}
	start, most := time.Now(), 0
	for n := range rows {
		row := note(delivery.ToSession(session), n)
		fill := bytes.Repeat([]byte{'x'}, rowBytes)
		row.Payload = fmt.Appendf(nil, `{"session_id":%q,"changes":{"n":%d,"fill":"%s"}}`, session, n, fill)
		h.world.commit(row)
		if n%10 == 0 {
			most = max(most, gauge(t, h, "hub_delivery_queue_bytes"))
		}
	}
	for range quick {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d rows to %d clients in %v, at most %d KiB queued", rows, quick, time.Since(start), most>>10)
	if limit := (quick + slow) * 256 << 10; most > limit {
		t.Errorf("%d bytes were queued, limit is %d", most, limit)
	}
	if gauge(t, h, "hub_delivery_overflows_total") < slow {
		t.Error("no slow client was sent back to the store: the test is too small for the buffers of this machine")
	}
	for i, c := range clients[quick:] {
		if err := c.expect(rows); err != nil {
			t.Errorf("slow client %d: %v", i, err)
		}
	}
}

// expect reads notes 0 to n-1.
func (c *client) expect(n int) error {
	for want := range n {
		got, err := c.tryNote(20 * time.Second)
		if err != nil {
			return fmt.Errorf("waiting for note %d: %w", want, err)
		}
		if got != want {
			return fmt.Errorf("got note %d, want %d", got, want)
		}
	}
	return nil
}

func gauge(t *testing.T, h *hub, name string) int {
	t.Helper()
	for line := range strings.Lines(scrape(h)) {
		if rest, ok := strings.CutPrefix(line, name+" "); ok {
			v, err := strconv.ParseFloat(strings.TrimSpace(rest), 64)
			if err != nil {
				t.Fatal(err)
			}
			return int(v)
		}
	}
	t.Fatalf("no metric %s", name)
	return 0
}
