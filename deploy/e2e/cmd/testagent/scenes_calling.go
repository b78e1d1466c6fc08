package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/switchyard-dev/switchyard/shared/agentline"
)

// called is what a tool of a client's is called with.
var called = map[string]string{"url": "https://a.example/"}

// page has a client of the person open a page (S0 §9.2), and says what came of it.
func (s *stage) page() error {
	if err := s.say("Let me open it."); err != nil {
		return err
	}
	s.out.ToolCall("toolu_c1", "open_url", called, agentline.ByClient(), agentline.Intent("open the page"))
	line, err := s.hear()
	if err != nil {
		return err
	}
	end, err := agentline.ParseCallResult(line)
	if err != nil {
		return err
	}
	if end.Error != nil {
		return s.say(fmt.Sprintf("It is not open: %s.", end.Error.Code))
	}
	return s.say("It is open: " + string(end.Output))
}

// server is page for an agent that knows no lines for it, but the Model Context Protocol.
func (s *stage) server() error {
	if s.turn.MCP == nil {
		return s.say("There is no server.")
	}
	m := &mcp{ctx: s.ctx, at: *s.turn.MCP}
	if err := m.begin(); err != nil {
		return err
	}
	listed, err := m.ask("tools/list", struct{}{})
	if err != nil {
		return err
	}
	var all struct {
		Tools []struct {
			Name string `json:"name"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(listed, &all); err != nil || len(all.Tools) == 0 {
		return errors.Join(err, fmt.Errorf("the server lists %s", listed))
	}
	ended, err := m.ask("tools/call", map[string]any{"name": all.Tools[0].Name, "arguments": called})
	if err != nil {
		return err
	}
	var end struct {
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
		IsError bool `json:"isError"`
	}
	if err := json.Unmarshal(ended, &end); err != nil || len(end.Content) == 0 {
		return errors.Join(err, fmt.Errorf("the server answers %s", ended))
	}
	return s.say(cmp.Or(map[bool]string{true: "It is not open: "}[end.IsError], "It is open: ") + end.Content[0].Text)
}
