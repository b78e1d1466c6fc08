// Package admission takes commands from the hub and sees each admitted run through to its terminal event. A command is on disk before it
// is answered and before anything starts; an intent is on disk before a process is spawned; a crash in between is never repeated blindly
// (architecture 6.1).
package admission

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/switchyard-dev/switchyard/edge-server/internal/journal"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/supervise"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
)

// DefaultPlaces is how many runs an edge works on at once.
const DefaultPlaces = 4

// Options of New. Edge, Journal, Executor, Profiles, Sweeper, Log and Metrics are required.
type Options struct {
	Edge     id.Edge
	Journal  *journal.Journal
	Executor Executor
	Profiles Profiles
	Sweeper  Sweeper
	Places   int // runs at once; 0 means DefaultPlaces
	Log      *slog.Logger
	Metrics  *telemetry.Registry
	Now      func() time.Time // wall clock of run.started; nil means time.Now
}

// Admission owns the runs of an edge from their command to their terminal. Its methods are safe for concurrent use, but for Receive, which one
// goroutine calls with the commands in the order in which they came.
type Admission struct {
	opts     Options
	journal  *journal.Journal
	schedule *schedule
	metrics  *metrics
	ready    chan struct{}
}

// New returns an Admission; nothing happens before Run.
func New(opts Options) *Admission {
	if opts.Places == 0 {
		opts.Places = DefaultPlaces
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	return &Admission{
		opts: opts, journal: opts.Journal, schedule: newSchedule(opts.Places, limits(opts.Profiles)),
		metrics: newMetrics(opts.Metrics), ready: make(chan struct{}),
	}
}

// Ready is closed when the runs of an earlier process are accounted for. Commands may be received from then on.
func (a *Admission) Ready() <-chan struct{} { return a.ready }

// Run first reconciles what an earlier process left, then works on runs until ctx ends: then it takes no new ones, stops the agents and
// returns when every terminal is in the journal. Runs that had not started stay admitted for the next process. An error means that the
// journal failed.
func (a *Admission) Run(ctx context.Context) error {
	if err := a.recover(ctx); err != nil {
		return fmt.Errorf("reconcile runs: %w", err)
	}
	close(a.ready)
	places := supervise.NewGroup(ctx)
	places.Go(a.followProfiles)
	for range a.opts.Places {
		places.Go(a.work)
	}
	return places.Wait()
}

// work is one place: it takes a run, sees it through, and takes the next.
func (a *Admission) work(ctx context.Context) error {
	for {
		life, t := a.schedule.next(ctx)
		if t == nil {
			return nil
		}
		a.metrics.running.Inc()
		err := a.perform(life, t)
		a.metrics.running.Dec()
		a.schedule.finish(t)
		if err != nil {
			return fmt.Errorf("run %s: %w", t.job.Run, err)
		}
	}
}

// followProfiles lets the places look again when a profile has another limit.
func (a *Admission) followProfiles(ctx context.Context) error {
	for {
		changed := a.opts.Profiles.Changed()
		a.schedule.lookAgain()
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		}
	}
}

// limits is what the schedule asks: a profile that is gone holds nobody back, its turns fail when they start.
func limits(p Profiles) func(profile string) int {
	return func(profile string) int {
		most, _ := p.Limit(profile)
		return most
	}
}

// LiveRuns returns the runs whose process this edge holds or whose start is still pending.
func (a *Admission) LiveRuns() []id.Run { return a.schedule.live() }

var (
	errCancelled = errors.New("a person stopped the run")
	errStopping  = errors.New("the edge stops")
)
