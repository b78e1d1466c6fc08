package mcptools

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/switchyard-dev/switchyard/edge-server/internal/runtime"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// newServer returns a server with the tools of one run. Each call of one waits for the client.
func newServer(version string, tools []wire.ClientTool, call runtime.ClientCall) *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "switchyard", Title: "Tools of the person's devices", Version: version}, nil)
	for _, tool := range tools {
		server.AddTool(&mcp.Tool{Name: tool.Name, Description: tool.Description, InputSchema: schema(tool.InputSchema)}, handler(tool.Name, call))
	}
	return server
}

func handler(tool string, call runtime.ClientCall) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) { //nolint:contextcheck // see asking
		if request, ok := ctx.Value(asking{}).(context.Context); ok {
			ctx = request
		}
		return result(call(ctx, tool, req.Params.Arguments)), nil
	}
}

// schema is the schema of a tool's input as the protocol wants it: of an object, and saying so.
func schema(given json.RawMessage) json.RawMessage {
	keys := map[string]json.RawMessage{}
	if len(given) > 0 && json.Unmarshal(given, &keys) != nil || string(keys["type"]) == `"object"` {
		return given
	}
	keys["type"] = json.RawMessage(`"object"`)
	said, err := event.Encode(keys)
	if err != nil {
		return json.RawMessage(`{"type":"object"}`) // what was read is JSON, so this is unreachable
	}
	return said
}

// result tells an agent what a call has come to: as a text, and an object as such too.
func result(r event.ClientToolResponse) *mcp.CallToolResult {
	if r.Status != event.ClientToolOK {
		why := string(r.Status)
		if r.Error != nil {
			why = fmt.Sprintf("%s: %s", r.Error.Code, r.Error.Message)
		}
		return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: why}}}
	}
	said := &mcp.CallToolResult{Content: []mcp.Content{}}
	if len(r.Output) == 0 {
		return said
	}
	text := string(r.Output)
	_ = json.Unmarshal(r.Output, &text) // what is no string stays JSON
	said.Content = append(said.Content, &mcp.TextContent{Text: text})
	if bytes.HasPrefix(bytes.TrimSpace(r.Output), []byte("{")) {
		said.StructuredContent = r.Output
	}
	return said
}
