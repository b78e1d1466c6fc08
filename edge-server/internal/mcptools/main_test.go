package mcptools_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/switchyard-dev/switchyard/shared/agentline"
	"github.com/switchyard-dev/switchyard/shared/bridge"
)

// TestMain lets the test binary play an agent.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "agent" {
		if err := playAgent(context.Background(), agentline.NewWriter(os.Stdout), os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// playAgent is an agent that knows MCP and no lines about tools: it calls the tool by what its environment says, and says what came out. With the word
// "printing" it says its token, with "hanging" it is never heard of again once it has called.
func playAgent(ctx context.Context, w *agentline.Writer, words []string) error {
	line, err := bufio.NewReader(os.Stdin).ReadBytes('\n')
	if err != nil {
		return err
	}
	turn, err := bridge.ParseTurn(line)
	if err != nil {
		return err
	}
	at := bridge.MCP{URL: os.Getenv("SWITCHYARD_MCP_URL"), Headers: map[string]string{"Authorization": "Bearer " + os.Getenv("SWITCHYARD_MCP_TOKEN")}}
	if turn.MCP == nil || turn.MCP.URL != at.URL || turn.MCP.Headers["Authorization"] != at.Headers["Authorization"] {
		return fmt.Errorf("the turn names another server than the environment: %+v", turn.MCP)
	}
	for _, word := range words {
		if word == "printing" {
			w.Delta(os.Getenv("SWITCHYARD_MCP_TOKEN"))
			fmt.Fprintln(os.Stderr, os.Getenv("SWITCHYARD_MCP_TOKEN"))
		}
	}
	session, err := connect(ctx, at)
	if err != nil {
		return err
	}
	defer session.Close()
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "open_url", Arguments: json.RawMessage(`{"url":"x"}`)})
	if err != nil {
		return err
	}
	w.Delta(text(result))
	w.Done("")
	return w.Err()
}

// connect opens a session as the agent that was told at.
func connect(ctx context.Context, at bridge.MCP) (*mcp.ClientSession, error) {
	transport := &mcp.StreamableClientTransport{
		Endpoint: at.URL, HTTPClient: &http.Client{Transport: withHeaders(at.Headers)}, MaxRetries: -1, DisableStandaloneSSE: true,
	}
	return mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(ctx, transport, nil)
}

type withHeaders map[string]string

func (h withHeaders) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, value := range h {
		r.Header.Set(name, value)
	}
	return http.DefaultTransport.RoundTrip(r)
}

func text(r *mcp.CallToolResult) string {
	if len(r.Content) != 1 {
		return fmt.Sprintf("%d contents", len(r.Content))
	}
	return r.Content[0].(*mcp.TextContent).Text
}
