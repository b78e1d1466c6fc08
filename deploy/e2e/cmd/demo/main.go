// Command demo plays the main story without a person: a hub and an edge on a fresh state, a question to the agent scout from one device,
// a second device that is killed in the middle and resumes by its cursor. It prints what each device saw as a digest and exits with 0
// only if both digests are the same and equal to the run's log.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

// limit is how long the whole story may take.
const limit = 60 * time.Second

func main() {
	programs := flag.String("programs", "", "folder with yard, hub-server and edge-server (default: bin in the repository)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *programs, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// run plays the story in a folder of its own, which stays if something is wrong.
func run(ctx context.Context, programs string, out io.Writer) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("the story took longer than %v", limit))
	defer cancel()
	root, err := repository()
	if err != nil {
		return err
	}
	state, err := os.MkdirTemp("", "switchyard-demo-")
	if err != nil {
		return fmt.Errorf("make a state folder: %w", err)
	}
	s := &story{root: root, programs: cmp.Or(programs, filepath.Join(root, "bin")), state: state, out: out, begun: time.Now()}
	err = errors.Join(s.play(ctx), context.Cause(ctx))
	if err != nil {
		return fmt.Errorf("%w\nlogs and state are in %s", err, state)
	}
	return os.RemoveAll(state)
}

// repository is the folder above this one that holds go.work.
func repository() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the repository: %w", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.work")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("find the repository: start this from inside of it")
		}
		dir = parent
	}
}
