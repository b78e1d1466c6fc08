package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/client"
)

const (
	maxLine   = 8 << 20          // bytes
	stopGrace = 15 * time.Second // for a program to stop cleanly
)

// program is a yard that runs, read line by line.
type program struct {
	name  string
	cmd   *exec.Cmd
	lines *bufio.Scanner
	errs  bytes.Buffer
}

// line is what yard prints with --json; which fields are set depends on the command.
type line struct {
	Key string `json:"key"`
	client.HubWebSocketFrame
	Link    client.Link                `json:"link"`
	Resume  client.AuthOKPayloadResume `json:"resume"`
	Receipt *client.MessageReceipt     `json:"receipt"`
	Task    *client.AgentTask          `json:"task"`
}

// yard starts yard on the story's state.
func (s *story) yard(ctx context.Context, name string, args ...string) (*program, error) {
	p := &program{name: name, cmd: exec.CommandContext(ctx, filepath.Join(s.programs, "yard"), args...)}
	p.cmd.Dir = s.root
	p.cmd.Env = append(os.Environ(), "YARD_HOME="+filepath.Join(s.state, "yard"))
	p.cmd.Cancel = func() error { return p.cmd.Process.Signal(syscall.SIGTERM) }
	p.cmd.WaitDelay = stopGrace
	p.cmd.Stderr = &p.errs
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	p.lines = bufio.NewScanner(out)
	p.lines.Buffer(nil, maxLine)
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s (make build makes it): %w", name, err)
	}
	return p, nil
}

// next reads a line; io.EOF when the program has ended.
func (p *program) next(v any) error {
	if !p.lines.Scan() {
		if err := p.lines.Err(); err != nil {
			return fmt.Errorf("read what %s prints: %w", p.name, err)
		}
		return io.EOF
	}
	if err := json.Unmarshal(p.lines.Bytes(), v); err != nil {
		return fmt.Errorf("%s printed something else than JSON: %q: %w", p.name, p.lines.Text(), err)
	}
	return nil
}

// rest reads lines until the program has ended.
func (p *program) rest(take func(line) error) error {
	for {
		var l line
		err := p.next(&l)
		if err == io.EOF { //nolint:errorlint // next returns it as it is
			return nil
		}
		if err == nil {
			err = take(l)
		}
		if err != nil {
			return err
		}
	}
}

// wait returns an error if the program did not end with code 0.
func (p *program) wait() error {
	if err := p.cmd.Wait(); err != nil {
		return fmt.Errorf("%s: %w\n%s", p.name, err, strings.TrimSpace(p.errs.String()))
	}
	return nil
}

// stop interrupts the program, as Ctrl-C does, and waits for it.
func (p *program) stop() error {
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		return fmt.Errorf("stop %s: %w", p.name, err)
	}
	if err := p.rest(func(line) error { return nil }); err != nil {
		return err
	}
	return p.wait()
}

// kill ends the program as a crash would.
func (p *program) kill() error {
	if err := p.cmd.Process.Kill(); err != nil {
		return fmt.Errorf("kill %s: %w", p.name, err)
	}
	return nil
}
