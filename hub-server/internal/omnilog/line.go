package omnilog

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/switchyard-dev/switchyard/hub-server/internal/project/omni"
	"github.com/switchyard-dev/switchyard/shared/id"
	message "github.com/switchyard-dev/switchyard/shared/omni"
)

// toTheEnd is a place that no conversation comes to.
const toTheEnd = int64(math.MaxInt64)

// line is a conversation at its end, folded once for all who read it here.
type line struct {
	logs    *Logs
	session id.Session
	recent  recent
	behind  atomic.Bool // something may have been committed that is not folded yet
	moved   atomic.Bool // runs may have come or ended since active was read

	// Guarded by the lock of logs.
	users   int
	readers map[*Reader]struct{}
	named   int // how often it may have got another title
	task    standing

	turn chan struct{} // holds a token for whoever works with what follows

	fold   *fold    // nil: to be read from the store
	drops  int      // of recent, before the words were read on which the fold depends
	since  int      // facts since the newest checkpoint
	active []Active // runs, as they were before the newest facts were read
}

// View is how a conversation stands at a place.
type View struct {
	Place int64
	Floor int64 // the conversation is kept behind it
	Task
	Version int        // of the task, as Reader.Task has it
	Waiting []id.Run   // runs that wait before they make a request again
	Asks    []omni.Ask // permissions that wait for a person
	Open    []message.Message
	Brought bool // it is a trace that somebody brought: the paths in it are of no edge
}

func newLine(l *Logs, session id.Session) *line {
	n := &line{logs: l, session: session, readers: map[*Reader]struct{}{}, turn: make(chan struct{}, 1)}
	n.behind.Store(true)
	n.moved.Store(true)
	return n
}

// hint says that there may be more to tell. The lock of logs is held.
func (n *line) hint() {
	n.behind.Store(true)
	n.signal()
}

// call has all readers read on: those who came while it was folded have found nothing.
func (n *line) call() {
	n.logs.mu.Lock()
	defer n.logs.mu.Unlock()
	n.signal()
}

// signal tells the readers that there may be more. The lock of logs is held.
func (n *line) signal() {
	for r := range n.readers {
		select {
		case r.ready <- struct{}{}:
		default:
		}
	}
}

// lag leaves what there is to tell to whoever reads next.
func (n *line) lag() {
	n.logs.mu.Lock()
	defer n.logs.mu.Unlock()
	n.hint()
}

// follow folds what was committed, if anything may have been.
func (n *line) follow(ctx context.Context) error {
	if !n.behind.Load() {
		return nil
	}
	return n.work(ctx, func() error { return n.tell(ctx) })
}

// view is how the conversation stands at its end.
func (n *line) view(ctx context.Context) (v View, err error) {
	err = n.work(ctx, func() error {
		if err := n.tell(ctx); err != nil {
			return err
		}
		floor, err := n.logs.store.Floor(ctx, n.session) // it rises while the fold goes on
		if err != nil {
			return err
		}
		s := n.fold.state
		v = View{Place: s.Place(), Floor: floor, Task: n.task.Task, Version: n.task.version, Waiting: s.Waiting(), Asks: s.Asks(), Open: s.Open(), Brought: s.Imported()}
		return nil
	})
	return v, err
}

// work does something with the fold when it is this caller's turn. After trouble, what is stored counts.
func (n *line) work(ctx context.Context, do func() error) error {
	select {
	case n.turn <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-n.turn }()
	if err := do(); err != nil {
		n.fold = nil
		n.lag()
		return fmt.Errorf("tell the messages of %s: %w", n.session, err)
	}
	return nil
}

// tell folds what was committed, for whoever has the turn.
func (n *line) tell(ctx context.Context) error {
	n.behind.Store(false)
	for {
		if err := n.look(ctx); err != nil {
			return err
		}
		ended, err := n.step(ctx)
		if err != nil {
			return err
		}
		if ended && !n.moved.Load() {
			n.stand()
			return nil
		}
	}
}

// step folds a page of facts, and says whether that was the end of the record.
func (n *line) step(ctx context.Context) (ended bool, err error) {
	drops := n.recent.dropped()
	if n.fold == nil || n.drops != drops && n.fold.loose() {
		if err := n.load(ctx); err != nil {
			return false, err
		}
	} else {
		n.drops = drops
	}
	page, err := n.logs.store.Facts(ctx, n.session, n.fold.state.Place(), toTheEnd, n.logs.page)
	if err != nil {
		return false, err
	}
	if page.Gone > 0 {
		n.fold = nil
		return false, n.logs.lost(ctx, n.session, page.Gone)
	}
	if page.UpTo <= n.fold.state.Place() && page.UpTo < page.Head {
		return false, fmt.Errorf("nothing was read behind place %d of %d", page.UpTo, page.Head)
	}
	entries := n.fold.all(page)
	if slices.ContainsFunc(page.Facts, moves) {
		n.moved.Store(true)
	}
	n.logs.metrics.facts.Add(float64(len(page.Facts)))
	if n.recent.add(entries, page.UpTo, n.drops) {
		n.call()
	}
	if n.since += len(page.Facts); n.since >= n.logs.every {
		err = n.save(ctx)
	}
	return page.UpTo >= page.Head && n.fold != nil, err
}

// all applies a page.
func (f *fold) all(page Facts) (entries []Entry) {
	if !f.loose() {
		f.changes = page.Changes
	}
	for _, fact := range page.Facts {
		if e, some := f.apply(fact); some {
			entries = append(entries, e)
		}
	}
	f.passed(page.UpTo)
	return entries
}

// load goes on from the newest checkpoint.
func (n *line) load(ctx context.Context) error {
	drops := n.recent.dropped()
	begin, err := n.logs.store.Checkpoint(ctx, n.session, toTheEnd, Rules)
	if err != nil {
		return err
	}
	if n.fold, err = foldAt(begin); err != nil {
		return err
	}
	n.drops, n.since = drops, 0
	if n.recent.begin(begin.Place) {
		n.call()
	}
	return nil
}

// lost is where an event is missing that has left the store. Either the conversation begins behind it by now; or nobody has seen to that, and it
// begins with the next checkpoint, which was made when all was there, or where there is none with nothing known of what was before.
func (l *Logs) lost(ctx context.Context, session id.Session, place int64) error {
	begin, err := l.store.Checkpoint(ctx, session, toTheEnd, Rules)
	if err != nil || begin.Floor >= place {
		return err
	}
	cp, err := foldFrom(session, place, begin.Changes).checkpoint(session)
	if err != nil {
		return err
	}
	l.log.Warn("events have left a conversation before it was seen to where it begins then", "session", session, "place", place)
	return l.store.Raise(ctx, cp)
}

// save stores a checkpoint. A fold that may not be what the facts are now is given up, and made again from the checkpoint before.
func (n *line) save(ctx context.Context) error {
	cp, err := n.fold.checkpoint(n.session)
	if err != nil {
		return err
	}
	switch err := n.logs.store.Save(ctx, cp, n.fold.changes); {
	case errors.Is(err, ErrMoved):
		n.fold = nil
		return nil
	case err != nil:
		return err
	}
	n.logs.metrics.checkpoints.Inc()
	n.since = 0
	return nil
}
