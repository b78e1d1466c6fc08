package mcptools_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/switchyard-dev/switchyard/edge-server/internal/mcptools"
	"github.com/switchyard-dev/switchyard/edge-server/internal/runtime"
	"github.com/switchyard-dev/switchyard/shared/bridge"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// endpoint is one on a real socket.
func endpoint(t *testing.T) *mcptools.Endpoint {
	t.Helper()
	e := mcptools.New("1.2.3")
	server := httptest.NewServer(e)
	t.Cleanup(func() {
		server.Close()
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	})
	e.ReachedAt(server.Listener.Addr().String())
	return e
}

// opened is a session with the tools of a run of its own.
func opened(t *testing.T, tools []wire.ClientTool, call runtime.ClientCall) *mcp.ClientSession {
	t.Helper()
	at, withdraw := endpoint(t).Offer(id.NewRun(), tools, call)
	t.Cleanup(withdraw)
	session, err := connect(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

func never(context.Context, string, json.RawMessage) event.ClientToolResponse { panic("it is called") }

func TestToolsOfARunAreListedWithTheirSchemas(t *testing.T) {
	session := opened(t, []wire.ClientTool{
		{Name: "open_url", Description: "Opens a page.", InputSchema: json.RawMessage(`{"type":"object","required":["url"]}`)},
		{Name: "shot"}, {Name: "vague", InputSchema: json.RawMessage(`{"properties":{}}`)}, {Name: "wrong", InputSchema: json.RawMessage(`{"type":"string"}`)},
	}, never)
	listed, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, tool := range listed.Tools {
		schema, err := json.Marshal(tool.InputSchema)
		if err != nil {
			t.Fatal(err)
		}
		got[tool.Name] = tool.Description + string(schema)
	}
	for name, want := range map[string]string{
		"open_url": `Opens a page.{"required":["url"],"type":"object"}`, "shot": `{"type":"object"}`, "vague": `{"properties":{},"type":"object"}`,
		"wrong": `{"type":"object"}`,
	} {
		if got[name] != want {
			t.Errorf("%s is listed as %s, want %s", name, got[name], want)
		}
	}
	if len(got) != 4 {
		t.Errorf("%d tools", len(got))
	}
}

func TestWhatAClientAnswersIsWhatTheAgentHears(t *testing.T) {
	for name, c := range map[string]struct {
		response string
		text     string
		object   string
		failed   bool
	}{
		"a text":    {`{"status":"ok","output":"It is open."}`, "It is open.", "", false},
		"an object": {`{"status":"ok","output":{"n":1}}`, `{"n":1}`, `{"n":1}`, false},
		"a list":    {`{"status":"ok","output":[1,2]}`, `[1,2]`, "", false},
		"nothing":   {`{"status":"ok"}`, "0 contents", "", false},
		"a failure": {`{"status":"failed","error":{"code":"E1","message":"No.","retryable":false}}`, "E1: No.", "", true},
		"no reason": {`{"status":"cancelled"}`, "cancelled", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			var response event.ClientToolResponse
			if err := json.Unmarshal([]byte(c.response), &response); err != nil {
				t.Fatal(err)
			}
			session := opened(t, []wire.ClientTool{{Name: "open_url"}}, func(_ context.Context, tool string, args json.RawMessage) event.ClientToolResponse {
				if tool != "open_url" || string(args) != `{"url":"x","n":1.0}` {
					t.Errorf("%s is called with %s", tool, args)
				}
				return response
			})
			got, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "open_url", Arguments: json.RawMessage(`{"url":"x","n":1.0}`)})
			if err != nil {
				t.Fatal(err)
			}
			object := ""
			if got.StructuredContent != nil {
				encoded, err := json.Marshal(got.StructuredContent)
				if err != nil {
					t.Fatal(err)
				}
				object = string(encoded)
			}
			if text(got) != c.text || object != c.object || got.IsError != c.failed {
				t.Errorf("%q, %s, failed %v", text(got), object, got.IsError)
			}
		})
	}
}

func TestOnlyTheTokenOfTheRunOpensItsTools(t *testing.T) {
	e := endpoint(t)
	mine, withdraw := e.Offer(id.NewRun(), []wire.ClientTool{{Name: "mine"}}, never)
	other, withdrawOther := e.Offer(id.NewRun(), []wire.ClientTool{{Name: "other"}}, never)
	defer withdrawOther()
	none := mine.URL[:strings.LastIndex(mine.URL, "/")+1] + string(id.NewRun())
	bearer := func(token string) map[string]string { return map[string]string{"Authorization": token} }
	for name, at := range map[string]bridge.MCP{
		"no token":                    {URL: mine.URL},
		"an empty one":                {URL: mine.URL, Headers: bearer("Bearer ")},
		"a wrong one":                 {URL: mine.URL, Headers: bearer("Bearer " + strings.Repeat("a", 43))},
		"that of another run":         {URL: mine.URL, Headers: other.Headers},
		"another scheme":              {URL: mine.URL, Headers: bearer(strings.Replace(mine.Headers["Authorization"], "Bearer", "Basic", 1))},
		"a run that is not there":     {URL: none, Headers: mine.Headers},
		"no token for no run":         {URL: none, Headers: bearer("Bearer ")},
		"a token in place of the run": {URL: mine.URL + "x", Headers: mine.Headers},
	} {
		if status := post(t, at); status != http.StatusUnauthorized {
			t.Errorf("%s: %d", name, status)
		}
		if session, err := connect(t.Context(), at); err == nil {
			session.Close()
			t.Errorf("%s: a session is opened", name)
		}
	}
	if status := post(t, mine); status != http.StatusOK {
		t.Errorf("the right token: %d", status)
	}
	withdraw()
	if status := post(t, mine); status != http.StatusUnauthorized {
		t.Errorf("after the end of the run: %d", status)
	}
	if status := post(t, other); status != http.StatusOK {
		t.Errorf("the end of a run ends another: %d", status)
	}
}

func TestARunThatIsOfferedAgainKeepsWhatIsNew(t *testing.T) {
	e, run := endpoint(t), id.NewRun()
	first, withdrawFirst := e.Offer(run, nil, never)
	second, withdraw := e.Offer(run, nil, never)
	withdrawFirst()
	if a, b := post(t, first), post(t, second); a != http.StatusUnauthorized || b != http.StatusOK {
		t.Errorf("first %d, second %d", a, b)
	}
	withdraw()
}

// post lists the tools without any client's help.
func post(t *testing.T, at bridge.MCP) (status int) {
	t.Helper()
	status, err := say(t.Context(), at, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`)
	if err != nil {
		t.Fatal(err)
	}
	return status
}

func say(ctx context.Context, at bridge.MCP, message string) (status int, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, at.URL, strings.NewReader(message))
	if err != nil {
		return 0, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for name, value := range at.Headers {
		r.Header.Set(name, value)
	}
	response, err := (&http.Client{Transport: http.DefaultTransport}).Do(r)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return response.StatusCode, err
}

func TestWhoHangsUpWaitsNoLonger(t *testing.T) {
	called, released := make(chan struct{}), make(chan struct{})
	at, withdraw := endpoint(t).Offer(id.NewRun(), []wire.ClientTool{{Name: "open_url"}}, func(ctx context.Context, _ string, _ json.RawMessage) event.ClientToolResponse {
		close(called)
		<-ctx.Done()
		close(released)
		return event.ClientToolResponse{Status: event.ClientToolFailed}
	})
	defer withdraw()
	ctx, hangUp := context.WithCancel(t.Context())
	var calls sync.WaitGroup
	calls.Go(func() {
		if status, err := say(ctx, at, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"open_url","arguments":{}}}`); err == nil {
			t.Errorf("a call that was given up is answered with %d", status)
		}
	})
	<-called
	hangUp()
	calls.Wait()
	<-released
}
