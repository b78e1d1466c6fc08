// Command fillstore writes conversations with very many messages, and the index of the search over them, straight into the SQLite file of a hub
// that is stopped: a hub of ordinary speed would take hours to be told as much. It prints the ids of some of the
// conversations. `make bench` measures a hub on what it leaves.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/sqlstore"
	"github.com/switchyard-dev/switchyard/shared/id"
)

const sampled = 500 // conversations whose ids are printed

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "fillstore:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out, log io.Writer) error {
	flags := flag.NewFlagSet("fillstore", flag.ContinueOnError)
	flags.SetOutput(log)
	path := flags.String("store", "", "the SQLite `file`")
	messages := flags.Int("messages", 10_000_000, "how many messages")
	sessions := flags.Int("sessions", 100_000, "in how many conversations")
	people := flags.String("people", "", "who takes part, ids separated by commas: the first in everything, the others in fewer and fewer")
	seed := flags.Uint64("seed", 1, "of the random numbers")
	if err := flags.Parse(args); err != nil {
		return err
	}
	w := world{messages: *messages, sessions: *sessions, random: newRandom(*seed, 0)}
	for _, person := range strings.Split(*people, ",") {
		user, err := id.ParseUser(person)
		if err != nil {
			return fmt.Errorf("-people: %w", err)
		}
		w.people = append(w.people, user)
	}
	if w.messages < 1 || w.sessions < 1 || w.messages > maxMessages {
		return errors.New("-messages and -sessions must be at least 1, and messages at most 100,000,000")
	}
	store, err := sqlstore.Open(ctx, *path) // makes the tables, and finds a hub that still runs
	if err != nil {
		return err
	}
	if err := store.Close(); err != nil {
		return err
	}
	start := time.Now()
	f, err := open(ctx, *path, log)
	if err != nil {
		return err
	}
	if err := errors.Join(f.fill(ctx, &w), f.close()); err != nil {
		return err
	}
	for range sampled {
		if _, err := fmt.Fprintln(out, w.ids[w.random.IntN(w.sessions)]); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(log, "fillstore: %d messages in %d conversations, %d postings, in %s\n", w.messages, w.sessions, w.postings, time.Since(start).Round(time.Second))
	return err
}
