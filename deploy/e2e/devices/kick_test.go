package devices

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/switchyard-dev/switchyard/hub-server/client"
)

// kicked connects the same device a second time: the older connection is told and ended, and nobody else hears of it.
func kicked(s *stage, r row) {
	first := s.bob.live.Another("bob's copied one", s.HubURL())
	login, err := first.Keeper.Load()
	if err != nil {
		s.t.Fatal(err)
	}
	copied, err := client.New(client.Options{Hub: s.HubURL(), Keeper: client.NewMemoryKeeper(login)})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, p := range s.people() {
		p.leave(s.t)
	}
	older := s.connect(first.Client)
	newer := s.connect(copied)
	if err := older.ended(); !errors.Is(err, client.ErrKicked) {
		s.t.Errorf("the older connection ended with %v", err)
	}
	if got := keysOf(older.shown, r.frame); !slices.Equal(got, []string{string(r.frame)}) || older.shown[len(older.shown)-1].Type != r.frame {
		s.t.Errorf("the older connection was shown %q", keysOf(older.shown, ""))
	}
	s.valid(older.shown)
	newer.leave()
	if got := keysOf(newer.shown, r.frame); len(got) > 0 {
		s.t.Errorf("the newer connection was shown %q", got)
	}
	for _, p := range s.people() {
		synced := p.comeBack(s.t)
		if got := keysOf(slices.Concat(synced, p.live.frames(), p.away.frames()), r.frame); len(got) > 0 {
			s.t.Errorf("%s: %s was told", r, p.name)
		}
	}
}

// connection is one that a test makes beside the devices of the stage.
type connection struct {
	shown []client.HubWebSocketFrame // valid when it has ended
	why   error
	leave func()
	over  chan struct{}
}

// connect follows with a client and returns when the connection stands.
func (s *stage) connect(c *client.Client) *connection {
	s.t.Helper()
	ctx, cancel := within(s.t)
	n, up := &connection{over: make(chan struct{})}, make(chan struct{})
	stands := sync.OnceFunc(func() { close(up) })
	go func() {
		defer close(n.over)
		for e, err := range c.Stream(ctx, client.KeptByCaller("")) {
			if err != nil {
				n.why = err
				return
			}
			if e.Frame != nil {
				n.shown = append(n.shown, *e.Frame)
				stands()
			}
		}
	}()
	n.leave = func() { cancel(); <-n.over }
	s.t.Cleanup(n.leave)
	select {
	case <-up:
	case <-n.over:
		s.t.Fatalf("connect: %v", n.why)
	}
	return n
}

// ended waits for the end and returns why.
func (n *connection) ended() error {
	<-n.over
	if errors.Is(n.why, context.DeadlineExceeded) {
		return errors.New("nothing has ended it")
	}
	return n.why
}
