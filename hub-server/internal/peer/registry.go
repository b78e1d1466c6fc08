package peer

import (
	"context"
	"fmt"
	"log/slog"
	"time"
)

const (
	beatEvery = 5 * time.Second
	// silence is after how long without a beat a process counts as gone. A process may be frozen for a minute and go on (docs/guarantees.md).
	silence = 90 * time.Second
	// jump is by how much a look may come late before everything observed is forgotten: this process was frozen itself.
	jump = 3 * beatEvery
	// farewell bounds the last statement of a process that stops.
	farewell = 2 * time.Second
)

// Registry is one hub process's place on the list, and its eye on the others.
type Registry struct {
	// Alone says that this process hears nothing of others. It then warns of each other one that it sees to live. Set it before Run.
	Alone bool

	store   Store
	me      ID
	log     *slog.Logger
	ready   chan struct{}
	started time.Time

	heard    map[ID]heard // owned by Run
	lastLook time.Time
}

// heard is the newest beat of a process, and since when no newer one was seen.
type heard struct {
	beat  int64
	since time.Time // monotonic
	// warned is set once this process has warned of it.
	warned bool
}

// NewRegistry returns the registry of the process me.
func NewRegistry(store Store, me ID, log *slog.Logger) *Registry {
	return &Registry{store: store, me: me, log: log, ready: make(chan struct{}), started: time.Now(), heard: map[ID]heard{}}
}

// Ready is closed once this process is on the list.
func (r *Registry) Ready() <-chan struct{} { return r.ready }

// Run keeps this process on the list until ctx ends, and crosses off those that have fallen silent. It fails if it cannot get on the list;
// later trouble with the store is logged and tried again.
func (r *Registry) Run(ctx context.Context) error {
	if err := r.store.Announce(ctx, r.me, r.started); err != nil {
		return fmt.Errorf("announce this hub: %w", err)
	}
	close(r.ready)
	defer r.leave(context.WithoutCancel(ctx))
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := r.beat(ctx, time.Now()); err != nil && ctx.Err() == nil {
			r.log.Error("list of hubs cannot be kept", "error", err)
		}
	}
}

func (r *Registry) beat(ctx context.Context, at time.Time) error {
	if err := r.store.Announce(ctx, r.me, r.started); err != nil {
		return err
	}
	peers, err := r.store.Peers(ctx)
	if err != nil {
		return err
	}
	for _, gone := range r.observe(peers, at) {
		forgotten, err := r.store.Forget(ctx, gone)
		if err != nil {
			return err
		}
		if forgotten {
			r.log.Warn("a hub has fallen silent", "hub", gone.ID)
		}
	}
	return nil
}

// observe notes who has moved since the last look, and returns those who have not for the whole period.
func (r *Registry) observe(peers []Peer, at time.Time) (gone []Peer) {
	late := !r.lastLook.IsZero() && at.Sub(r.lastLook) > beatEvery+jump
	r.lastLook = at
	now := map[ID]heard{}
	for _, p := range peers {
		if p.ID == r.me {
			continue
		}
		before, known := r.heard[p.ID]
		if known && r.Alone && !before.warned && before.beat != p.Beat {
			before.warned = true
			r.log.Warn("another hub works on this store, and neither hears at once what is done at the other: give both HUB_NATS_URL", "hub", p.ID)
		}
		if !known || late || before.beat != p.Beat {
			before = heard{beat: p.Beat, since: at, warned: before.warned}
		}
		now[p.ID] = before
		if at.Sub(before.since) >= silence {
			gone = append(gone, p)
		}
	}
	r.heard = now
	return gone
}

func (r *Registry) leave(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, farewell)
	defer cancel()
	if err := r.store.Leave(ctx, r.me); err != nil {
		r.log.Warn("this hub stays on the list of hubs until another misses it", "error", err)
	}
}
