package httpapi

import (
	"net/http"
	"net/url"
	"strconv"

	"github.com/switchyard-dev/switchyard/hub-server/internal/project/canonical"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

const (
	epochHeader  = "X-Switchyard-Epoch"
	resumeHeader = "Last-Event-ID"
)

// runEvents serves a run's log as S2 has it: live as server-sent events, or in pages. It is written by hand because a stream is no
// answer that is there before it is sent.
type runEvents struct {
	Deps
	policy   *policy
	metrics  *metrics
	problems problems
	shelf    *shelf
}

// ServeHTTP implements followRunEvents.
func (e runEvents) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set(epochHeader, string(e.Epoch()))
	header.Set("Vary", "Accept")
	if err := e.serve(w, r); err != nil {
		e.problems.answer(w, r, err)
	}
}

// serve returns an error only as long as nothing is written.
func (e runEvents) serve(w http.ResponseWriter, r *http.Request) error {
	asked, err := readEventsAsked(r)
	if err != nil {
		return err
	}
	begin, err := canonical.Plan(asked.cursor, e.Epoch())
	if err != nil {
		return err
	}
	if wantsPage(r.Header.Values("Accept")) {
		return e.page(w, r, asked, begin)
	}
	return e.stream(w, r, asked, begin)
}

// eventsAsked is what a request for events says beside its path.
type eventsAsked struct {
	cursor canonical.Ask
	view   canonical.View
	limit  *int
}

func readEventsAsked(r *http.Request) (asked eventsAsked, err error) {
	query := r.URL.Query()
	if asked.cursor.Query, err = once(query["after_seq"], "after_seq"); err != nil {
		return asked, err
	}
	if asked.cursor.Header, err = once(r.Header.Values(resumeHeader), resumeHeader); err != nil {
		return asked, err
	}
	if h := asked.cursor.Header; h != nil && *h == "" {
		asked.cursor.Header = nil // an EventSource that was told to forget its cursor
	}
	view, err := once(query["view"], "view")
	if err != nil {
		return asked, err
	}
	if asked.view, err = canonical.ParseView(valueOf(view)); err != nil {
		return asked, err
	}
	asked.limit, err = number(query, "limit")
	return asked, err
}

func once(values []string, name string) (*string, error) {
	switch len(values) {
	case 0:
		return nil, nil
	case 1:
		return &values[0], nil
	}
	return nil, fault.New(fault.InvalidRequest, "%s was given more than once.", name)
}

func number(query url.Values, name string) (*int, error) {
	text, err := once(query[name], name)
	if err != nil || text == nil {
		return nil, err
	}
	n, err := strconv.Atoi(*text)
	if err != nil {
		return nil, fault.Wrap(err, fault.InvalidRequest, "The value of %s has the wrong form.", name)
	}
	return &n, nil
}

// page answers with one page of the log.
func (e runEvents) page(w http.ResponseWriter, r *http.Request, asked eventsAsked, begin canonical.Begin) error {
	if begin.Reset {
		return canonical.Stale(e.Epoch(), "run") // who reads pages can read a problem
	}
	limit, err := pageLimit(asked.limit, 100, runlog.MaxEvents)
	if err != nil {
		return err
	}
	run, err := e.Runs.Get(r.Context(), id.Run(r.PathValue("run_id")))
	if err != nil {
		return hide(err)
	}
	page, err := e.Runs.Events(r.Context(), run.ID, begin.After, limit)
	if err != nil {
		return hide(err)
	}
	if err := e.sightOf(r.Context()).adapt(r.Context(), page.Events); err != nil {
		return err
	}
	body := projectionOf(run, asked.view).AppendPage(nil, page, e.Epoch())
	return writeJSON(w, body)
}

func projectionOf(run runlog.Run, view canonical.View) canonical.Projection {
	return canonical.Projection{View: view, Agent: run.Agent, AgentChecksum: run.AgentChecksum}
}
