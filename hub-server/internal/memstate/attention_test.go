package memstate

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/push"
	"github.com/switchyard-dev/switchyard/hub-server/internal/statetest"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/subject"
)

func TestAttentionOverTheBus(t *testing.T) {
	t.Parallel()
	statetest.Attentions(t, func(t *testing.T, n int) (hubs []statetest.Attention) {
		for i, bus := range buses(t, n) {
			hubs = append(hubs, NewAttention(fmt.Sprint("hub ", i), bus))
		}
		return hubs
	})
}

// noBus carries nothing.
type noBus struct{}

func (noBus) Publish(subject.Subject, []byte) error { return nil }

func (noBus) Listen(context.Context, subject.Pattern, func(subject.Subject, []byte)) (func(), error) {
	return func() {}, nil
}

func TestAGlanceLastsAMinuteAndIsForgottenThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := NewAttention("alone", noBus{})
		stop := runAll(t, a.Run)
		defer stop()
		g, silent := push.Glance{User: id.NewUser(), Device: id.NewDevice()}, push.Glance{User: id.NewUser(), Device: id.NewDevice()}
		a.Look(t.Context(), g)
		a.Look(t.Context(), silent)
		time.Sleep(push.LooksFor - time.Second) //nolint:forbidigo // in a bubble
		if len(a.Looking(t.Context(), g.User)) != 1 {
			t.Error("not looked at after 59 s")
		}
		a.Look(t.Context(), g)
		time.Sleep(2 * time.Second) //nolint:forbidigo // in a bubble
		if len(a.Looking(t.Context(), g.User)) != 1 {
			t.Error("not looked at 2 s after it has said so again")
		}
		time.Sleep(3 * push.LooksFor) //nolint:forbidigo // in a bubble
		if got := a.Looking(t.Context(), g.User); len(got) > 0 {
			t.Errorf("still looked at: %+v", got)
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		if len(a.people) > 0 {
			t.Errorf("what nobody asks for is kept: %v", a.people)
		}
	})
}
