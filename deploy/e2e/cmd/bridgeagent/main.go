// Command bridgeagent is an agent of the bridge protocol (S4) for the system tests. It asks for permission as often as it is told to, all at
// once, waits for every answer, and says what it was told. Each tool that it may use is noted in a book: that is the effect.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/switchyard-dev/switchyard/shared/bridge"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, func() { os.Stdin.Close() }) //nolint:errcheck // a wait for an answer ends when its process is to end
	err := run(os.Args[1:], os.Stdin, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bridgeagent:", err)
		os.Exit(1)
	}
}

// run plays the agent that args describe for one turn.
func run(args []string, stdin io.Reader, stdout io.Writer) error {
	a := agent{out: stdout}
	flags := flag.NewFlagSet("bridgeagent", flag.ContinueOnError)
	flags.StringVar(&a.book, "book", "", "`file` that gets a line for every tool that was used")
	flags.Var(&a.inputs, "input", "ask for Bash with this `JSON`; may be repeated")
	if err := flags.Parse(args); err != nil {
		return err
	}
	lines := bufio.NewReader(stdin)
	line, err := lines.ReadBytes('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read turn: %w", err)
	}
	turn, err := bridge.ParseTurn(line)
	if err != nil {
		return err
	}
	return a.play(turn, lines)
}
