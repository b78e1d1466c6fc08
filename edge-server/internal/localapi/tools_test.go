package localapi_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

func TestToolsOfClientsAreForTheAgentOfTheRunAlone(t *testing.T) {
	r := newRig(t)
	at, withdraw := r.tools.Offer(id.NewRun(), []wire.ClientTool{{Name: "open_url"}}, func(context.Context, string, json.RawMessage) event.ClientToolResponse {
		return event.ClientToolResponse{Status: event.ClientToolOK, Output: json.RawMessage(`"It is open."`)}
	})
	defer withdraw()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for name, tt := range map[string]struct {
		query  string
		change func(*http.Request)
		want   int
	}{
		"the agent":              {"", func(*http.Request) {}, http.StatusOK},
		"a page that is trusted": {"", func(q *http.Request) { q.Header.Set("Origin", string(trusted)) }, http.StatusOK},
		"a page that is not":     {"", func(q *http.Request) { q.Header.Set("Origin", "http://evil.example") }, http.StatusForbidden},
		"a page of no origin":    {"", func(q *http.Request) { q.Header.Set("Origin", "null") }, http.StatusForbidden},
		"a name of elsewhere":    {"", func(q *http.Request) { q.Host = "evil.example" }, http.StatusForbidden},
		"the edge's own token":   {"", func(q *http.Request) { q.Header.Set("Authorization", "Bearer "+string(token)) }, http.StatusUnauthorized},
		"no token":               {"", func(q *http.Request) { q.Header.Del("Authorization") }, http.StatusUnauthorized},
		"a token in the URL":     {"?token=x", func(*http.Request) {}, http.StatusBadRequest},
	} {
		t.Run(name, func(t *testing.T) {
			call := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"open_url","arguments":{}}}`)
			q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, at.URL+tt.query, call)
			if err != nil {
				t.Fatal(err)
			}
			q.Header.Set("Content-Type", "application/json")
			q.Header.Set("Accept", "application/json, text/event-stream")
			q.Header.Set("Authorization", at.Headers["Authorization"])
			tt.change(q)
			answer, err := client.Do(q)
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			body, err := io.ReadAll(answer.Body)
			if err != nil || answer.StatusCode != tt.want || strings.Contains(string(body), "It is open.") != (tt.want == http.StatusOK) {
				t.Errorf("%d %s, %v", answer.StatusCode, body, err)
			}
		})
	}
}
