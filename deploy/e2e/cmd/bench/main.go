// Command bench measures what a person feels and what an operator pays, with the real programs on this machine, and prints a table.
// `make bench` runs it; docs/performance.md keeps a table of a known machine. `make bench-fanout` runs `bench fanout`, which measures how the hub
// serves many devices, side by side with another server that does nothing else.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// bench is one round of measurements.
type bench struct {
	bin   string // folder of the programs
	quick bool
	// messages are how many there are in the large store.
	messages int
}

// measurement is one thing that is measured; it may give several rows.
type measurement struct {
	name string
	what func(b bench, t *stage) []row
}

// measurements are in the order in which they are made: the calm ones first.
func measurements() []measurement {
	return []measurement{
		{"ready", bench.ready}, {"memory", bench.memory}, {"first", bench.first}, {"latency", bench.latency}, {"answer", bench.answer}, {"lid", bench.lid},
		{"streams", bench.streams}, {"floor", bench.floor}, {"commit", bench.commit}, {"million", bench.million}, {"large", bench.large}, {"overhead", bench.overhead},
		{"lines", bench.lines}, {"cards", bench.cards}, {"omni", bench.omni},
	}
}

// suite is a set of measurements with a table of its own.
type suite struct {
	name         string // of the command, and in the marks around the table
	measurements []measurement
}

// suiteOf returns the suite that args ask for, and the rest of them.
func suiteOf(args []string) (suite, []string) {
	if len(args) > 0 && args[0] == fanout {
		return suite{fanout, fanMeasurements()}, args[1:]
	}
	return suite{"bench", measurements()}, args
}

func (s suite) names() (all []string) {
	for _, m := range s.measurements {
		all = append(all, m.name)
	}
	return all
}

func run(ctx context.Context, args []string, out io.Writer) error {
	suite, args := suiteOf(args)
	flags := flag.NewFlagSet(suite.name, flag.ContinueOnError)
	quick := flags.Bool("quick", false, "shorter and rougher: for a look, not for the record")
	only := flags.String("only", "", "make only these measurements, separated by commas: "+strings.Join(suite.names(), ", "))
	messages := flags.Int("messages", 0, "how many messages there are in the large store; 0: 10,000,000, or 200,000 with -quick")
	write := flags.String("write", "", "put the table into this Markdown `file`, between its marks; with -only its rows alone")
	if err := flags.Parse(args); err != nil {
		return err
	}
	bin, err := os.MkdirTemp("", "switchyard-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(bin) //nolint:errcheck // a leftover in the temporary folder
	if err := build(bin); err != nil {
		return err
	}
	table := table{machine: machine(), quick: *quick, date: time.Now()}
	for _, m := range suite.measurements {
		if *only != "" && !slices.Contains(strings.Split(*only, ","), m.name) {
			continue
		}
		fmt.Fprintln(os.Stderr, "bench: measuring", m.name)
		rows, err := onStage(ctx, func(t *stage) []row { return m.what(bench{bin, *quick, *messages}, t) })
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "bench: %s: %v\n", m.name, err)
			rows = []row{{m.name, "to be measured", err.Error(), false}}
		}
		table.rows = append(table.rows, rows...)
	}
	if _, err := io.WriteString(out, table.String()); err != nil {
		return err
	}
	if *write != "" {
		if err := table.into(*write, suite.name, *only != ""); err != nil {
			return err
		}
	}
	return table.missed()
}

// build makes the programs as `make build` does.
func build(dir string) error {
	if err := os.Setenv("CGO_ENABLED", "0"); err != nil {
		return err
	}
	flags := []string{"-trimpath", "-buildvcs=false", "-ldflags", "-s -w"}
	return errors.Join(rig.Build(dir, flags...), rig.BuildOnly(dir, "fanload", flags...))
}

// rig starts a hub and an edge that offers the profiles.
func (b bench) rig(t *stage, profiles func(*rig.Rig) map[string]string) *rig.Rig {
	r := rig.New(t, rig.Options{Bin: b.bin})
	r.AddEdge("laptop", profiles(r))
	return r
}

// up starts `yard up` on a state folder and returns the process and what it says when it is ready.
func (b bench) up(t *stage, state string) (*rig.Process, ready) {
	p := rig.Start(t, "yard up", nil, filepath.Join(b.bin, "yard"), "up", "--state", state, "--workspace", rig.Root(),
		"--hub-addr", "127.0.0.1:0", "--edge-addr", "127.0.0.1:0", "--json-ready")
	p.WaitFor(`"took_ms"`)
	return p, readReady(t, p)
}
