package delivery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

const (
	pollEvery      = time.Second // the floor when every hint is lost
	tailRows       = 512         // rows of one read
	catchUpsAtOnce = 4           // streams that read the store; the tail keeps its share of its connections
	queueBytes     = 256 << 10   // default of Config.QueueBytes
)

// Config is what a Tail needs.
type Config struct {
	Log     *slog.Logger
	Metrics *telemetry.Registry
	Outbox  Outbox
	Expand  Expander
	Epoch   func() wire.Epoch // the store's, now: a restore may remake it
	Seen    func([]Row)       // told of rows as soon as they are read, before anybody gets them; must not block. May be nil

	// QueueBytes is how much waits for an attached stream before it goes back to catching up; 0 means 256 KiB.
	QueueBytes int
}

// Tail reads the outbox of the store once for all connections of a hub process and hands each row, in position order, to the streams
// it is for (architecture 8). Run reads; the other methods are safe for concurrent use.
type Tail struct {
	log     *slog.Logger
	outbox  Outbox
	expand  Expander
	epoch   func() wire.Epoch
	seen    func([]Row)
	metrics *metrics
	room    int // of a queue, in bytes

	wake     chan struct{}
	ready    chan struct{} // closed when pos is known
	catchUps chan struct{} // a token per stream that reads the store

	mu     sync.Mutex // taken before the lock of a stream
	pos    Position   // everything up to here has been offered to attached streams
	roster roster
	recent recent

	queued atomic.Int64 // bytes that wait for attached streams, once per stream
}

// NewTail returns a tail that starts at the head of the outbox when it is run.
func NewTail(c Config) *Tail {
	t := &Tail{
		log: c.Log, outbox: c.Outbox, expand: c.Expand, epoch: c.Epoch, seen: c.Seen, metrics: newMetrics(c.Metrics),
		room: cmp.Or(c.QueueBytes, queueBytes), wake: make(chan struct{}, 1), ready: make(chan struct{}), catchUps: make(chan struct{}, catchUpsAtOnce), roster: newRoster(), recent: newRecent(),
	}
	c.Metrics.GaugeFunc("delivery_queue_bytes", "Bytes queued for attached streams. Frames are shared: this counts them once per stream.",
		func() float64 { return float64(t.queued.Load()) })
	return t
}

// Wake says that the outbox may have grown. It never blocks, and any number of calls may be lost.
func (t *Tail) Wake() { signal(t.wake) }

// Ready is closed when the tail knows where it begins; streams open after that.
func (t *Tail) Ready() <-chan struct{} { return t.ready }

// Epoch is the store's epoch now.
func (t *Tail) Epoch() wire.Epoch { return t.epoch() }

// Position is how far the tail has come: attached streams have been offered everything up to it.
func (t *Tail) Position() Position {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.pos
}

// InSession says whether a user who has a stream here is in a conversation, as of the tail's position.
func (t *Tail) InSession(user id.User, session id.Session) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	m, ok := t.roster.members[user]
	if !ok {
		return false
	}
	_, in := m.sessions[session]
	return in
}

// Run reads and delivers until ctx ends. A store that cannot be read is asked again; nothing is ever skipped. It fails only with ErrTrimmed.
func (t *Tail) Run(ctx context.Context) error {
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	advance := t.Start
	for {
		more, err := advance(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if errors.Is(err, ErrTrimmed) {
			return err // the streams that are fed from here have missed something: a new start tells their clients
		}
		if err != nil {
			t.log.Error("outbox tail stands still, will retry", "position", t.Position(), "error", err)
		}
		if more {
			advance = t.Step
			continue
		}
		select {
		case <-ctx.Done():
			return nil
		case <-t.wake:
		case <-poll.C:
		}
	}
}

// Start begins at the head: whoever connects later reads what is before it from the store. Then there is more to do: Step. Run calls both;
// they are there for whoever has a clock of their own.
func (t *Tail) Start(ctx context.Context) (more bool, err error) {
	bounds, err := t.outbox.Bounds(ctx)
	if err != nil {
		return false, fmt.Errorf("find head of outbox: %w", err)
	}
	t.mu.Lock()
	t.pos = bounds.Head
	t.mu.Unlock()
	t.metrics.position.Set(float64(bounds.Head))
	close(t.ready)
	return true, nil
}

// Step reads once and delivers what it got; more says that there may be more at once.
func (t *Tail) Step(ctx context.Context) (more bool, err error) {
	after := t.Position()
	rows, err := t.outbox.Rows(ctx, after, tailRows)
	if err != nil {
		return false, fmt.Errorf("read outbox after %d: %w", after, err)
	}
	t.metrics.waiting.Set(float64(len(rows)))
	whole := contiguous(after, rows)
	if t.seen != nil && whole > 0 {
		t.seen(rows[:whole])
	}
	for left := rows[:whole]; len(left) > 0; {
		n := portion(len(left), func(i int) int { return left[i].weight() })
		if err := t.deliverAll(ctx, left[:n]); err != nil {
			return false, err
		}
		left = left[n:]
	}
	if whole == 0 && len(rows) > 0 {
		if err := t.checkFloor(ctx, after); err != nil {
			return false, err
		}
	}
	if whole < len(rows) {
		t.metrics.holes.Inc()
		t.log.Warn("hole in the outbox, reading again", "after", t.Position(), "next", rows[whole].Position)
		return false, nil
	}
	t.metrics.waiting.Set(0)
	return len(rows) == tailRows, nil
}

// checkFloor tells a hole that will be filled from one that never will: this process was stopped for longer than rows are kept.
func (t *Tail) checkFloor(ctx context.Context, after Position) error {
	bounds, err := t.outbox.Bounds(ctx)
	if err != nil {
		return fmt.Errorf("find floor of outbox: %w", err)
	}
	if after < bounds.Floor {
		return fmt.Errorf("go on after %d with a floor of %d: %w", after, bounds.Floor, ErrTrimmed)
	}
	return nil
}

// contiguous returns how many rows follow after without a hole.
func contiguous(after Position, rows []Row) int {
	for i, row := range rows {
		if row.Position != after+Position(i)+1 {
			return i
		}
	}
	return len(rows)
}

// deliverAll hands rows to the people whom they are for.
func (t *Tail) deliverAll(ctx context.Context, rows []Row) error {
	ahead := t.foresee(ctx, rows)
	for len(rows) > 0 {
		n, err := t.deliver(ctx, rows[:together(rows)], ahead)
		if err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// deliver hands rows that are for the same people to them and says how many of them, at least one without an error. A row is expanded only
// if somebody here is to have it. The store is read outside the lock; who attaches meanwhile gets them too.
func (t *Tail) deliver(ctx context.Context, rows []Row, ahead foresight) (done int, err error) {
	if t.pass(rows) {
		return len(rows), nil
	}
	var seen views
	handed := make([]*passed, 0, len(rows))
	for _, row := range rows {
		expansion, err := t.expansionOf(ctx, row, ahead)
		if err != nil {
			t.hand(handed, &seen)
			return len(handed), err
		}
		frames := t.encode(row, expansion)
		if !seen.add(row, frames) {
			break
		}
		handed = append(handed, &passed{row: row, frames: frames, encoded: true})
		if seen.full() {
			break
		}
	}
	t.hand(handed, &seen)
	return len(handed), nil
}

// pass moves the tail on behind rows that nobody here is to have; false, and nothing, if somebody is.
func (t *Tail) pass(rows []Row) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.apply(rows[0])
	if len(t.roster.audience(rows[0].Audience)) > 0 {
		return false
	}
	for _, row := range rows {
		t.recent.add(&passed{row: row})
	}
	t.moveTo(rows[len(rows)-1].Position, len(rows))
	return true
}

// hand gives rows to their audience and moves the tail on.
func (t *Tail) hand(rows []*passed, seen *views) {
	if len(rows) == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.apply(rows[0].row) // once more is the same as once
	for _, s := range t.roster.audience(rows[0].row.Audience) {
		if !s.offer(seen.of(s.member.user)) {
			t.detach(s)
		}
	}
	for _, p := range rows {
		t.recent.add(p)
	}
	t.moveTo(rows[len(rows)-1].row.Position, len(rows))
}

// apply moves a membership. The lock is held.
func (t *Tail) apply(row Row) {
	t.roster.apply(row)
	t.recent.change(row)
}

// moveTo notes how far the tail has come, by so many rows. The lock is held.
func (t *Tail) moveTo(p Position, rows int) {
	t.pos = p
	t.metrics.rows.Add(float64(rows))
	t.metrics.position.Set(float64(p))
}
