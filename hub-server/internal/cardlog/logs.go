// Package cardlog keeps the card traces of conversations (S0): what the fold of project/cards makes of the record is made once, appended to the store
// together with how far it has come, and read again from there, the same bytes for everybody and for ever. A trace is made at the first
// interest in it and goes on as long as somebody is interested: nobody waits for a conversation that nobody looks at.
package cardlog

import (
	"context"
	"log/slog"
	"sync"

	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/hub-server/internal/project/cards"
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// frameRecall says that a message was taken back: frames that have told it were changed in the store.
const frameRecall = "message.recall"

// Logs are the traces as the readers of one hub process use them. Safe for concurrent use.
type Logs struct {
	store   Store
	rules   Rules
	log     *slog.Logger
	metrics *Metrics

	mu     sync.Mutex
	open   map[id.Session]*line
	traces map[id.Trace]*line // of those in open whose trace is known
}

// Config is what New works with.
type Config struct {
	Store   Store
	Rules   Rules
	Log     *slog.Logger
	Metrics *Metrics
}

// New returns the traces of a store.
func New(c Config) *Logs {
	return &Logs{store: c.Store, rules: c.Rules, log: c.Log, metrics: c.Metrics, open: map[id.Session]*line{}, traces: map[id.Trace]*line{}}
}

// Open brings the trace of a conversation up to what has been committed, and makes it if there is none.
func (l *Logs) Open(ctx context.Context, session id.Session) (Trace, error) {
	line := l.take(session)
	defer l.leave(line)
	return line.follow(ctx, toTheEnd)
}

// Read returns the frames of a trace behind a number: whole lines, at least one if there is any, and then about so many bytes. Whoever watches the
// conversation gets what a signal was for. ErrUnknown for a trace that is not there any more, ErrExpired if some of the frames have left.
func (l *Logs) Read(ctx context.Context, trace id.Trace, after card.Seq, bytes int) ([]cards.Frame, error) {
	line := l.watched(trace)
	if line == nil {
		return l.store.Frames(ctx, trace, after, bytes)
	}
	defer l.leave(line)
	if line.behind.Load() {
		if _, err := line.follow(ctx, after+1); err != nil {
			return nil, err
		}
	}
	if uint64(after) >= line.head.Load() {
		return nil, nil
	}
	if frames, ok := line.recent.after(trace, after, bytes); ok {
		return frames, nil
	}
	return l.store.Frames(ctx, trace, after, bytes)
}

// Pending returns the frames of the questions in a conversation that wait for a person, the oldest first, each as it was first sent. Open the trace
// before: a question that it does not tell yet is not among them.
func (l *Logs) Pending(ctx context.Context, session id.Session) ([]cards.Frame, error) {
	return l.store.Pending(ctx, session)
}

// Trace returns a trace by its id, as far as it is stored; ErrUnknown.
func (l *Logs) Trace(ctx context.Context, trace id.Trace) (Trace, error) {
	return l.store.Trace(ctx, trace)
}

// CatchUp brings a trace up to what has been committed, if there is one, and writes down that it has come that far: what lies before it is not needed
// for it any more.
func (l *Logs) CatchUp(ctx context.Context, session id.Session) error {
	if _, known, err := l.store.Checkpoint(ctx, session); err != nil || !known {
		return err
	}
	line := l.take(session)
	defer l.leave(line)
	return line.settle(ctx)
}

// Seen gives hints for rows that were committed. It does not block, and any number of calls may be lost as long as one comes in the end.
func (l *Logs) Seen(rows []delivery.Row) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, row := range rows {
		line := l.open[row.Session]
		switch {
		case line == nil:
		case row.Kind == delivery.KindRun || row.Kind == delivery.KindMessage:
			line.hint()
		case row.Kind == delivery.KindFrame && row.FrameType == frameRecall:
			line.recent.forget()
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
	found.users++
	return found
}

// watched returns the line of a trace if somebody is using it, for whoever uses it until leave; nil otherwise.
func (l *Logs) watched(trace id.Trace) *line {
	l.mu.Lock()
	defer l.mu.Unlock()
	found := l.traces[trace]
	if found != nil {
		found.users++
	}
	return found
}

// called notes which trace a line is of.
func (l *Logs) called(used *line, trace id.Trace) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.traces, used.name)
	used.name = trace
	l.traces[trace] = used
}

func (l *Logs) leave(used *line) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if used.users--; used.users == 0 {
		delete(l.traces, used.name)
		delete(l.open, used.session)
		l.metrics.open.Set(float64(len(l.open)))
	}
}

// Watcher is somebody who is interested in a conversation's cards.
type Watcher struct {
	line  *line
	ready chan struct{}
}

// Watch begins to watch. Watch first and Open after that: what is committed in between gives a signal. Close it at the end.
func (l *Logs) Watch(session id.Session) *Watcher {
	w := &Watcher{line: l.take(session), ready: make(chan struct{}, 1)}
	l.mu.Lock()
	defer l.mu.Unlock()
	w.line.watchers[w] = struct{}{}
	return w
}

// Ready has a value when there may be more to Read. Any number of signals are one. After an error of Read, read again a moment later: nobody signals
// the same once more.
func (w *Watcher) Ready() <-chan struct{} { return w.ready }

// Model is the model that an agent of the conversation has named last, "" if none has. It is as new as what was read.
func (w *Watcher) Model() string {
	if model := w.line.model.Load(); model != nil {
		return *model
	}
	return ""
}

// Close ends the interest.
func (w *Watcher) Close() {
	l := w.line.logs
	l.mu.Lock()
	delete(w.line.watchers, w)
	l.mu.Unlock()
	l.leave(w.line)
}
