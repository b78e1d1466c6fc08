package runtime

import (
	"log/slog"
	"maps"
	"slices"

	"github.com/switchyard-dev/switchyard/edge-server/internal/admission"
	"github.com/switchyard-dev/switchyard/edge-server/internal/process"
	"github.com/switchyard-dev/switchyard/edge-server/internal/profile"
	"github.com/switchyard-dev/switchyard/edge-server/internal/runtime/redact"
)

// spawn is a process that is to be.
type spawn struct {
	profile profile.Profile
	adapter Adapter
	launch  profile.Launch
	dir     string
	job     admission.Job
	offer   offer
	log     *slog.Logger
}

func (e *Executor) spawn(s spawn) (*running, error) {
	secrets := redact.New(slices.Concat(e.opts.Secrets, s.launch.Secrets, s.offer.secrets))
	dialogue, err := s.adapter.Open(s.turn(keeper{dir: s.dir, blobs: e.opts.Blobs, secrets: secrets}))
	if err != nil {
		return nil, err
	}
	maps.Copy(s.offer.env, s.launch.Env) // the profile's own count
	nonce := process.Nonce(s.job.Nonce)
	proc, err := e.opts.Host.Start(process.Spec{
		Argv: s.launch.Argv, Dir: s.dir, Env: process.Environment(e.opts.Edge.Lookup, s.dir, s.offer.env, nonce), Nonce: nonce, Grace: s.profile.Grace,
	})
	if err != nil {
		return nil, startFailed(err, s.launch.Argv[0])
	}
	r := &running{
		proc: proc, dir: s.dir, dialogue: &serial{dialogue: dialogue}, input: process.NewInput(), limit: s.profile.Timeout, secrets: secrets, log: s.log,
		metrics: e.metrics, calls: s.offer.calls, takes: s.profile.Takes,
	}
	r.desk = newDesk(r, rules{profile: func() profile.Profile { return e.current(s.profile) }, mode: s.job.Approval, grants: slices.Clone(s.job.Grants)})
	return r, nil
}

func (s spawn) turn(artifacts Artifacts) Turn {
	return Turn{
		Message: s.job.Prompt, Attachments: attachments(s.job.Attachments), SessionID: string(s.job.AgentSession), SessionName: s.job.SessionName,
		Manner: s.job.Manner, Streaming: s.profile.Streaming, Permission: s.profile.Permission, Artifacts: artifacts,
		ClientTools: s.offer.tools, MCP: s.offer.at, Controls: s.profile.Controls, Compact: s.job.Compact, Thinking: s.job.Thinking,
	}
}
