package fanload

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// served opens a socket to a server that speaks through a library.
func served(t *testing.T, speak func(context.Context, *websocket.Conn) error) *socket {
	t.Helper()
	ended := make(chan error, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, nil)
		if err == nil {
			c.SetReadLimit(-1)
			err = speak(r.Context(), c)
		}
		ended <- err
	}))
	t.Cleanup(server.Close)
	s, err := openSocket(t.Context(), server.URL, "/", "", 64)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.cut()
		if err := <-ended; err != nil {
			t.Errorf("the server: %v", err)
		}
	})
	return s
}

func TestFramesOfEverySizeComeAndGo(t *testing.T) {
	sizes := []int{0, 1, 63, 125, 126, 127, 1000, 65535, 65536, 200_000}
	s := served(t, func(ctx context.Context, c *websocket.Conn) error {
		for range sizes {
			kind, data, err := c.Read(ctx)
			if err != nil {
				return err
			}
			if err := c.Write(ctx, kind, data); err != nil {
				return err
			}
		}
		return nil
	})
	for _, size := range sizes {
		sent := strings.Repeat("x", size)
		if err := s.send([]byte(sent)); err != nil {
			t.Fatal(err)
		}
		if got, err := s.message(); err != nil || string(got) != sent {
			t.Fatalf("%d bytes came back as %d, %v", size, len(got), err)
		}
	}
}

func TestAPingIsAnsweredAndACloseIsToldWhy(t *testing.T) {
	pinged := make(chan error, 1)
	s := served(t, func(ctx context.Context, c *websocket.Conn) error {
		ctx, cancel := context.WithTimeout(c.CloseRead(ctx), 10*time.Second)
		defer cancel()
		pinged <- c.Ping(ctx)
		c.Close(websocket.StatusTryAgainLater, "later") //nolint:errcheck // the client answers no close
		return nil
	})
	_, err := s.message()
	if err == nil || !strings.Contains(err.Error(), "1013 later") {
		t.Errorf("the close was read as %v", err)
	}
	s.cut()
	if err := <-pinged; err != nil {
		t.Errorf("the ping: %v", err)
	}
}

func TestARefusedUpgradeIsAnError(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	if _, err := openSocket(t.Context(), server.URL, "/", "", 64); err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("answered %v", err)
	}
}
