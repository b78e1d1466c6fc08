package runtime

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"

	"golang.org/x/sys/unix"

	"github.com/switchyard-dev/switchyard/edge-server/internal/admission"
	"github.com/switchyard-dev/switchyard/edge-server/internal/process"
	"github.com/switchyard-dev/switchyard/edge-server/internal/profile"
	"github.com/switchyard-dev/switchyard/edge-server/internal/workspace"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
)

// Options of NewExecutor. All are required but Repository, Tools and Secrets.
type Options struct {
	Host       *process.Host
	Profiles   *profile.Library
	Adapters   map[profile.Runtime]Adapter
	Workspaces workspace.Store
	// Repository is the absolute folder that scout reads; empty: a directory of its own, like any other agent.
	Repository string
	Blobs      Blobs
	// Tools offers tools of clients to agents by MCP; nil: agents can call them in lines alone.
	Tools ToolServer
	Edge  profile.Edge
	// Secrets are the edge's own. Agents run as the same user and may come across them.
	Secrets []string
	Log     *slog.Logger
	Metrics *telemetry.Registry
}

// Executor starts agents: an admission.Executor and admission.Sweeper. Safe for concurrent use.
type Executor struct {
	opts    Options
	metrics *metrics
	logins  logins
}

// NewExecutor returns an Executor for the profiles of opts, as they are when each run starts.
func NewExecutor(opts Options) *Executor {
	return &Executor{opts: opts, metrics: newMetrics(opts.Metrics)}
}

// Start spawns the agent of job. See admission.Executor.
func (e *Executor) Start(ctx context.Context, job admission.Job) (admission.Process, error) {
	profiles := e.opts.Profiles.Current()
	p, ok := profiles.Profiles[profile.Name(job.Profile)]
	adapter := e.opts.Adapters[p.Runtime]
	if !ok || adapter == nil {
		return nil, fault.New(fault.ProfileUnknown, "This edge has no profile %.80q.", job.Profile)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	launch := p.Launch(profile.Turn{SessionID: string(job.AgentSession), SessionName: job.SessionName}, e.opts.Edge)
	with := credentialsOf(p, e.opts.Edge)
	if err := e.logins.check(p.Name, with, profiles); err != nil {
		return nil, err
	}
	dir, err := e.directory(p, launch, job)
	if err != nil {
		return nil, err
	}
	log := e.opts.Log.With("run", job.Run, "profile", job.Profile)
	for _, warning := range launch.Warnings {
		log.Warn("profile expanded with a warning", "warning", warning)
	}
	offer := e.offer(p, job)
	r, err := e.spawn(spawn{p, adapter, launch, dir, job, offer, log})
	if err != nil {
		offer.calls.end()
		return nil, err
	}
	r.login = &login{logins: &e.logins, name: p.Name, with: with, profiles: profiles}
	return r, nil
}

// current is a profile as it is now; one that is gone stays what it was.
func (e *Executor) current(p profile.Profile) profile.Profile {
	if now, ok := e.opts.Profiles.Find(p.Name); ok {
		return now
	}
	return p
}

// directory is the profile's own, else the repository for the agent that reads one, else a private one.
func (e *Executor) directory(p profile.Profile, launch profile.Launch, job admission.Job) (string, error) {
	switch {
	case launch.Dir != "":
		return launch.Dir, nil
	case p.Executor == profile.Scout && e.opts.Repository != "":
		return e.opts.Repository, nil
	}
	dir, err := e.opts.Workspaces.Directory(job.Session, job.Agent)
	switch {
	case err == nil:
		return dir, nil
	case scarce(err):
		return "", noRoom(err)
	}
	return "", fault.Wrap(err, fault.StartFailed, "The edge could not make a workspace for the agent.")
}

func startFailed(err error, program string) error {
	switch {
	case scarce(err):
		return noRoom(err)
	case errors.Is(err, fs.ErrNotExist):
		return fault.Wrap(err, fault.StartFailed, "The agent's program %.200q does not exist. Check command and cwd of its profile.", program)
	}
	return fault.Wrap(err, fault.StartFailed, "The agent's program %.200q could not be started. The log of the edge says why.", program)
}

// scarce says whether the machine has run out of something that a later start may find again: file descriptors, processes, memory, disk.
func scarce(err error) bool {
	for _, lack := range []error{unix.EMFILE, unix.ENFILE, unix.EAGAIN, unix.ENOMEM, unix.ENOSPC} {
		if errors.Is(err, lack) {
			return true
		}
	}
	return false
}

func noRoom(err error) error {
	return fault.Wrap(err, fault.Busy, "The agent's machine has no room for another process at the moment. Try again later; the log of the edge says what it lacks.")
}

// Sweep ends what an earlier process of this edge left of a start. See admission.Sweeper.
func (e *Executor) Sweep(ctx context.Context, nonce admission.Nonce) error {
	return e.opts.Host.Sweep(ctx, process.Nonce(nonce))
}
