package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/switchyard-dev/switchyard/edge-server/internal/builtin/chat"
	"github.com/switchyard-dev/switchyard/edge-server/internal/builtin/scout"
	"github.com/switchyard-dev/switchyard/edge-server/internal/profile"
)

// builtinCommand plays an agent that ships inside the edge. The edge starts these itself; by hand they take a turn line on stdin and write the
// lines of the events runtime.
type builtinCommand struct {
	Scout scoutCommand `cmd:"" help:"Answer one turn about the git repository or folder that this is started in."`
	Chat  chatCommand  `cmd:"" help:"Answer one turn by asking an OpenAI-compatible endpoint; conversations are kept in this folder."`
}

type scoutCommand struct {
	Pace time.Duration `default:"0" help:"Pause between two pieces of text."`
}

// Run plays scout for one turn.
func (c *scoutCommand) Run(p program) error {
	dir, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("find the workspace: %w", err)
	}
	return scout.Run(p.ctx, p.turnInput(), p.stdout, scout.Options{Dir: dir, Pace: c.Pace, Env: p.environ})
}

// chatCommand takes the key from OPENAI_API_KEY alone: other users of the machine can see command lines.
type chatCommand struct {
	BaseURL string `name:"base-url" env:"OPENAI_BASE_URL" placeholder:"URL" help:"Address of the endpoint; empty is OpenAI's own."`
	Model   string `env:"OPENAI_MODEL" help:"The model to talk to."`
	System  string `help:"What the model is told before the conversation."`
}

// Run plays chat for one turn.
func (c *chatCommand) Run(p program) error {
	dir, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("find the workspace: %w", err)
	}
	return chat.Run(p.ctx, p.turnInput(), p.stdout, chat.Options{
		BaseURL: c.BaseURL, Key: os.Getenv(profile.ChatKey), Model: c.Model, System: c.System, Dir: dir,
	})
}

// turnInput is stdin that stops waiting for a turn when the program is told to stop: a read from a pipe goes on through signals.
func (p program) turnInput() io.Reader {
	stdin, ok := p.stdin.(*os.File)
	if !ok || isTerminal(stdin) {
		return p.stdin
	}
	fd := stdin.Fd()
	if syscall.SetNonblock(int(fd), true) != nil {
		return p.stdin
	}
	in := os.NewFile(fd, stdin.Name())
	context.AfterFunc(p.ctx, func() { _ = in.SetReadDeadline(time.Unix(1, 0)) }) // a file has no deadline, and never waits
	return in
}
