// Package trial plays single turns of an agent program without a hub, a journal or a configuration: what an author of agents needs at a
// terminal. Processes and the rules of the protocols are the edge's own.
package trial

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/switchyard-dev/switchyard/edge-server/internal/process"
	"github.com/switchyard-dev/switchyard/edge-server/internal/profile"
	"github.com/switchyard-dev/switchyard/shared/agentline"
)

// Agent is the program that is tried.
type Agent struct {
	Profile profile.Profile
	Edge    profile.Edge
	Dir     string // absolute; where it works unless its profile names a folder
	Tools   []Tool // that are carried out here; of the events runtime alone
	// Told is what the agent is told while it works, of what its profile says it can; nil for nothing. What comes when it listens no longer is lost.
	Told <-chan agentline.Control
}

// Output is where an agent's output goes beside the lines that are read from it; nil for nowhere.
type Output struct{ Stdout, Stderr io.Writer }

// Started is a running agent.
type Started struct {
	*process.Process
	Dir      string
	Warnings []string // what the profile could not be expanded to
}

// Folder is where the agent works in a turn.
func (a Agent) Folder(turn profile.Turn) string {
	return cmp.Or(a.Profile.Launch(turn, a.Edge).Dir, a.Dir)
}

// Start spawns the agent for one turn. The error says what to change.
func (a Agent) Start(host *process.Host, turn profile.Turn, output Output) (Started, error) {
	launch := a.Profile.Launch(turn, a.Edge)
	dir := cmp.Or(launch.Dir, a.Dir)
	nonce := process.NewNonce()
	p, err := host.Start(process.Spec{
		Argv: launch.Argv, Dir: dir, Env: process.Environment(a.Edge.Lookup, dir, launch.Env, nonce), Nonce: nonce, Grace: a.Profile.Grace,
		Stdout: output.Stdout, Stderr: output.Stderr,
	})
	if errors.Is(err, fs.ErrNotExist) {
		return Started{}, fmt.Errorf("start %q in %s: there is no such program or folder: %w", launch.Argv[0], dir, err)
	}
	if err != nil {
		return Started{}, fmt.Errorf("start %q in %s: %w", launch.Argv[0], dir, err)
	}
	return Started{Process: p, Dir: dir, Warnings: launch.Warnings}, nil
}
