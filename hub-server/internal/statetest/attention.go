package statetest

import (
	"context"
	"slices"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/push"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Attention knows what people look at.
type Attention interface {
	push.Attention
	Run(ctx context.Context) error
}

// Attentions tries that hubs know what others were told. hubs returns the views of a number of hub processes that can hear one another; none runs yet.
func Attentions(t *testing.T, hubs func(t *testing.T, n int) []Attention) {
	t.Helper()
	all := hubs(t, 2)
	for _, h := range all {
		start(t, h.Run)
	}
	here, there := all[0], all[1]
	ctx := t.Context()
	looking := func(a Attention, user id.User, want ...push.Glance) func() bool {
		return func() bool {
			got := a.Looking(ctx, user)
			return len(got) == len(want) && !slices.ContainsFunc(want, func(g push.Glance) bool { return !slices.Contains(got, g) })
		}
	}
	ada, bob := id.NewUser(), id.NewUser()
	phone := push.Glance{User: ada, Device: id.NewDevice(), Session: id.NewSession()}
	laptop := push.Glance{User: ada, Device: id.NewDevice()}
	within(t, patience, "the other hub listens", func() bool { here.Look(ctx, phone); return looking(there, ada, phone)() })
	there.Look(ctx, laptop)
	for _, h := range all {
		within(t, patience, "both devices are looked at", looking(h, ada, phone, laptop))
	}
	moved := phone
	moved.Session = id.NewSession()
	there.Look(ctx, moved)
	within(t, patience, "what a device shows now is in place of what it showed", looking(here, ada, moved, laptop))
	here.Away(ctx, ada, phone.Device)
	for _, h := range all {
		within(t, patience, "a device that was put away is not looked at", looking(h, ada, laptop))
	}
	here.Away(ctx, ada, phone.Device) // again
	there.Away(ctx, ada, laptop.Device)
	for _, h := range all {
		within(t, patience, "nobody looks", looking(h, ada))
		if got := h.Looking(ctx, bob); len(got) > 0 {
			t.Errorf("somebody else looks at %+v", got)
		}
	}
}
