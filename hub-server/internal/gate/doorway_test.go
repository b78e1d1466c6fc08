package gate

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// heldDevices lets credentials be judged one by one.
type heldDevices struct {
	*fakeDevices
	asked, judge chan struct{}
}

func (d heldDevices) Authenticate(ctx context.Context, token account.AccessToken) (account.Principal, error) {
	d.asked <- struct{}{}
	<-d.judge
	return d.fakeDevices.Authenticate(ctx, token)
}

// So many may be on their way in; the next one is told to come again, and is let in when one of them has arrived.
func TestWhoComesInACrowdIsToldToComeAgain(t *testing.T) {
	w := newWorld(t)
	held := heldDevices{w.devices, make(chan struct{}), make(chan struct{})}
	h := w.hub(nil, func(d *Deps) { d.Opening, d.Devices = 2, held })
	var token [3]account.AccessToken
	for i := range token {
		token[i], _ = w.login(id.NewUser())
	}
	arrived := make(chan error, 2)
	for _, one := range token[:2] {
		go func() {
			c, _, err := h.tryDial(one, "")
			if err == nil {
				_, err = c.tryNext(10 * time.Second)
			}
			arrived <- err
		}()
		<-held.asked
	}
	if _, resp, err := h.tryDial(token[2], ""); err == nil || resp == nil || resp.StatusCode != http.StatusServiceUnavailable {
		t.Fatalf("the third was let in or answered otherwise: %v", err)
	}
	for range 2 {
		held.judge <- struct{}{}
		if err := <-arrived; err != nil {
			t.Fatal(err)
		}
	}
	go func() {
		<-held.asked
		held.judge <- struct{}{}
	}()
	h.dial(token[2], "").greeted()
}

// A place is given back however an attempt ends.
func TestAnAttemptThatFailsLeavesItsPlace(t *testing.T) {
	h := newWorld(t).hub(nil, func(d *Deps) { d.Opening = 1 })
	for range 3 {
		if _, _, err := h.tryDial("forged", ""); err == nil {
			t.Fatal("a forged credential was let in")
		}
	}
	token, _ := h.world.login(id.NewUser())
	h.dial(token, "").greeted()
}

func TestATurnIsNotWaitedForWithoutEnd(t *testing.T) {
	turns := newTurns()
	for range cap(turns) {
		if err := turns.take(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("gone")
	cancel(gone)
	if err := turns.take(ctx); !errors.Is(err, gone) {
		t.Errorf("got %v", err)
	}
	turns.back()
	if err := turns.take(t.Context()); err != nil {
		t.Error(err)
	}
}
