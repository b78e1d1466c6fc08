package client

import (
	"errors"
	"testing"
	"time"
)

func TestTypingIsToldOverTheStreamThatStands(t *testing.T) {
	h := newFakeHub(t)
	h.said = make(chan string, 1)
	c, _ := h.client(time.Hour)
	if err := c.Typing("sess_1"); !errors.Is(err, ErrNoStream) {
		t.Errorf("without a stream: %v", err)
	}
	f := follow(t, c, &place{})
	heard := make(chan struct{})
	go func() {
		hub := <-h.sockets
		hub.hello("fresh", "c0")
		<-heard
		hub.socket.CloseNow()
	}()
	f.up()
	if err := c.Typing("sess_1"); err != nil {
		t.Fatal(err)
	}
	if got, want := <-h.said, `{"type":"typing","payload":{"session_id":"sess_1"}}`; got != want {
		t.Errorf("the hub heard %s, want %s", got, want)
	}
	close(heard)
	f.down()
	if err := c.Typing("sess_1"); !errors.Is(err, ErrNoStream) {
		t.Errorf("after a cut: %v", err)
	}
}
