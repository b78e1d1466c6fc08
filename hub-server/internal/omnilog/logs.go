// Package omnilog serves conversations as OmniMessages (S1). Messages are not stored: they are folded from the record when somebody reads, by
// project/omni, so that everybody has the same bytes from every hub at any time. All readers of a conversation at this hub share one fold at its end;
// whoever reads what is older folds from the checkpoint before it.
package omnilog

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"

	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/shared/id"
)

const (
	// everyFacts is after how many facts a checkpoint is stored: what somebody has to fold at most who reads from any place.
	everyFacts = 2000
	// mostIdle is how many conversations stay folded that nobody reads: whoever polls comes again.
	mostIdle = 32
)

// Frames of which a reader hears.
const (
	frameRecall  = "message.recall"       // a message was taken back
	frameRenamed = "session.info_updated" // a conversation has another title, or other words beside it
	frameRun     = "agent.dispatch"       // a run has come
)

// Logs are conversations as the readers of one hub process read them. Safe for concurrent use.
type Logs struct {
	store   Store
	log     *slog.Logger
	metrics *Metrics
	every   int
	places  int64 // that are read for a part of the history which has a message
	page    Page

	mu   sync.Mutex
	open map[id.Session]*line
	idle []*line // of those in open that nobody uses, the one that was used last at the end
}

// Config is what New works with.
type Config struct {
	Store   Store
	Log     *slog.Logger
	Metrics *Metrics
	// Every is after how many facts a checkpoint is stored; 0 means 2000. Places is how many places are read for a part of the history once it has
	// a message; 0 means 20000. Page is what is read at once; zero means the default.
	Every  int
	Places int64
	Page   Page
}

// New returns the conversations of a store.
func New(c Config) *Logs {
	return &Logs{
		store: c.Store, log: c.Log, metrics: c.Metrics, every: cmp.Or(c.Every, everyFacts), places: cmp.Or(c.Places, historyPlaces),
		page: cmp.Or(c.Page, Page{Facts: 1024, Bytes: 1 << 20}),
		open: map[id.Session]*line{},
	}
}

// View returns how a conversation stands when everything is told that was committed before. ErrUnknown.
func (l *Logs) View(ctx context.Context, session id.Session) (View, error) {
	line := l.take(session)
	defer l.leave(line)
	return line.view(ctx)
}

// Keep stores a checkpoint of exactly a place, where the conversation may begin from then on. Whoever removes events up to there calls it before.
func (l *Logs) Keep(ctx context.Context, session id.Session, place int64) error {
	r := Reader{line: l.take(session)}
	defer l.leave(r.line)
	if err := r.line.follow(ctx); err != nil {
		return err
	}
	for {
		begin, err := l.store.Checkpoint(ctx, session, place, Rules)
		if trimmed(err) {
			return nil // it begins behind that already
		}
		if err != nil {
			return err
		}
		if begin.Place == place && begin.State != nil {
			return nil
		}
		f, err := r.foldTo(ctx, begin, place)
		if err != nil {
			return err
		}
		cp, err := f.checkpoint(session)
		if err != nil {
			return err
		}
		if err := l.store.Save(ctx, cp, f.changes); !errors.Is(err, ErrMoved) {
			return err
		}
	}
}

// Seen gives hints for rows that were committed. It does not block, and any number of calls may be lost as long as one comes in the end.
func (l *Logs) Seen(rows []delivery.Row) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, row := range rows {
		line := l.open[row.Session]
		if line == nil {
			continue
		}
		if row.Kind == delivery.KindMessage && row.From > 0 || row.Kind == delivery.KindFrame && row.FrameType == frameRecall {
			line.recent.forget()
		}
		switch {
		case row.Kind == delivery.KindRun || row.Kind == delivery.KindMessage:
			line.hint()
		case row.Kind == delivery.KindFrame && row.FrameType == frameRun:
			line.moved.Store(true)
			line.hint()
		case row.Kind == delivery.KindFrame && row.FrameType == frameRenamed:
			line.named++
			line.signal()
		}
	}
}

// take returns the line of a conversation, for whoever uses it until leave.
func (l *Logs) take(session id.Session) *line {
	l.mu.Lock()
	defer l.mu.Unlock()
	found := l.open[session]
	if found == nil {
		found = newLine(l, session)
		l.open[session] = found
		l.metrics.open.Set(float64(len(l.open)))
	}
	if found.users++; found.users == 1 {
		l.idle = slices.DeleteFunc(l.idle, func(n *line) bool { return n == found })
	}
	return found
}

func (l *Logs) leave(used *line) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if used.users--; used.users > 0 {
		return
	}
	l.idle = append(l.idle, used)
	if len(l.idle) > mostIdle {
		delete(l.open, l.idle[0].session)
		l.idle = slices.Delete(l.idle, 0, 1)
	}
	l.metrics.open.Set(float64(len(l.open)))
}
