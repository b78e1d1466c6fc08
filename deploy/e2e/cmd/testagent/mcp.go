package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/switchyard-dev/switchyard/shared/bridge"
)

// mcp is as much of a client of the Model Context Protocol (Streamable HTTP) as an agent needs that was written without a library.
type mcp struct {
	ctx     context.Context
	at      bridge.MCP
	session string
	asked   int
}

const mcpVersion = "2025-06-18"

// begin shakes hands.
func (m *mcp) begin() error {
	_, err := m.ask("initialize", map[string]any{
		"protocolVersion": mcpVersion, "capabilities": struct{}{}, "clientInfo": map[string]string{"name": "testagent", "version": "1"},
	})
	if err != nil {
		return err
	}
	_, err = m.send(map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"}, 0)
	return err
}

// ask calls a method and returns its result.
func (m *mcp) ask(method string, params any) (json.RawMessage, error) {
	m.asked++
	result, err := m.send(map[string]any{"jsonrpc": "2.0", "id": m.asked, "method": method, "params": params}, m.asked)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", method, err)
	}
	return result, nil
}

// send posts a message and waits for the answer to id; 0 for none.
func (m *mcp) send(message any, id int) (json.RawMessage, error) {
	body, err := json.Marshal(message)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(m.ctx, http.MethodPost, m.at.URL, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, value := range m.at.Headers {
		request.Header.Set(name, value)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	if m.session != "" {
		request.Header.Set("Mcp-Session-Id", m.session)
	}
	if m.asked > 1 || id == 0 {
		request.Header.Set("Mcp-Protocol-Version", mcpVersion)
	}
	client := http.Client{}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close() //nolint:errcheck // it was read, or is not wanted
	if response.StatusCode >= http.StatusBadRequest {
		why, _ := io.ReadAll(io.LimitReader(response.Body, 1<<10)) //nolint:errcheck // the status says enough
		return nil, fmt.Errorf("the server answers %s: %s", response.Status, why)
	}
	if session := response.Header.Get("Mcp-Session-Id"); session != "" {
		m.session = session
	}
	if id == 0 {
		return nil, nil
	}
	return answerTo(response.Body, id)
}

// answerTo reads JSON, or events with JSON, up to the answer to id.
func answerTo(body io.Reader, id int) (json.RawMessage, error) {
	const most = 4 << 20
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, most)
	for lines.Scan() {
		var answer struct {
			ID     int             `json:"id"`
			Result json.RawMessage `json:"result"`
			Error  json.RawMessage `json:"error"`
		}
		line := strings.TrimPrefix(strings.TrimPrefix(lines.Text(), "data:"), " ")
		if json.Unmarshal([]byte(line), &answer) != nil || answer.ID != id {
			continue
		}
		if len(answer.Error) > 0 {
			return nil, fmt.Errorf("the server answers %s", answer.Error)
		}
		return answer.Result, nil
	}
	return nil, fmt.Errorf("the server answers nothing: %w", lines.Err())
}
