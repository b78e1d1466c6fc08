// Package gate serves /client/ws: it lets people's devices in, writes the frames that package delivery hands it, and closes what must
// be closed (architecture 8, S3 hub plane). frame.go names the frames.
package gate

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"runtime"
	"sync/atomic"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/subject"
	"github.com/switchyard-dev/switchyard/shared/supervise"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
)

// What a hub allows when nothing else is said.
const (
	defaultPerUser = 10
	defaultOpening = 1000
)

var defaultInbound = Rate{PerSecond: 10, Burst: 20}

// Devices knows who is behind a credential. Safe for concurrent use.
type Devices interface {
	// Authenticate returns the principal of a token that is valid now; fault.Unauthenticated otherwise.
	Authenticate(ctx context.Context, token account.AccessToken) (account.Principal, error)

	// FamilyAlive says whether sockets of the family may stay open. On an error nobody knows.
	FamilyAlive(ctx context.Context, family account.Family) (bool, error)
}

// Deps is what a Gate works with.
type Deps struct {
	Log     *slog.Logger
	Metrics *telemetry.Registry
	Devices Devices
	Tail    *delivery.Tail
	Planner delivery.Planner
	Marks   *delivery.Marks
	Bus     Bus

	// Origins of browser pages that may connect, exactly as a browser writes them: scheme://host[:port].
	Origins []string

	// PerUser is how many connections one user may have here; 0 means 10.
	PerUser int

	// Opening is how many connections may be on their way in here at once, from the request to the first frame; 0 means 1000.
	Opening int

	// Inbound is how many frames a client may send; zero means 10 a second, 20 at once. Those above are ignored.
	Inbound Rate

	// Kicked is told of each login whose sockets CloseFamily closes. It must not block; it may be nil.
	Kicked func(account.Family)

	// Presence is told who is connected here, and knows which friends are. It may be nil: then nobody is told of friends.
	Presence Presence

	// Problem answers a request that is refused before the upgrade.
	Problem func(http.ResponseWriter, *http.Request, error)
}

// Gate serves GET /client/ws and owns the connections of this hub process. Safe for concurrent use.
type Gate struct {
	Deps
	metrics *metrics
	conns   *registry
	door    Admission
	buffers bufferPool
	opening Doorway
	turns   turns // of those who open or catch up
	shards  []*shard
	turn    atomic.Uint32 // of the shards
	self    id.Connection // names this hub to the others
}

// New returns a gate; it serves until Run ends.
func New(d Deps) *Gate {
	d.PerUser, d.Opening, d.Inbound = cmp.Or(d.PerUser, defaultPerUser), cmp.Or(d.Opening, defaultOpening), cmp.Or(d.Inbound, defaultInbound)
	g := &Gate{
		Deps: d, metrics: newMetrics(d.Metrics), conns: newRegistry(d.PerUser), door: NewAdmission(d.Devices, d.Origins),
		opening: NewDoorway(d.Opening), turns: newTurns(), self: id.NewConnection(),
	}
	for range runtime.GOMAXPROCS(0) {
		g.shards = append(g.shards, newShard(func(frames int) { g.metrics.frames.Add(float64(frames)) }))
	}
	return g
}

// shardFor gives each shard its turn.
func (g *Gate) shardFor() *shard {
	return g.shards[int(g.turn.Add(1))%len(g.shards)]
}

// Run listens to the other hubs until ctx ends; then it lets nobody in any more, closes every connection with 1012 and waits for them.
func (g *Gate) Run(ctx context.Context) error {
	writers := supervise.NewGroup(context.WithoutCancel(ctx)) // until the last connection is closed
	for _, s := range g.shards {
		writers.Go(s.run)
	}
	defer writers.Wait() //nolint:errcheck // they do not fail
	defer writers.Cancel()
	defer g.conns.open.Wait()
	defer g.drain()
	stop, err := g.listen(ctx)
	if err != nil {
		return err
	}
	defer stop()
	<-ctx.Done()
	return nil
}

func (g *Gate) drain() {
	for _, c := range g.conns.shut() {
		c.end(restart())
	}
}

// ServeHTTP judges the credential, upgrades, and leaves the connection to goroutines of its own: the server's part of a connection is
// worth more memory than ours.
func (g *Gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !g.opening.Enter() {
		g.refuse(w, r, fault.New(fault.Busy, "Too many devices connect at this moment. Connect again in a moment."))
		return
	}
	if c := g.upgrade(w, r); c != nil {
		g.start(c) //nolint:contextcheck // the connection outlives its request
		return
	}
	g.opening.Leave()
}

// upgrade makes the request a connection; nil if it has been answered otherwise.
func (g *Gate) upgrade(w http.ResponseWriter, r *http.Request) *conn {
	if err := g.turns.take(r.Context()); err != nil {
		return nil // nobody is there any more
	}
	defer g.turns.back()
	c, err := g.letIn(r)
	if err != nil {
		g.refuse(w, r, err)
		return nil
	}
	if err := g.accept(w, r, c); err != nil {
		g.conns.remove(c)
		g.Log.Info("client upgrade failed", "error", err)
		return nil
	}
	return c
}

// letIn judges the request and takes a place for its connection.
func (g *Gate) letIn(r *http.Request) (*conn, error) {
	who, err := g.door.Admit(r)
	if err != nil {
		return nil, err
	}
	c := g.newConn(who, r.URL.Query().Get("cursor"))
	return c, g.conns.reserve(c)
}

func (g *Gate) accept(w http.ResponseWriter, r *http.Request, c *conn) (err error) {
	c.socket, c.out, err = accept(w, r, &g.buffers, c.mayPong, c.heardPong)
	if err != nil {
		return err
	}
	c.socket.SetReadLimit(readLimit)
	c.out.wake = c.wake
	return nil
}

func (g *Gate) refuse(w http.ResponseWriter, r *http.Request, err error) {
	g.metrics.refused.With(string(fault.CodeOf(err))).Inc()
	g.Problem(w, r, err)
}

// start serves the connection and sends those that had its device before away.
func (g *Gate) start(c *conn) {
	older, refused := g.conns.add(c)
	if refused != nil {
		c.end(refused)
	} else {
		g.replace(older)
		g.tell(subject.Kick, c.word())
	}
	g.metrics.connections.Inc()
	gone := g.present(c, refused == nil)
	go func() {
		defer g.conns.remove(c)
		defer g.metrics.connections.Dec()
		defer gone()
		c.serve()
	}()
}

// CloseFamily closes the sockets of a refresh family that ended on this hub. It does not block.
func (g *Gate) CloseFamily(f account.Family) {
	if g.Kicked != nil {
		g.Kicked(f)
	}
	g.endLogin(g.conns.endFamily(f))
}
