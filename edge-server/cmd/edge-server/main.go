// Command edge-server runs agents on this machine for a hub.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/alecthomas/kong"
)

// version is stamped in by the build.
var version = "dev"

// program is what commands need of the outside. Commands write results to stdout; logs and errors go to stderr.
type program struct {
	ctx     context.Context // ends when somebody wants the program to stop
	environ []string
	stdin   io.Reader
	stdout  io.Writer
	stderr  io.Writer
	agent   []string // of commands that try an agent: its command line, behind --
}

// commands is the command line, one file per command.
type commands struct {
	Serve   serveCommand   `cmd:"" default:"withargs" help:"Run agents for the hub (the default)."`
	Enrol   enrolCommand   `cmd:"" help:"Join a hub with a token from: yard edge enrol."`
	Health  healthCommand  `cmd:"" help:"Ask the edge that runs on this machine how it is."`
	Runs    runsCommand    `cmd:"" help:"List what the edge of this machine has run."`
	Follow  followCommand  `cmd:"" help:"Print the events of the edge of this machine as they come."`
	Version versionCommand `cmd:"" help:"Print the version."`
	Profile profileCommand `cmd:"" help:"Look after agents' profiles."`
	Bridge  bridgeCommand  `cmd:"" help:"Try an agent of the bridge protocol here, without a hub."`
	Events  eventsCommand  `cmd:"" help:"Try an agent of the events runtime here, without a hub."`
	Builtin builtinCommand `cmd:"" help:"Be one of the agents that ship inside the edge."`

	Completion completionCommand `cmd:"" help:"Print the completion script of a shell."`
	Complete   completeCommand   `cmd:"" name:"complete-words" hidden:""`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	p := program{ctx: ctx, environ: os.Environ(), stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr}
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	code := p.run(os.Args[1:])
	stop()
	os.Exit(code)
}

// exitCode is the error of a command that has said everything and ends the program with a code of its own.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// run carries out one command line and returns the exit code: 0, 1 for a failure, 2 for a command line that cannot be read, or a code of the
// command's own.
func (p program) run(args []string) int {
	var cli commands
	args, p.agent = splitAgent(args)
	exited := -1
	parser, err := kong.New(&cli, kong.Name("edge-server"), kong.Description("Runs AI agents on this machine for a Switchyard hub."),
		kong.Writers(p.stdout, p.stderr), kong.Exit(func(code int) { exited = code }), kong.UsageOnError(), kong.Bind(p))
	if err != nil {
		fmt.Fprintln(p.stderr, "edge-server:", err) //nolint:errcheck // nowhere left to say it
		return 2
	}
	command, err := parser.Parse(longFlags(args))
	if exited >= 0 {
		return exited
	}
	if err != nil {
		parser.Errorf("%s", err)
		return 2
	}
	var code exitCode
	if err := command.Run(); errors.As(err, &code) {
		return int(code)
	} else if err != nil {
		fmt.Fprintln(p.stderr, "edge-server:", err) //nolint:errcheck // nowhere left to say it
		return 1
	}
	return 0
}

// longFlags lets `-check` stand for `--check`, as in the documentation of both servers.
func longFlags(args []string) []string {
	long := slices.Clone(args)
	if i := slices.Index(long, "-check"); i >= 0 {
		long[i] = "--check"
	}
	return long
}
