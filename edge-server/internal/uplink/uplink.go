// Package uplink is the edge's end of the wire to its hub (architecture 6.5): one authenticated WebSocket to the hub's own port, inside it a
// NATS connection, on it journal rows up and commands down. What to say about rows is decided by lane.Sender; the rest of the package is a thin
// shell of goroutines around it. A connection is never repaired: whatever goes wrong ends it, and the next one begins with hello.
package uplink

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/switchyard-dev/switchyard/edge-server/internal/journal"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Commands receives what the hub orders.
type Commands interface {
	// Ready is closed when commands may be received. The uplink does not connect before.
	Ready() <-chan struct{}
	// Receive answers one command; the receipt is on disk when it is returned. An error means no answer now: the hub asks again. It is
	// called from one goroutine at a time, with the commands in the order in which they came.
	Receive(ctx context.Context, c wire.Command) (wire.CommandReceipt, error)
	// LiveRuns are the runs whose process this edge holds or whose start is still pending.
	LiveRuns() []id.Run
}

// Profiles says what this edge can run. Safe for concurrent use; never blocks.
type Profiles interface {
	// Profiles returns what can be run now, and a channel that is closed when that has changed.
	Profiles() (now []wire.Profile, changed <-chan struct{})
}

// Identity is what enrolment gave this edge.
type Identity struct {
	HubURL     string // http(s) address of the hub
	Edge       id.Edge
	Credential string // secret
}

// Options of New. All are required.
type Options struct {
	Identity Identity
	Version  string
	Hostname string
	Profiles Profiles
	Journal  *journal.Journal
	Commands Commands
	Log      *slog.Logger
	Metrics  *telemetry.Registry
}

// Uplink keeps the edge connected. State is safe for concurrent use.
type Uplink struct {
	opts    Options
	hub     *hub
	metrics *metrics

	watermark wire.ProducerSeq // at the last welcome; owned by the connection's loop

	mu     sync.Mutex
	status Status
}

// New returns an Uplink; nothing happens before Run. The error says what is wrong with the identity.
func New(opts Options) (*Uplink, error) {
	h, err := newHub(opts.Identity)
	if err != nil {
		return nil, err
	}
	return &Uplink{opts: opts, hub: h, metrics: newMetrics(opts.Metrics), status: Status{State: Connecting, Since: time.Now()}}, nil
}

// Run connects, serves the connection until it ends, and connects again, until ctx ends or the hub says that coming back is of no use. It
// fails only when the owner has removed this edge: then nothing should run here any more. An edge without a hub, or whose hub does not know
// it, goes on journalling. When ctx ends it stays for a moment, until the last rows are committed: what
// writes rows should have stopped before.
func (u *Uplink) Run(ctx context.Context) error {
	defer u.hub.close()
	select {
	case <-u.opts.Commands.Ready():
	case <-ctx.Done():
		return nil
	}
	var b backoff
	for ctx.Err() == nil {
		began := time.Now()
		end := u.connect(ctx)
		if ctx.Err() != nil {
			return nil
		}
		u.report(ctx, end)
		if fault.CodeOf(end.cause) == fault.EdgeRevoked {
			return end.cause
		}
		if end.final {
			<-ctx.Done()
			return nil
		}
		if end.useful || end.opened && time.Since(began) > time.Second {
			b.reset()
		}
		if !end.slept {
			b.wait(ctx)
		}
	}
	return nil
}

// ending is how a connection ended.
type ending struct {
	cause  error
	opened bool // the hub had taken the lane
	useful bool // and committed rows
	final  bool // the hub does not want this edge to come back
	slept  bool // this machine was asleep: the connection is not to blame
}

func (u *Uplink) report(ctx context.Context, end ending) {
	level := slog.LevelWarn
	if was := u.Status(); !end.opened && !end.final && was.Detail != "" {
		level = slog.LevelDebug // one more attempt that failed says nothing new
	}
	u.opts.Log.Log(ctx, level, "uplink ended", "error", end.cause, "opened", end.opened, "final", end.final)
	u.metrics.endings.Inc()
	state := Connecting
	code := fault.CodeOf(end.cause)
	if end.final || code == fault.Unauthenticated || code == fault.EdgeRevoked {
		state = Refused
	}
	u.setStatus(state, end.cause)
}

// backoff waits longer each time, with jitter so that many edges do not come back at once.
type backoff struct{ last time.Duration }

const (
	firstBackoff = 100 * time.Millisecond
	maxBackoff   = 10 * time.Second
)

func (b *backoff) reset() { b.last = 0 }

// wait returns early when ctx ends or the machine has been asleep.
func (b *backoff) wait(ctx context.Context) {
	b.last = min(max(2*b.last, firstBackoff), maxBackoff)
	deadline := time.NewTimer(b.last/2 + rand.N(b.last/2+1))
	defer deadline.Stop()
	w := newSleepWatch()
	defer w.stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-deadline.C:
			return
		case <-w.tick():
			if w.slept() {
				return
			}
		}
	}
}

// errSlept ends a connection after the machine was asleep: the other end has most likely given it up.
var errSlept = errors.New("this machine was asleep")

// errFloorMoved ends a connection that was about to greet with a floor that rows have just been trimmed above.
var errFloorMoved = errors.New("the journal was trimmed meanwhile")
