package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/screen"
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/event"
)

const (
	toolShell = "/bin/sh"
	toolGrace = 5 * time.Second // that a command has to close its output once it was stopped
	maxWhy    = 1 << 10         // bytes of what a command says about its failure
)

// tools are the commands of the person's that --tool names; nil for none, so that what another device offers stays.
func (c cardsCmd) tools() ([]client.CardTool, error) {
	if c.NoTools {
		return []client.CardTool{}, nil
	}
	var all []client.CardTool
	for _, given := range c.Tool {
		name, command, ok := strings.Cut(given, "=")
		if !ok || name == "" || strings.TrimSpace(command) == "" {
			return nil, fmt.Errorf("--tool %s: write NAME=COMMAND", screen.Clean(given))
		}
		if slices.ContainsFunc(all, func(t client.CardTool) bool { return t.Name == name }) {
			return nil, fmt.Errorf("--tool %s: there are two of that name", screen.Clean(name))
		}
		all = append(all, client.CardTool{
			ClientTool: card.ClientTool{
				Name: name, Description: "A command on the machine of the person. It gets the arguments as JSON on its standard input, and its output is the result.",
			},
			Run: func(ctx context.Context, call client.CardCall) (client.CardResult, error) {
				return runTool(ctx, command, call.Input)
			},
		})
	}
	return all, nil
}

// runTool runs a command with the input of a call. Its output is the result: a JSON value as such, anything else as text.
func runTool(ctx context.Context, command string, input json.RawMessage) (client.CardResult, error) {
	cmd := exec.CommandContext(ctx, toolShell, "-c", command) //nolint:gosec // the person's own words
	out, why := &bounded{most: event.MaxClientToolResponse}, &bounded{most: maxWhy, forgiving: true}
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = bytes.NewReader(input), out, why, toolGrace
	err := cmd.Run()
	var exited *exec.ExitError
	switch {
	case out.full:
		return client.CardResult{}, fmt.Errorf("the output has more than %d bytes", out.most)
	case errors.As(err, &exited):
		return client.CardResult{}, errors.New(cmp.Or(strings.TrimSpace(strings.ToValidUTF8(why.kept.String(), "?")), exited.String()))
	case err != nil:
		return client.CardResult{}, err
	}
	if json.Valid(out.kept.Bytes()) {
		return client.CardResult{Output: json.RawMessage(out.kept.Bytes())}, nil
	}
	return client.CardResult{Output: strings.TrimSuffix(strings.ToValidUTF8(out.kept.String(), "?"), "\n")}, nil
}

// bounded keeps what fits. Where more comes, a forgiving one drops it; any other fails.
type bounded struct {
	kept      bytes.Buffer // not embedded: its ReadFrom, which os/exec would use, knows no bound
	most      int
	forgiving bool
	full      bool
}

var errFull = errors.New("more output than can be kept")

func (b *bounded) Write(p []byte) (int, error) {
	room := b.most - b.kept.Len()
	if len(p) <= room {
		return b.kept.Write(p)
	}
	b.full = true
	if !b.forgiving {
		return 0, errFull
	}
	b.kept.Write(p[:room])
	return len(p), nil
}
