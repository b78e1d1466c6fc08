package trial

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/shared/agentline"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// maxTold is how much typed ahead of an agent is kept; what comes then is left out.
const maxTold = 64

// Console is a terminal at which a person tells an agent things while it works: /steer TEXT, /retry and /compact. Every other line is for whoever
// reads from the Console, which is a Terminal itself. Make one with NewConsole.
type Console struct {
	terminal Terminal
	rest     *os.File // what is for the others
	others   *os.File
	told     chan agentline.Control
}

// NewConsole returns the console at t. Close it.
func NewConsole(t Terminal) (*Console, error) {
	others, rest, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make a console: %w", err)
	}
	return &Console{terminal: t, rest: rest, others: others, told: make(chan agentline.Control, maxTold)}, nil
}

// Told has what the person wants the agent to hear.
func (c *Console) Told() <-chan agentline.Control { return c.told }

// Run reads the terminal until it ends, or ctx does. A terminal that has no deadlines is read until somebody types Enter.
func (c *Console) Run(ctx context.Context) error {
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		_ = c.terminal.SetReadDeadline(time.Unix(1, 0)) // see Terminal
	})
	defer func() {
		if !stop() {
			<-ended
		}
		_ = c.rest.Close() // whoever still waits for an answer gets none
	}()
	for lines := bufio.NewReader(c.terminal); ; {
		line, err := lines.ReadString('\n')
		c.take(line)
		if err != nil {
			return nil
		}
	}
}

func (c *Console) take(line string) {
	control, ok := command(strings.TrimSpace(line))
	if !ok {
		_, _ = c.rest.WriteString(line) // nobody may be left who reads it
		return
	}
	select {
	case c.told <- control:
	default:
	}
}

// command is what a line tells the agent; false if it tells it nothing.
func command(line string) (agentline.Control, bool) {
	word, text, _ := strings.Cut(line, " ")
	text = strings.TrimSpace(text)
	switch {
	case word == "/steer" && text != "":
		return agentline.Control{Type: agentline.Steer, SteerID: id.NewSteer(), Text: text}, true
	case line == "/retry":
		return agentline.Control{Type: agentline.RetryNow}, true
	case line == "/compact":
		return agentline.Control{Type: agentline.Compact}, true
	}
	return agentline.Control{}, false
}

// Read gives the lines that tell the agent nothing.
func (c *Console) Read(p []byte) (int, error) { return c.others.Read(p) }

// Write writes to the terminal.
func (c *Console) Write(p []byte) (int, error) { return c.terminal.Write(p) }

// SetReadDeadline is that of Read.
func (c *Console) SetReadDeadline(t time.Time) error { return c.others.SetReadDeadline(t) }

// Close is for after Run has returned.
func (c *Console) Close() error { return c.others.Close() }
