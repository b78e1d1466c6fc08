package cardlog

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/project/cards"
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// toTheEnd is a number that no trace reaches: follow stops where the record ends.
const toTheEnd = card.Seq(math.MaxInt64)

// maxUntold is how many places of a conversation may pass of which nothing is shown before that is written down.
const maxUntold = 512

// pageSize is what is told in one transaction.
var pageSize = Page{Facts: 1024, Bytes: 1 << 20}

// line is a trace that somebody is interested in. However many there are, it is told once.
type line struct {
	logs    *Logs
	session id.Session
	recent  recent
	behind  atomic.Bool            // something may have been committed that is not told yet
	head    atomic.Uint64          // the newest frame of which this hub knows
	model   atomic.Pointer[string] // that an agent has named last, as far as is told; nil: none yet

	// Guarded by the lock of logs.
	users    int
	watchers map[*Watcher]struct{}
	name     id.Trace // "" until it is known

	turn chan struct{} // holds a token for whoever works with what follows
	at   Checkpoint    // as it is stored
	fold Fold          // has come to place; nil: to be read from the store
	told int64         // place
	due  time.Time     // when the watchdog looks at the latest, as far as is known; zero: it is not
}

func newLine(l *Logs, session id.Session) *line {
	return &line{logs: l, session: session, watchers: map[*Watcher]struct{}{}, turn: make(chan struct{}, 1)}
}

// hint says that there may be more to tell. The lock of logs is held.
func (n *line) hint() {
	n.behind.Store(true)
	n.signal()
}

// lag leaves what there is to tell to whoever reads next. All watchers are called: those who came meanwhile have found nothing, and who has worked
// until now may be about to go.
func (n *line) lag() {
	n.logs.mu.Lock()
	defer n.logs.mu.Unlock()
	n.hint()
}

// stand notes where the trace stands, and has all watchers read on: those who came meanwhile have found nothing. It may be another hub that has
// moved it.
func (n *line) stand(at Checkpoint) {
	n.at = at
	if head := uint64(at.Head); n.head.Swap(head) == head {
		return
	}
	n.logs.mu.Lock()
	defer n.logs.mu.Unlock()
	n.signal()
}

// signal tells the watchers that there may be more. The lock of logs is held.
func (n *line) signal() {
	for w := range n.watchers {
		select {
		case w.ready <- struct{}{}:
		default:
		}
	}
}

// follow tells what was committed until the trace has come to a number, or to the end of the record.
func (n *line) follow(ctx context.Context, until card.Seq) (now Trace, err error) {
	err = n.work(ctx, func() error {
		err := n.tell(ctx, until)
		now = n.at.Trace
		return err
	})
	return now, err
}

// tell is follow for whoever has the turn.
func (n *line) tell(ctx context.Context, until card.Seq) error {
	n.behind.Store(false)
	for {
		ended, err := n.step(ctx)
		if err != nil || ended {
			return err
		}
		if n.fold != nil && n.at.Head >= until {
			n.lag()
			return nil
		}
	}
}

// settle is follow to the end, and writes down how far that is even where nothing is shown of the rest.
func (n *line) settle(ctx context.Context) error {
	if _, err := n.follow(ctx, toTheEnd); err != nil {
		return err
	}
	return n.work(ctx, func() error { return n.write(ctx) })
}

// write writes down how far the trace has come.
func (n *line) write(ctx context.Context) error {
	if n.fold == nil || n.told == n.at.Place {
		return nil
	}
	err := n.append(ctx, nil, Facts{})
	if errors.Is(err, ErrTaken) { // somebody else has come further
		n.fold, err = nil, nil
	}
	return err
}

// work does something with the trace when it is this caller's turn. After trouble, what is stored counts.
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
		return fmt.Errorf("tell the cards of %s: %w", n.session, err)
	}
	return nil
}

// step tells a page of facts, and says whether that was the end of the record.
func (n *line) step(ctx context.Context) (ended bool, err error) {
	if n.fold == nil {
		if err := n.load(ctx); err != nil {
			return false, err
		}
	}
	page, err := n.logs.store.Facts(ctx, n.session, n.told, pageSize)
	if err != nil {
		return false, err
	}
	if page.UpTo <= n.told && page.UpTo < page.Head {
		return false, fmt.Errorf("nothing was read behind place %d of %d", n.told, page.Head)
	}
	var frames []cards.Frame
	for _, f := range page.Facts {
		frames = append(frames, n.fold.Apply(f)...)
	}
	n.told = page.UpTo
	n.note()
	n.logs.metrics.facts.Add(float64(len(page.Facts)))
	if len(frames) > 0 || n.told-n.at.Place > maxUntold {
		if err := n.append(ctx, frames, page); errors.Is(err, ErrTaken) {
			n.fold = nil
			n.logs.metrics.lost.Inc()
			return false, nil
		} else if err != nil {
			return false, err
		}
	}
	return page.UpTo >= page.Head, nil
}

// newest is when the hub had the last of some facts; zero for none.
func newest(facts []cards.Fact) time.Time {
	if len(facts) == 0 {
		return time.Time{}
	}
	return facts[len(facts)-1].Recorded
}

// append stores frames of facts, and how far the fold has come, all of whose frames are stored then.
func (n *line) append(ctx context.Context, frames []cards.Frame, of Facts) error {
	to := n.at
	to.Head, to.Place, to.Rules, to.State = n.fold.Seq(), n.told, n.logs.rules.Version, n.fold.Encode()
	due, drops := n.sooner(), n.recent.dropped()
	if err := n.logs.store.Append(ctx, n.at, to, frames, of.Changes, due); err != nil {
		return err
	}
	if !due.IsZero() {
		n.due = due
	}
	n.recent.add(to.ID, frames, drops)
	n.stand(to)
	n.logs.metrics.told(len(frames), newest(of.Facts))
	return nil
}

// sooner is when the watchdog has to look, unless it does so before anyway. Whoever looked when it was due last may have set any time.
func (n *line) sooner() time.Time {
	next, ok := n.fold.Deadline(alwaysHere)
	if !ok || !n.due.IsZero() && n.due.After(time.Now()) && !next.At.Before(n.due) {
		return time.Time{}
	}
	return next.At
}

func alwaysHere(id.Run) (time.Time, bool) { return time.Time{}, true }

// load reads where the trace stands, and makes it if there is none of this life of the store.
func (n *line) load(ctx context.Context) error {
	store, rules := n.logs.store, n.logs.rules
	at, known, err := store.Checkpoint(ctx, n.session)
	if err != nil {
		return err
	}
	if epoch := store.Epoch(); !known || at.Epoch != epoch {
		first := Checkpoint{Trace: Trace{ID: id.NewTrace(), Session: n.session}, Epoch: epoch, Rules: rules.Version}
		first.State = rules.New(first.ID, n.session).Encode()
		if at, err = store.Make(ctx, first); err != nil {
			return err
		}
	}
	fold, err := rules.Restore(at.State)
	if err != nil {
		return fmt.Errorf("go on with trace %s: %w", at.ID, err)
	}
	if fold.Seq() != at.Head {
		return fmt.Errorf("trace %s ends at frame %d, its rules say %d", at.ID, at.Head, fold.Seq())
	}
	n.fold, n.told, n.due = fold, at.Place, time.Time{}
	n.logs.called(n, at.ID)
	n.stand(at)
	n.note()
	return nil
}

// note notes the model that the fold knows. All watchers look at it: no frame may tell.
func (n *line) note() {
	model := n.fold.Model()
	if known := n.model.Load(); model == "" || known != nil && *known == model {
		return
	}
	n.model.Store(&model)
	n.logs.mu.Lock()
	defer n.logs.mu.Unlock()
	n.signal()
}
