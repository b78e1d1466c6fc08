package localapi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/switchyard-dev/switchyard/edge-server/internal/journal"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Sizes of pages.
const (
	usualRuns, mostRuns     = 50, 200
	usualEvents, mostEvents = 200, 1000
)

// Run is EdgeRun of api/edge.yaml.
type Run struct {
	RunID      id.Run           `json:"run_id"`
	SessionID  id.Session       `json:"session_id,omitempty"`
	AgentID    id.Agent         `json:"agent_id,omitempty"`
	AgentName  string           `json:"agent_name,omitempty"`
	Profile    string           `json:"profile,omitempty"`
	Phase      string           `json:"phase"`
	Cancelled  bool             `json:"cancel_requested"`
	AdmittedAt time.Time        `json:"admitted_at"`
	EndedAt    *time.Time       `json:"ended_at,omitempty"`
	FirstSeq   wire.ProducerSeq `json:"first_seq,omitempty"`
	LastSeq    wire.ProducerSeq `json:"last_seq,omitempty"`
}

// Runs is EdgeRunPage of api/edge.yaml.
type Runs struct {
	Items []Run `json:"items"`
	Page  Page  `json:"page"`
}

// Page says what is behind a list.
type Page struct {
	HasMore bool `json:"hasMore"`
}

// runs serves the snapshots that go with the stream: GET /v1/runs and GET /v1/runs/{run_id}/events.
type runs struct {
	journal *journal.Journal
	log     *slog.Logger
}

func (s *runs) list(w http.ResponseWriter, r *http.Request) {
	body, err := s.page(r)
	if err != nil {
		refuseOrLog(s.log, w, r, err)
		return
	}
	writeJSON(w, body)
}

func (s *runs) page(r *http.Request) ([]byte, error) {
	limit, err := parseLimit(r.URL.Query(), usualRuns, mostRuns)
	if err != nil {
		return nil, err
	}
	before := id.Run(r.URL.Query().Get("before"))
	if before != "" {
		if err := s.known(r.Context(), before); err != nil {
			return nil, err
		}
	}
	found, more, err := s.journal.List(r.Context(), before, limit)
	if err != nil {
		return nil, err
	}
	list := Runs{Items: make([]Run, len(found)), Page: Page{more}}
	for i, l := range found {
		list.Items[i] = runOf(l)
	}
	return event.Encode(list)
}

func runOf(l journal.Listing) Run {
	r := Run{
		RunID: l.ID, Phase: string(l.Phase), Cancelled: l.Cancelled, AdmittedAt: l.Admitted, FirstSeq: l.First, LastSeq: l.Last,
	}
	if !l.EndedAt.IsZero() {
		r.EndedAt = &l.EndedAt
	}
	var order wire.Dispatch
	if json.Unmarshal(l.Start.Body, &order) == nil { // it was read when the run was admitted
		r.SessionID, r.AgentID, r.AgentName, r.Profile = order.SessionID, order.AgentID, order.AgentName, order.Profile
	}
	return r
}

// known fails with not_found for a run that this edge does not know, or not any more.
func (s *runs) known(ctx context.Context, run id.Run) error {
	_, known, err := s.journal.FindRun(ctx, run)
	if err == nil && !known {
		return fault.New(fault.NotFound, "This edge has no such run.")
	}
	return err
}

func (s *runs) events(w http.ResponseWriter, r *http.Request) {
	body, err := s.eventPage(r)
	if err != nil {
		refuseOrLog(s.log, w, r, err)
		return
	}
	writeJSON(w, body)
}

func (s *runs) eventPage(r *http.Request) ([]byte, error) {
	run := id.Run(r.PathValue("run_id"))
	after, err := parseAfter(r.URL.Query())
	if err != nil {
		return nil, err
	}
	limit, err := parseLimit(r.URL.Query(), usualEvents, mostEvents)
	if err != nil {
		return nil, err
	}
	if err := s.known(r.Context(), run); err != nil {
		return nil, err
	}
	page, err := s.journal.ReadRun(r.Context(), run, after, limit)
	if err != nil {
		return nil, err
	}
	if after > page.Head {
		return nil, fault.New(fault.CursorAhead, "after_seq is %d but the newest event of this edge is %d.", after, page.Head)
	}
	return eventList(page), nil
}

// eventList splices the rows in as they are: encoding them again would change their bytes.
func eventList(page journal.RunPage) []byte {
	var body bytes.Buffer
	body.WriteString(`{"items":[`)
	body.Write(bytes.Join(page.Rows, []byte(",")))
	fmt.Fprintf(&body, `],"page":{"hasMore":%v},"floor":%d,"incarnation":%q}`, page.More, page.Floor, page.Incarnation)
	return body.Bytes()
}

func writeJSON(w http.ResponseWriter, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Write(body) //nolint:errcheck // the caller may be gone; nobody to tell
}
