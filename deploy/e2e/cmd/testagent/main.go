// Command testagent is an agent of the `events` runtime for the system tests. It says as many things as it is told, as fast as it is
// told, and writes each of them to a book (package truth) before it says it. It can also behave as badly as an agent can.
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
	"time"

	"github.com/switchyard-dev/switchyard/shared/bridge"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "testagent:", err)
		os.Exit(1)
	}
}

// run plays the agent whose behaviour args describe.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	var s script
	var f flood
	var l leak
	flags := flag.NewFlagSet("testagent", flag.ContinueOnError)
	flags.StringVar(&s.truth, "truth", "", "`file` that gets every item before it is said")
	flags.IntVar(&s.events, "events", 10, "how many things to say")
	flags.Float64Var(&s.rate, "rate", 0, "how many of them per second; 0: as fast as they are taken")
	flags.BoolVar(&s.tools, "tools", false, "use tools and reason now and then")
	flags.BoolVar(&s.stamp, "stamp", false, "say nothing but the time, as <nanoseconds since 1970>")
	flags.StringVar(&s.while, "while", "", "stop early, and end well, once this `file` is gone")
	flags.StringVar(&s.artifact, "artifact", "", "hand out a file of that `name` at the end")
	acts := flags.Bool("scenes", false, "play the scenario of the card protocol, or the part (package play), that the words of the message ask for instead")
	var when timing
	flags.DurationVar(&when.pace, "pace", 300*time.Millisecond, "between two signs of life of a scenario")
	flags.StringVar(&when.cue, "cue", "", "wait for this `file` instead, take it away, and go on; also between the pieces of a message")
	leaks := flags.Bool("leak", false, "tell the values of all variables CANARY_* instead, in every spelling and place")
	flags.BoolVar(&l.fails, "fail", false, "end a leak with an error")
	act := flags.String("act", "", "behave badly instead: exit, garbage, longline, forever or stubborn")
	flags.StringVar(&f.kind, "flood", "",
		"print as fast as anybody reads instead: partials, noise, endless or long; or 9.9 MiB in a good line: piece, answer")
	flags.StringVar(&f.speak, "speak", "events", "the language of a flood: bridge or events")
	flags.DurationVar(&f.span, "for", time.Second, "how long a flood lasts; one that is long is 50 MiB")
	if err := flags.Parse(args); err != nil {
		return err
	}
	in := bufio.NewReader(stdin)
	line, err := in.ReadBytes('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read turn: %w", err)
	}
	turn, err := bridge.ParseTurn(line)
	if err != nil {
		return err
	}
	if *acts {
		return perform(ctx, turn, in, stdout, when)
	}
	if *leaks {
		return l.play(in, stdout, stderr)
	}
	if f.kind != "" {
		return f.play(stdout)
	}
	if *act != "" {
		return misbehave(ctx, *act, stdout)
	}
	return s.play(ctx, turn, stdout)
}
