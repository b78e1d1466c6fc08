package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/switchyard-dev/switchyard/shared/bridge"
)

// session is how the agent finds itself again; it has only one.
const session = "the-one"

// agent is what args say.
type agent struct {
	out    io.Writer
	book   string
	inputs inputs
}

// inputs are those of the tools that the agent asks for.
type inputs []json.RawMessage

func (i *inputs) String() string { return fmt.Sprint(len(*i)) }

// Set adds one.
func (i *inputs) Set(s string) error {
	if !json.Valid([]byte(s)) {
		return fmt.Errorf("no JSON: %s", s)
	}
	*i = append(*i, json.RawMessage(s))
	return nil
}

// response is a permission_response as the agent reads it.
type response struct {
	RequestID    string          `json:"request_id"`
	Behavior     bridge.Behavior `json:"behavior"`
	UpdatedInput json.RawMessage `json:"updated_input"`
	Message      string          `json:"message"`
}

// play says what the turn is and what came with it, asks, and says each answer as it comes.
func (a agent) play(turn bridge.Turn, answers *bufio.Reader) error {
	begin := "told " + turn.Message + "\n"
	if turn.SessionID != "" {
		begin = "resumed, " + begin
	}
	for _, at := range turn.Attachments {
		begin += "given " + at.URL + "\n"
	}
	if err := a.say(begin); err != nil {
		return err
	}
	for i, input := range a.inputs {
		if err := a.write(map[string]any{
			"type": bridge.TypePermissionRequest, "request_id": strconv.Itoa(i + 1), "tool_name": "Bash", "input": input,
			"description": "the only tool there is",
		}); err != nil {
			return err
		}
	}
	for range a.inputs {
		if err := a.hear(answers); err != nil {
			return err
		}
	}
	return a.write(map[string]any{"type": bridge.TypeResult, "text": "", "session_id": session})
}

func (a agent) hear(answers *bufio.Reader) error {
	line, err := answers.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("wait for an answer: %w", err)
	}
	var r response
	if err := json.Unmarshal(line, &r); err != nil {
		return fmt.Errorf("read answer: %w", err)
	}
	n, err := strconv.Atoi(r.RequestID)
	if err != nil || n < 1 || n > len(a.inputs) {
		return fmt.Errorf("answer to %q, which was not asked", r.RequestID)
	}
	if r.Behavior != bridge.Allow {
		return a.say(fmt.Sprintf("%d denied %s\n", n, r.Message))
	}
	input := a.inputs[n-1]
	if len(r.UpdatedInput) > 0 {
		input = r.UpdatedInput
	}
	if err := a.use(input); err != nil {
		return err
	}
	return a.say(fmt.Sprintf("%d used %s\n", n, input))
}

// use is the tool: it notes its input in the book.
func (a agent) use(input json.RawMessage) error {
	if a.book == "" {
		return nil
	}
	f, err := os.OpenFile(a.book, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open book: %w", err)
	}
	defer f.Close() //nolint:errcheck // the write is what counts
	if _, err := f.WriteString(strings.TrimSpace(string(input)) + "\n"); err != nil {
		return fmt.Errorf("write book: %w", err)
	}
	return nil
}

func (a agent) say(text string) error {
	return a.write(map[string]any{"type": bridge.TypePartial, "text": text, "session_id": session})
}

func (a agent) write(event map[string]any) error {
	line, err := json.Marshal(event)
	if err != nil {
		return fmt.Errorf("encode event: %w", err)
	}
	_, err = a.out.Write(append(line, '\n'))
	return err
}
