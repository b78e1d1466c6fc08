package hub

import (
	"context"
	"crypto/hkdf"
	"crypto/sha256"
	"fmt"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
	"github.com/switchyard-dev/switchyard/hub-server/internal/httpapi"
	"github.com/switchyard-dev/switchyard/hub-server/internal/memstate"
	"github.com/switchyard-dev/switchyard/hub-server/internal/presence"
	"github.com/switchyard-dev/switchyard/hub-server/internal/push"
	"github.com/switchyard-dev/switchyard/hub-server/internal/redisstate"
	"github.com/switchyard-dev/switchyard/hub-server/internal/uplink"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/supervise"
)

// volatile is the state that may be lost at any moment: in this process and on the bus between hubs, and in Redis too if there is one.
type volatile struct {
	redis     *redisstate.Link // nil without Redis
	edges     edgePresence
	people    people
	attention attention
	signals   signals
	limiter   httpapi.Limiter
}

// people knows who is connected to any hub of the store.
type people interface {
	presence.Crowd
	Run(ctx context.Context) error
}

// edgePresence knows which edges are connected to any hub of the store.
type edgePresence interface {
	fleet.Presence
	uplink.Presence
	Run(ctx context.Context) error
}

// attention knows what people look at, at any hub of the store.
type attention interface {
	push.Attention
	Run(ctx context.Context) error
}

// signals are what hubs tell one another at once. None is heard by the hub that sends it, or it changes nothing there.
type signals interface {
	LoginEnded(f account.Family)
	EdgeRevoked(e id.Edge)
	CommandsWait(e id.Edge)
	ContactChanged(p presence.Pair)
	uplink.Others
	Run(ctx context.Context) error
}

func (h *Hub) openVolatile() error {
	heard := memstate.Heard{
		EdgeArrived:  func(a fleet.Arrival) { h.services.uplink.ArrivedElsewhere(a) },
		EdgeDoubted:  func(d fleet.Doubt) { h.services.uplink.Doubted(d) },
		LoginEnded:   func(f account.Family) { h.services.gate.CloseFamily(f) },
		EdgeRevoked:  func(e id.Edge) { h.services.uplink.RevokedElsewhere(e) },
		CommandsWait: func(e id.Edge) { h.services.uplink.Wake(e) },

		ContactChanged: func(p presence.Pair) { h.services.friends.ContactChanged(p) },
	}
	near := memstate.NewPresence(h.name, h.hubBus)
	told := memstate.NewSignals(h.name, h.hubBus, heard, h.log)
	seen := memstate.NewAttention(h.name, h.hubBus)
	there := memstate.NewPeople(h.name, h.hubBus)
	v := &h.services.volatile
	v.edges, v.people, v.attention, v.signals, v.limiter = near, there, seen, told, memstate.NewLimiter()
	if h.opts.Config.RedisURL == "" {
		return nil
	}
	secret, err := namesKey([]byte(h.services.keys.Current().Answers))
	if err != nil {
		return fmt.Errorf("HUB_KEYS_FILE: %w", err)
	}
	link, err := redisstate.NewLink(string(h.opts.Config.RedisURL), secret, h.log, h.registry)
	if err != nil {
		return fmt.Errorf("HUB_REDIS_URL: %w", err)
	}
	h.closers = append(h.closers, link.Close)
	far := redisstate.NewPresence(h.name, link, near)
	v.redis, v.edges, v.people = link, far, redisstate.NewPeople(h.name, link, there)
	v.attention = redisstate.NewAttention(link, seen)
	v.signals = redisstate.NewSignals(h.name, link, told, far, redisstate.Heard(heard))
	v.limiter = redisstate.NewLimiter(link, v.limiter)
	return nil
}

// namesKey is the key that hides names in Redis: one of its own, so that what is seen there says nothing of the key that it comes from.
func namesKey(from []byte) ([]byte, error) {
	return hkdf.Key(sha256.New, from, nil, "switchyard: names in redis", sha256.Size)
}

// run keeps all of it until ctx ends.
func (v *volatile) run(ctx context.Context) error {
	if v.redis == nil {
		return supervise.All(ctx, v.edges.Run, v.people.Run, v.attention.Run, v.signals.Run)
	}
	return supervise.All(ctx, v.redis.Run, v.edges.Run, v.people.Run, v.attention.Run, v.signals.Run)
}

// alone says that no other hub could hear this one.
func (h *Hub) alone() bool { return h.hubBus == h.local && h.services.redis == nil }
