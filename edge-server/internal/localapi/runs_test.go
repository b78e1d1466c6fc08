package localapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/switchyard-dev/switchyard/edge-server/internal/localapi"
	"github.com/switchyard-dev/switchyard/shared/id"
)

func TestRunsAreListedInPagesNewestFirst(t *testing.T) {
	r := newRig(t)
	var admitted []id.Run
	for range 3 {
		admitted = append(admitted, r.admit())
	}
	r.say(admitted[0], 1)
	r.end(admitted[0])
	var page localapi.Runs
	if status := r.get("/v1/runs?limit=2", &page); status != http.StatusOK || !page.Page.HasMore || len(page.Items) != 2 || page.Items[0].RunID != admitted[2] {
		t.Fatalf("first page: %d %+v", status, page)
	}
	page, err := localapi.AskRuns(t.Context(), r.addr, token, page.Items[1].RunID)
	if err != nil || page.Page.HasMore || len(page.Items) != 1 {
		t.Fatalf("second page: %+v, %v", page, err)
	}
	got := page.Items[0]
	if got.RunID != admitted[0] || got.Phase != "ended" || got.EndedAt == nil || got.AdmittedAt.IsZero() || got.FirstSeq != 1 || got.LastSeq != 2 ||
		got.AgentName != "worker" || got.Profile != "scout" || got.SessionID != "sess_1" {
		t.Errorf("run is %+v", got)
	}
	if _, err := localapi.AskRuns(t.Context(), r.addr, "wrong", ""); err == nil {
		t.Error("runs without the token")
	}
}

type eventPage struct {
	Items       []json.RawMessage
	Page        localapi.Page
	Floor       int
	Incarnation string
}

// after_seq is the last event that a program has: it is not sent again.
func TestEventsOfARunAreServedAsStoredBehindAfterSeq(t *testing.T) {
	r := newRig(t)
	mine, other := r.admit(), r.admit()
	for range 3 {
		r.say(mine, 1)
		r.say(other, 1)
	}
	stored := r.rows(1)
	for query, want := range map[string]struct {
		rows []string
		more bool
	}{
		"":                     {[]string{stored[0], stored[2], stored[4]}, false},
		"?limit=2":             {[]string{stored[0], stored[2]}, true},
		"?after_seq=1&limit=1": {[]string{stored[2]}, true},
		"?after_seq=3":         {[]string{stored[4]}, false},
		"?after_seq=6":         {nil, false},
		"?limit=100000":        {[]string{stored[0], stored[2], stored[4]}, false},
	} {
		var page eventPage
		status := r.get(fmt.Sprintf("/v1/runs/%s/events%s", mine, query), &page)
		var got []string
		for _, item := range page.Items {
			got = append(got, string(item))
		}
		if status != http.StatusOK || !slices.Equal(got, want.rows) || page.Page.HasMore != want.more || page.Items == nil {
			t.Errorf("%q: %d %v, more %v", query, status, got, page.Page.HasMore)
		}
		if page.Floor != 1 || page.Incarnation != string(r.journal.State().Incarnation) {
			t.Errorf("%q: floor %d of %s", query, page.Floor, page.Incarnation)
		}
	}
}

// A page says from where on the edge still has rows, so that a program knows whether it sees the beginning of a run.
func TestFloorOfAPageShowsThatTheBeginningWasTrimmed(t *testing.T) {
	r := newRig(t)
	old, live := r.admit(), r.admit()
	r.end(old)
	r.trimTo(1)
	r.say(live, 1)
	var page eventPage
	if r.get("/v1/runs/"+string(old)+"/events", &page); len(page.Items) != 0 || page.Floor != 2 {
		t.Errorf("got %+v", page)
	}
}
