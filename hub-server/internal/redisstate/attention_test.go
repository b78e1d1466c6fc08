package redisstate

import (
	"context"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/push"
	"github.com/switchyard-dev/switchyard/hub-server/internal/statetest"
	"github.com/switchyard-dev/switchyard/hub-server/internal/testredis"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// blind is a twin that knows nothing and tells nobody.
type blind struct{ deaf }

func (blind) Look(context.Context, push.Glance)              { /* knows nothing */ }
func (blind) Away(context.Context, id.User, id.Device)       { /* knows nothing */ }
func (blind) Looking(context.Context, id.User) []push.Glance { return nil }

// remembers is a twin that has seen one glance.
type remembers struct {
	blind
	push.Glance
}

func (r remembers) Looking(context.Context, id.User) []push.Glance { return []push.Glance{r.Glance} }

func TestAttentionInRedis(t *testing.T) {
	t.Parallel()
	server := testredis.Start(t)
	statetest.Attentions(t, func(t *testing.T, n int) (hubs []statetest.Attention) {
		for range n {
			hubs = append(hubs, NewAttention(link(t, server), blind{}))
		}
		return hubs
	})
}

func TestAGlanceInRedisExpiresWithinAMinute(t *testing.T) {
	t.Parallel()
	l := link(t, testredis.Start(t))
	a := NewAttention(l, blind{})
	g := push.Glance{User: id.NewUser(), Device: id.NewDevice()}
	a.Look(t.Context(), g)
	for _, key := range []string{l.keys.glance(g.Device), l.keys.glances(g.User)} {
		left := l.client.PTTL(t.Context(), key).Val()
		if left <= push.LooksFor/2 || left > push.LooksFor {
			t.Errorf("%s is left", left)
		}
	}
	if err := l.client.PExpire(t.Context(), l.keys.glance(g.Device), time.Millisecond).Err(); err != nil {
		t.Fatal(err)
	}
	within(t, "not looked at once it has expired", func() bool { return len(a.Looking(t.Context(), g.User)) == 0 })
}

func TestWithoutRedisTheTwinSaysWhatIsLookedAt(t *testing.T) {
	t.Parallel()
	g := push.Glance{User: id.NewUser(), Device: id.NewDevice()}
	a := NewAttention(stopped(t, testredis.Start(t)), remembers{Glance: g})
	a.Look(t.Context(), g)
	if got := a.Looking(t.Context(), g.User); len(got) != 1 || got[0] != g {
		t.Errorf("got %+v", got)
	}
}
