package cards

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/httpapi"
	"github.com/switchyard-dev/switchyard/hub-server/internal/memstate"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
)

// rest serves the REST surface of a hub as far as questions need it.
func (h *hub) rest() *httptest.Server {
	w := h.town
	w.t.Helper()
	none := http.NotFoundHandler()
	much := httpapi.Rate{Burst: 1e6, PerMinute: 1e6}
	server := httptest.NewServer(httpapi.New(httpapi.Deps{
		Log: quiet(), Metrics: telemetry.NewRegistry("hub"), Health: telemetry.NewHealth(time.Second), Limiter: memstate.NewLimiter(),
		Limits:  httpapi.Limits{Person: much, Unsolicited: much},
		Devices: &account.Devices{Store: w.accounts, Issuer: w.issuer, Attempts: w.attempts, Now: time.Now},
		Runs:    w.record.Runs, Sessions: h.Sessions, Agents: h.Agents, Prompts: h.Prompts, Epoch: w.store.Epoch,
		ClientSocket: none, CardSocket: none, EdgeUplink: none,
	}))
	w.t.Cleanup(server.Close)
	return server
}

// answerOf is the answer that counts, as REST tells it: in the question, or in the problem of an answer that came too late.
type answerOf struct {
	Code   string
	Answer struct {
		Decision event.Decision
		Reason   string
	}
}

// denies posts an answer, and returns the one that counts.
func (p person) denies(at *httptest.Server, run id.Run, request id.Request, reason string) (counts answerOf, status int, err error) {
	body, err := json.Marshal(object{"decision": event.Deny, "reason": reason})
	if err != nil {
		return counts, 0, err
	}
	url := fmt.Sprintf("%s/web/agent-tasks/%s/approvals/%s", at.URL, run, request)
	req, err := http.NewRequestWithContext(p.town.t.Context(), http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return counts, 0, err
	}
	req.Header.Set("Authorization", "Bearer "+string(p.bearer))
	req.Header.Set("Content-Type", "application/json")
	resp, err := at.Client().Do(req)
	if err != nil {
		return counts, 0, err
	}
	defer resp.Body.Close()
	err = json.NewDecoder(resp.Body).Decode(&counts)
	return counts, resp.StatusCode, err
}

func TestAnAnswerByRESTIsSeenHere(t *testing.T) {
	eachTown(t, func(t *testing.T, w *town) {
		s := newScene(w)
		c := s.hub.joined(s.ada, s.session)
		run := s.asked(c, "hi")
		s.begins(s.edge, run)
		request := s.asks(s.edge, run, event.PromptPermission, bash)
		c.until("the question", isPrompt(request))
		got, status, err := s.ada.denies(w.hub().rest(), run, request, "not today")
		if err != nil || status != http.StatusOK || got.Answer.Reason != "not today" {
			t.Fatalf("REST says %d %+v, %v", status, got, err)
		}
		if got := c.reply(request); got.Reason != "not today" {
			t.Errorf("reply is %+v", got)
		}
	})
}
