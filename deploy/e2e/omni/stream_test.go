package omni

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/shared/omni"
)

// overOmni makes a tale of what S1 tells, message by message, and holds the stream to its rules.
type overOmni struct {
	tale
	checker  omni.Checker
	messages []omni.Message
	streamed map[string]bool // by agent: its text or thought has come in pieces
	last     string          // the newest id of the stream
	held     []omni.Message  // not counted before an id has come
	idle     bool
}

func newOverOmni() *overOmni { return &overOmni{streamed: map[string]bool{}} }

// follow reads from the beginning, or from where it was, until so many turns are over and nothing is at work.
func (o *overOmni) follow(ctx context.Context, d *rig.Device, hub, session string, enough func() bool) error {
	answer, lines, err := open(ctx, d, hub+"/api/sessions/"+session+"/stream?after=0", o.last)
	if err != nil {
		return err
	}
	defer answer.Body.Close() //nolint:errcheck // it was read for as long as it was of use
	o.held = nil
	for !enough() {
		more, err := o.block(lines)
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// over says that a reader has seen the end of so many turns.
func (o *overOmni) over(turns int) func() bool {
	return func() bool { return o.idle && len(o.turns) == turns && o.now().outcome != "" }
}

// block reads up to the next blank line.
func (o *overOmni) block(lines *bufio.Scanner) (bool, error) {
	name, data, id := "", "", ""
	for lines.Scan() {
		field, value, _ := strings.Cut(lines.Text(), ": ")
		switch field {
		case "event":
			name = value
		case "data":
			data = value
		case "id":
			id = value
		case "":
			return true, o.event(name, data, id)
		}
	}
	return false, lines.Err()
}

func (o *overOmni) event(name, data, id string) error {
	if name != "" {
		return o.server(data)
	}
	if data != "" {
		m, err := omni.Decode([]byte(data))
		if err != nil {
			return fmt.Errorf("%s: %w", data, err)
		}
		o.held = append(o.held, m)
	}
	if id == "" {
		return nil
	}
	o.last = id
	for _, m := range o.held {
		if err := o.take(m); err != nil {
			return err
		}
	}
	o.held = nil
	return nil
}

func (o *overOmni) server(data string) error {
	var e struct {
		Type  string `json:"type"`
		State string `json:"state"`
	}
	if err := json.Unmarshal([]byte(data), &e); err != nil {
		return fmt.Errorf("server_event %s: %w", data, err)
	}
	switch e.Type {
	case "task_state":
		o.idle = e.State == "idle"
	case "resync_required":
		return fmt.Errorf("a stream that goes on is told %s", data)
	}
	return nil
}

func (o *overOmni) take(m omni.Message) error {
	o.messages = append(o.messages, m)
	if err := o.checker.Add(m); err != nil {
		return fmt.Errorf("%s: %w", m.Bytes(), err)
	}
	body, err := m.Body()
	if err != nil {
		return err
	}
	who := ""
	if origin := m.Origin(); len(origin) > 0 {
		_, who, _ = strings.Cut(origin[len(origin)-1], "/")
	}
	switch b := body.(type) {
	case omni.TextPayload:
		o.text(who, b)
	case omni.ThinkingPayload:
		o.whole(who, thinks, b.Thinking)
	case omni.PartialTextPayload:
		o.fragment(who, says, b.Text)
	case omni.PartialThinkingPayload:
		o.fragment(who, thinks, b.Thinking)
	case omni.ToolCallPayload:
		o.now().call(who, b.ToolCallID, b.Name, []byte(b.Arguments))
	case omni.ToolCallOutputPayload:
		o.now().returned(who, b.ToolCallID, endOf(b.StopReason), b.Output)
	case omni.ApprovalDecisionPayload:
		o.now().decided(who, b.ToolCallID, b.Decision == omni.Allow)
	case omni.RequestEndPayload:
		if who == "" {
			o.now().outcome = map[string]string{well: completed, failed: failed, stopped: aborted}[endOf(b.Status)]
		}
	case omni.AbortPayload:
		o.now().outcome = aborted
	}
	return nil
}

func endOf(reason omni.StopReason) string {
	switch reason {
	case "", omni.Completed:
		return well
	case omni.Aborted:
		return stopped
	}
	return failed
}

func (o *overOmni) text(who string, b omni.TextPayload) {
	switch {
	case b.Role == omni.Assistant:
		o.whole(who, says, b.Text)
		o.now().ended(who)
	case who != "":
		o.now().add(who, isTold, b.Text)
	default:
		o.next(b.Text)
	}
}

// next begins the next turn. Of a run that went well without a word from its agent S1 has no message.
func (o *overOmni) next(asked string) {
	if n := len(o.turns); n > 0 && o.turns[n-1].outcome == "" {
		o.turns[n-1].outcome = completed
	}
	o.begin(asked)
}

func (o *overOmni) fragment(who, does, text string) {
	o.streamed[who] = true
	o.now().piece(who, does, text)
}

// whole is a complete message: of one that has come in pieces all is known.
func (o *overOmni) whole(who, does, text string) {
	if !o.streamed[who] {
		o.now().piece(who, does, text)
	}
	o.streamed[who] = false
}
