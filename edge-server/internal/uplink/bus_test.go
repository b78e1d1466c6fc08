package uplink

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// A link that died without a word takes bytes until the buffers are full, and then holds the writer for as long as it likes.
func TestWriteToADeadLinkFails(t *testing.T) {
	over := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		socket, err := websocket.Accept(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		<-over // nobody reads
		_ = socket.CloseNow()
	}))
	defer s.Close()
	defer close(over)
	//nolint:bodyclose // the library closes it
	socket, _, err := websocket.Dial(t.Context(), s.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	link := newStream(context.Background(), socket, 50*time.Millisecond)
	defer link.Close() //nolint:errcheck // it is broken
	block := []byte(strings.Repeat("x", 1<<20))
	began := time.Now()
	for n := 0; err == nil; n++ {
		if n > 1000 {
			t.Fatal("a dead link took 1 GiB")
		}
		_, err = link.Write(block)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("the write was held for %s", took)
	}
}

func TestSleepIsNoticed(t *testing.T) {
	for name, tt := range map[string]struct {
		steady, wall time.Duration
		want         bool
	}{
		"a second":                 {time.Second, time.Second, false},
		"a late tick":              {4 * time.Second, 4 * time.Second, false},
		"a stopped process":        {time.Minute, time.Minute, true},
		"a suspended machine":      {time.Second, time.Hour, true},
		"a clock that was set":     {time.Second, -time.Hour, true},
		"a clock that is adjusted": {time.Second, 1500 * time.Millisecond, false},
	} {
		if got := jumped(tt.steady, tt.wall); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
