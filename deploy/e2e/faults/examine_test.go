package faults

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/truth"
	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// evidence is everything that is known of one run when it is over.
type evidence struct {
	accounts []truth.Account  // of agents that were asked its prompt
	journal  []event.Envelope // what the edge has written down of it
	log      []client.RunEvent
}

// examine says what is wrong with a run, nil if its log holds what the edge journalled, once and in order, if that is what its one agent
// said, up to the end or up to the kill, and if it ended once.
func (e evidence) examine() error {
	if len(e.accounts) > 1 {
		return fmt.Errorf("%d agents were started for it", len(e.accounts))
	}
	return errors.Join(e.asJournalled(), endedOnce(e.log), e.asSaid())
}

// asJournalled compares the hub's log with the edge's journal. The numbers differ by nature; everything else is the same.
func (e evidence) asJournalled() error {
	for i := range min(len(e.journal), len(e.log)) {
		at, got := e.journal[i], e.log[i]
		if string(at.ID) != got.ID || string(at.Type) != got.WireType || string(at.Payload) != string(got.Payload) {
			return fmt.Errorf("event %d: the edge wrote %s %s, the hub has %s %s", i+1, at.ID, at.Type, got.ID, got.WireType)
		}
	}
	if len(e.journal) != len(e.log) {
		return fmt.Errorf("the edge wrote %d events, the hub has %d", len(e.journal), len(e.log))
	}
	return nil
}

// asSaid compares the log with what the agent noted of itself. Only a run that was interrupted may hold less.
func (e evidence) asSaid() error {
	var account truth.Account // empty: it was killed before it began
	if len(e.accounts) > 0 {
		account = e.accounts[0]
	}
	switch terminals := terminalsOf(e.log); {
	case slices.Contains(terminals, event.RunCompleted):
		return account.Equal(rig.Entries(e.log), nil)
	case slices.Contains(terminals, event.RunInterrupted):
		return account.HasPrefix(rig.Entries(e.log), nil)
	default:
		return fmt.Errorf("it ended as %v", terminals)
	}
}

func terminalsOf(log []client.RunEvent) (found []event.Type) {
	for _, e := range log {
		if t := event.Type(e.EventType); t.Terminal() {
			found = append(found, t)
		}
	}
	return found
}

func endedOnce(log []client.RunEvent) error {
	if found := terminalsOf(log); len(found) != 1 {
		return fmt.Errorf("it has the terminal events %v, want one", found)
	}
	return nil
}

// evidenceOf gathers what is known of the run of a turn.
func (s *siege) evidenceOf(t turn, accounts []truth.Account) evidence {
	s.t.Helper()
	e := evidence{journal: s.journalOf(t.run), log: s.Owner().Log(t.run)}
	for _, a := range accounts {
		if a.Prompt == t.prompt {
			e.accounts = append(e.accounts, a)
		}
	}
	return e
}

// journalOf asks the edge for what it has written down of a run; nothing if it knows of none.
func (s *siege) journalOf(run id.Run) (rows []event.Envelope) {
	s.t.Helper()
	var page struct {
		Items []json.RawMessage
		Page  struct{ HasMore bool }
	}
	page.Page.HasMore = true
	for after := uint64(0); page.Page.HasMore; after = rows[len(rows)-1].Seq {
		page.Items, page.Page.HasMore = nil, false
		if s.ask(fmt.Sprintf("/v1/runs/%s/events?after_seq=%d", run, after), &page, http.StatusOK, http.StatusNotFound) != http.StatusOK {
			return nil
		}
		for _, item := range page.Items {
			row, err := event.ParseRow(item)
			if err != nil {
				s.t.Fatal(err)
			}
			rows = append(rows, row)
		}
		if len(rows) == 0 {
			return nil
		}
	}
	return rows
}

// ask reads an answer of the edge's local API, which must have one of the statuses.
func (s *siege) ask(path string, answer any, statuses ...int) int {
	s.t.Helper()
	token, err := os.ReadFile(filepath.Join(s.edge.Home, "local.token"))
	if err != nil {
		s.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, "http://"+s.edge.Addr+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	req.Close = true
	local := http.Client{Timeout: rig.Patience}
	resp, err := local.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(answer); err != nil || !slices.Contains(statuses, resp.StatusCode) {
		s.t.Fatalf("%s: answered %s (%v)", path, resp.Status, err)
	}
	return resp.StatusCode
}
