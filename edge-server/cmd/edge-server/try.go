package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/edge-server/internal/process"
	"github.com/switchyard-dev/switchyard/edge-server/internal/profile"
	"github.com/switchyard-dev/switchyard/edge-server/internal/trial"
)

// bridgeCommand and eventsCommand try an agent's program: one per runtime, with the same commands.
type bridgeCommand struct {
	Run   bridgeRunCommand   `cmd:"" help:"Play one turn of an agent in this terminal."`
	Check bridgeCheckCommand `cmd:"" help:"Say which rules of the protocol an agent keeps."`
}

type eventsCommand struct {
	Run   eventsRunCommand   `cmd:"" help:"Play one turn of an agent in this terminal."`
	Check eventsCheckCommand `cmd:"" help:"Say which rules of the runtime an agent keeps."`
}

// splitAgent takes the command line of an agent off that of a command which tries one.
func splitAgent(args []string) (own, agent []string) {
	if len(args) == 0 || (args[0] != "bridge" && args[0] != "events") {
		return args, nil
	}
	if i := slices.Index(args, "--"); i >= 0 {
		return args[:i], args[i+1:]
	}
	return args, nil
}

// agentFlags say which program is tried.
type agentFlags struct {
	Profile string        `placeholder:"FILE" help:"Start the agent as this profile says, instead of a command behind --."`
	Grace   time.Duration `placeholder:"D" help:"Time from SIGTERM to SIGKILL (default: the profile's, else 5s)."`
}

var errNoAgent = errors.New("which agent? Put its command behind --, as in `edge-server bridge run hello -- python3 agent.py`, or name its --profile")

// agent returns the program that is tried. Of a file the runtime counts only as a check: the command says which one it is.
func (f agentFlags) agent(p program, runtime profile.Runtime) (trial.Agent, error) {
	dir, err := os.Getwd()
	if err != nil {
		return trial.Agent{}, fmt.Errorf("find the working directory: %w", err)
	}
	self, err := os.Executable()
	if err != nil {
		return trial.Agent{}, fmt.Errorf("find this program: %w", err)
	}
	a := trial.Agent{Edge: profile.Edge{Program: self, Lookup: p.lookup}, Dir: dir}
	switch {
	case (f.Profile == "") == (len(p.agent) == 0):
		return trial.Agent{}, errNoAgent
	case f.Profile == "":
		a.Profile = profile.Profile{
			Name: "command", Runtime: runtime, Command: p.agent[0], Args: p.agent[1:], Timeout: profile.DefaultTimeout,
			Grace: profile.DefaultGrace, Streaming: true, Policy: profile.Ask, Dir: dir,
		}
	default:
		if a.Profile, err = readProfile(f.Profile, runtime, a.Edge); err != nil {
			return trial.Agent{}, err
		}
	}
	if f.Grace > 0 {
		a.Profile.Grace = f.Grace
	}
	return a, nil
}

func readProfile(path string, runtime profile.Runtime, here profile.Edge) (profile.Profile, error) {
	file := profile.ReadFile(path, here)
	switch found := file.Profile.Runtime; {
	case file.Problems.Faulty():
		return profile.Profile{}, fmt.Errorf("%s cannot be used: %s", path, file.Problems)
	case found != runtime:
		return profile.Profile{}, fmt.Errorf("%s is for runtime %s: try it with edge-server %s", path, found, found)
	}
	return file.Profile, nil
}

// lookup is os.LookupEnv of the program's environment.
func (p program) lookup(name string) (string, bool) {
	for _, pair := range slices.Backward(p.environ) {
		if value, ok := strings.CutPrefix(pair, name+"="); ok {
			return value, true
		}
	}
	return "", false
}

// host starts agents for this command alone. It does not collect their orphans, as the edge does: each turn ends with the end of all that its
// marks find, the system collects the rest when this process ends, and watching for them would cost a turn as much as its start.
func (p program) host() *process.Host {
	limits := process.DefaultLimits()
	limits.Tasks = 0 // counting them costs a turn some milliseconds where it takes a control group of its own
	return process.NewHost(slog.New(slog.NewTextHandler(p.stderr, &slog.HandlerOptions{Level: slog.LevelError})), limits)
}

// isTerminal says whether f is a terminal that wants what terminals show.
func isTerminal(f any) bool {
	file, ok := f.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// colours says whether a terminal wants them.
func (p program) colours() bool {
	_, no := p.lookup("NO_COLOR")
	term, _ := p.lookup("TERM")
	return !no && term != "dumb"
}
