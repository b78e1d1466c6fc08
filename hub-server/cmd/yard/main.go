// Command yard follows and steers agents from a terminal, and runs a hub and an edge on this machine.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/cli"
)

// version is stamped in by the build.
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	code := run(ctx)
	stop()
	os.Exit(code)
}

func run(ctx context.Context) int {
	workDir, err := os.Getwd()
	if err != nil {
		fmt.Fprintln(os.Stderr, "yard: find the working directory:", err)
		return 1
	}
	executable, err := os.Executable()
	if err != nil {
		executable = os.Args[0]
	}
	return cli.Program{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv, WorkDir: workDir, Executable: executable, Version: version,
	}.Run(ctx, os.Args[1:])
}
