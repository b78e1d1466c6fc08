package httpapi

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/hub-server/internal/project/canonical"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Pace is the timing of event streams. The zero value means the defaults.
type Pace struct {
	KeepAlive time.Duration // of silence before a comment says that the stream stands
	Poll      time.Duration // how often the log is read when no hint comes
	Alive     time.Duration // how often the login behind a stream is looked at
	Write     time.Duration // how long a client may take for one write
}

func (p Pace) withDefaults() Pace {
	return Pace{
		KeepAlive: cmp.Or(p.KeepAlive, 15*time.Second), Poll: cmp.Or(p.Poll, 2*time.Second),
		Alive: cmp.Or(p.Alive, 30*time.Second), Write: cmp.Or(p.Write, 15*time.Second),
	}
}

const (
	streamPage = 100      // events of one read
	writeAt    = 32 << 10 // bytes that are gathered before they are written
)

// Why a stream ends before its run does, as a label of the metric. A client comes back after each of them.
var (
	errGone  = errors.New("client is gone")
	errSlow  = errors.New("client takes nothing")
	errEnded = errors.New("right to read has ended, or the hub stops")
	errStale = errors.New("store has another epoch")
	errLeft  = errors.New("events went to an archive")
)

// stream is one reader of one run. It is served by its request's goroutine alone.
type stream struct {
	runEvents
	ctx        context.Context //nolint:containedctx // the request's, and this lives as long
	w          http.ResponseWriter
	out        *http.ResponseController
	who        account.Principal
	run        id.Run
	session    id.Session
	projection canonical.Projection
	epoch      wire.Epoch
	follower   *delivery.Follower
	page       *shelved // what others read of the run

	after runlog.EventSeq // the last event that was sent
	over  bool            // the outcome is sent, or was there before we came
	buf   []byte
}

// stream replays and then follows the log. It returns an error only as long as nothing is written.
func (e runEvents) stream(w http.ResponseWriter, r *http.Request, asked eventsAsked, begin canonical.Begin) error {
	ctx, who := r.Context(), caller(r.Context())
	found, err := e.Runs.Get(ctx, id.Run(r.PathValue("run_id")))
	if err != nil {
		return hide(err)
	}
	s := &stream{
		runEvents: e, ctx: ctx, w: w, out: http.NewResponseController(w), who: who, run: found.ID, session: found.Session,
		projection: projectionOf(found, asked.view), epoch: e.Epoch(), after: begin.After, over: found.State.Ended(),
	}
	if begin.Epochs {
		s.projection.IDEpoch = s.epoch
	}
	if begin.Reset {
		s.head()
		return s.close(s.sayReset(found.LastEventSeq))
	}
	if s.follower, err = e.Followers.Follow(who, s.run, s.session); err != nil {
		return err
	}
	defer s.follower.Close()
	s.page = e.shelf.take(s.run)
	defer s.page.put()
	first, err := s.read()
	if err != nil {
		return hide(err)
	}
	if begin.Resumed && s.over && s.after == first.Last {
		w.WriteHeader(http.StatusNoContent) // an EventSource stops here; anything else would bring it back for ever
		return nil
	}
	s.head()
	e.metrics.streams.Inc()
	defer e.metrics.streams.Dec()
	return s.close(s.serve(first))
}

// head begins the answer so that nobody on the way keeps or delays it.
func (s *stream) head() {
	header := s.w.Header()
	header.Set("Content-Type", eventStream)
	header.Set("Cache-Control", "no-store, no-transform")
	header.Set("X-Accel-Buffering", "no")
	s.w.WriteHeader(http.StatusOK)
	s.buf = canonical.AppendHello(s.buf, s.epoch)
}

// close ends the answer: as whole when the client has what it may have, cut off when bytes are missing or may be.
func (s *stream) close(err error) error {
	for _, why := range []error{errGone, errSlow, errEnded, errStale, runlog.ErrHole, errLeft} {
		if errors.Is(err, why) {
			s.metrics.streamsEnded.With(why.Error()).Inc()
		}
	}
	switch {
	case err == nil, errors.Is(err, errGone), errors.Is(err, errEnded), errors.Is(err, errStale):
		return nil
	case s.ctx.Err() == nil && !errors.Is(err, errSlow) && !errors.Is(err, errLeft):
		s.Log.ErrorContext(s.ctx, "event stream cut off", "run", s.run, "after", s.after, "error", err)
	}
	panic(http.ErrAbortHandler)
}

// floorOf is the number behind which an archived log can be read, 0 for other errors.
func floorOf(err error) int64 {
	var expired *runlog.Expired
	if errors.As(err, &expired) {
		return int64(expired.Floor) //nolint:gosec // numbers of events fit
	}
	return 0
}

// currentEpoch is the epoch that a stale cursor should have been of, "" for other errors.
func currentEpoch(err error) Epoch {
	var stale *canonical.StaleCursor
	if errors.As(err, &stale) {
		return Epoch(stale.Epoch)
	}
	return ""
}
