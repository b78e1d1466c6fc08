package eventsocket_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/switchyard-dev/switchyard/edge-server/internal/eventsocket"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const marker = "switchyard.test.v1"

// serve serves sockets with write until the test ends or stop is called; why each of them ended goes to ended.
func serve(t *testing.T, write func(context.Context, eventsocket.Send) error) (url string, ended <-chan error, stop func()) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	causes := make(chan error, 1)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s, err := eventsocket.Accept(w, r, marker)
		if err != nil {
			causes <- err
			return
		}
		causes <- s.Serve(r.Context(), write)
	}))
	server.Config.BaseContext = func(net.Listener) context.Context { return ctx }
	server.Start()
	t.Cleanup(func() {
		stop()
		server.Close()
	})
	return server.URL, causes, stop
}

// wait sends nothing.
func wait(ctx context.Context, _ eventsocket.Send) error {
	<-ctx.Done()
	return nil
}

func expectEnd(t *testing.T, who string, err error, want eventsocket.Code) {
	t.Helper()
	var end *eventsocket.End
	if !errors.As(err, &end) || end.Code != want {
		t.Errorf("%s: ended with %v, want %d", who, err, want)
	}
}

func TestMessagesArriveInOrderUntilTheFollowerHasEnough(t *testing.T) {
	url, ended, _ := serve(t, func(_ context.Context, send eventsocket.Send) error {
		for n := 0; ; n++ {
			if err := send(fmt.Appendf(nil, "%d", n)); err != nil {
				return err
			}
		}
	})
	enough := errors.New("enough")
	n := 0
	err := eventsocket.Follow(t.Context(), url, nil, func(message []byte) error {
		if string(message) != fmt.Sprint(n) {
			t.Errorf("message %d is %s", n, message)
		}
		if n++; n == 1000 {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) {
		t.Errorf("got %v", err)
	}
	expectEnd(t, "server", <-ended, eventsocket.Gone)
}

func TestEndOfTheWriterIsTheEndThatTheFollowerSees(t *testing.T) {
	for name, tt := range map[string]struct {
		err  error
		want eventsocket.Code
	}{
		"an end of its own": {&eventsocket.End{Code: eventsocket.Reset, Reason: "anew"}, eventsocket.Reset},
		"any other error":   {errors.New("disk"), eventsocket.TryLater},
	} {
		t.Run(name, func(t *testing.T) {
			url, ended, _ := serve(t, func(context.Context, eventsocket.Send) error { return tt.err })
			expectEnd(t, "follower", eventsocket.Follow(t.Context(), url, nil, nil), tt.want)
			if err := <-ended; !errors.Is(err, tt.err) {
				t.Errorf("server: %v", err)
			}
		})
	}
}

func TestStopClosesWithRestart(t *testing.T) {
	url, ended, stop := serve(t, func(ctx context.Context, send eventsocket.Send) error {
		if err := send([]byte("here")); err != nil {
			return err
		}
		return wait(ctx, send)
	})
	err := eventsocket.Follow(t.Context(), url, nil, func([]byte) error { stop(); return nil })
	expectEnd(t, "follower", err, eventsocket.Restart)
	expectEnd(t, "server", <-ended, eventsocket.Restart)
}

// A follower that neither reads nor answers the close is cut off, and holds up nobody who stops.
func TestFollowerThatDoesNotAnswerTheCloseIsCutOff(t *testing.T) {
	url, ended, stop := serve(t, wait)
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte(upgrade)); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	stop()
	select {
	case err := <-ended:
		expectEnd(t, "server", err, eventsocket.Restart)
	case <-time.After(4 * time.Second): // the library alone would wait for 5
		t.Error("the stop waits for the follower")
	}
}

func TestFollowerThatSpeaksIsSentAway(t *testing.T) {
	for name, tt := range map[string]struct {
		size int
		want websocket.StatusCode
		why  eventsocket.Code
	}{
		"a word":   {4, websocket.StatusPolicyViolation, eventsocket.Unwanted},
		"too much": {5 << 10, websocket.StatusMessageTooBig, eventsocket.Gone},
	} {
		t.Run(name, func(t *testing.T) {
			url, ended, _ := serve(t, wait)
			conn, _, err := websocket.Dial(t.Context(), url, &websocket.DialOptions{Subprotocols: []string{marker}})
			if err != nil {
				t.Fatal(err)
			}
			defer conn.CloseNow()
			if conn.Subprotocol() != marker {
				t.Errorf("subprotocol is %q", conn.Subprotocol())
			}
			if err := conn.Write(t.Context(), websocket.MessageText, make([]byte, tt.size)); err != nil {
				t.Fatal(err)
			}
			if _, _, err := conn.Read(t.Context()); websocket.CloseStatus(err) != tt.want {
				t.Errorf("got %v", err)
			}
			expectEnd(t, "server", <-ended, tt.why)
		})
	}
}

func TestRefusalIsShownToTheFollower(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusTeapot) }))
	defer server.Close()
	var refused *eventsocket.Refused
	err := eventsocket.Follow(t.Context(), server.URL, nil, nil)
	if !errors.As(err, &refused) || refused.Status != http.StatusTeapot || string(refused.Body) != "no\n" {
		t.Errorf("got %v", err)
	}
	server.Close()
	if err := eventsocket.Follow(t.Context(), server.URL, nil, nil); err == nil || errors.As(err, &refused) {
		t.Errorf("nobody listens: %v", err)
	}
}

func TestFollowerWhoseContextEndsIsDone(t *testing.T) {
	url, ended, _ := serve(t, func(ctx context.Context, send eventsocket.Send) error {
		if err := send([]byte("here")); err != nil {
			return err
		}
		return wait(ctx, send)
	})
	ctx, cancel := context.WithCancel(t.Context())
	if err := eventsocket.Follow(ctx, url, nil, func([]byte) error { cancel(); return nil }); err != nil {
		t.Error(err)
	}
	expectEnd(t, "server", <-ended, eventsocket.Gone)
}
