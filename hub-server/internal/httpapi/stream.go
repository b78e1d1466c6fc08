package httpapi

import (
	"cmp"
	"errors"
	"net/http"
	"time"

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
	Ping      time.Duration // KeepAlive of streams of conversations
}

func (p Pace) withDefaults() Pace {
	return Pace{
		KeepAlive: cmp.Or(p.KeepAlive, 15*time.Second), Poll: cmp.Or(p.Poll, 2*time.Second),
		Alive: cmp.Or(p.Alive, 30*time.Second), Write: cmp.Or(p.Write, 15*time.Second), Ping: cmp.Or(p.Ping, 20*time.Second),
	}
}

const streamPage = 100 // events of one read

// stream is one reader of one run. It is served by its request's goroutine alone.
type stream struct {
	feed
	policy     *policy
	run        id.Run
	session    id.Session
	projection canonical.Projection
	epoch      wire.Epoch
	page       *shelved // what others read of the run

	after runlog.EventSeq // the last event that was sent
	over  bool            // the outcome is sent, or was there before we came
}

// stream replays and then follows the log. It returns an error only as long as nothing is written.
func (e runEvents) stream(w http.ResponseWriter, r *http.Request, asked eventsAsked, begin canonical.Begin) error {
	ctx, who := r.Context(), caller(r.Context())
	found, err := e.Runs.Get(ctx, id.Run(r.PathValue("run_id")))
	if err != nil {
		return hide(err)
	}
	s := &stream{
		feed:   feed{Deps: e.Deps, metrics: e.metrics, ctx: ctx, w: w, out: http.NewResponseController(w), who: who, keepAlive: canonical.KeepAlive},
		policy: e.policy, run: found.ID, session: found.Session,
		projection: projectionOf(found, asked.view), epoch: e.Epoch(), after: begin.After, over: found.State.Ended(),
	}
	if begin.Epochs {
		s.projection.IDEpoch = s.epoch
	}
	if begin.Reset {
		s.begin()
		return s.end(s.sayReset(found.LastEventSeq))
	}
	if err := s.follows(s.run, s.session); err != nil {
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
	s.begin()
	e.metrics.streams.Inc()
	defer e.metrics.streams.Dec()
	return s.end(s.serve(first))
}

func (s *stream) begin() { s.head(canonical.AppendHello(nil, s.epoch)) }

func (s *stream) end(err error) error { return s.close(err, "run", s.run, "after", s.after) }

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
