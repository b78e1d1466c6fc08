package localapi

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/switchyard-dev/switchyard/edge-server/internal/eventsocket"
	"github.com/switchyard-dev/switchyard/edge-server/internal/journal"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

const (
	maxFollowers      = 32
	incarnationHeader = "Switchyard-Incarnation"
)

// events serves GET /v1/events: S3's edge plane.
type events struct {
	journal *journal.Journal
	edge    id.Edge
	origins []Origin
	places  *places
	metrics *metrics
	log     *slog.Logger
}

// ServeHTTP upgrades and serves the socket until it ends. The token has been judged.
func (e *events) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f, err := e.admit(r)
	if err != nil {
		refuseOrLog(e.log, w, r, err)
		return
	}
	if !e.places.take() {
		refuse(w, fault.New(fault.Busy, "Enough programs follow already. End one, or try again later."))
		return
	}
	defer e.places.give()
	w.Header().Set(incarnationHeader, string(f.numbering))
	socket, err := eventsocket.Accept(w, r, bearerProtocol)
	if err != nil {
		e.log.Info("upgrade failed", "error", err)
		return
	}
	e.metrics.followers.Inc()
	defer e.metrics.followers.Dec()
	from := f.next
	cause := socket.Serve(r.Context(), f.run)
	e.log.Info("program stopped following", "cause", cause, "from", from, "next", f.next)
}

// admit finds the place that a request asks for, before the upgrade.
func (e *events) admit(r *http.Request) (*follower, error) {
	if err := checkOrigin(r, e.origins); err != nil {
		return nil, err
	}
	q := r.URL.Query()
	at, err := parseCursor(q)
	if err != nil {
		return nil, err
	}
	next, numbering, err := e.place(r.Context(), at, wire.Incarnation(q.Get("incarnation")))
	if err != nil {
		return nil, err
	}
	return &follower{journal: e.journal, edge: e.edge, metrics: e.metrics, numbering: numbering, next: next}, nil
}

// place turns a cursor into a number of the journal's present numbering. asked is empty if the program does not care.
func (e *events) place(ctx context.Context, at cursor, asked wire.Incarnation) (wire.ProducerSeq, wire.Incarnation, error) {
	have, err := e.journal.Extent(ctx)
	switch {
	case err != nil:
		return 0, "", err
	case asked != "" && asked != have.Incarnation:
		return 0, "", fault.New(fault.CursorReset, "The journal's numbers began anew: it is %s now. Take a snapshot, then follow without a cursor.",
			have.Incarnation)
	case wire.ProducerSeq(at) > have.Head+1:
		return 0, "", fault.New(fault.CursorAhead, "cursor is %d but the next event will be %d.", at, have.Head+1)
	case at == 0:
		return have.Head + 1, have.Incarnation, nil
	}
	return wire.ProducerSeq(at), have.Incarnation, nil
}
