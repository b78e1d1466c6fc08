package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/edge-server/internal/conformance"
	"github.com/switchyard-dev/switchyard/edge-server/internal/profile"
)

// checkFlags are those of a check.
type checkFlags struct {
	agentFlags
	Timeout    time.Duration `default:"30s" placeholder:"D" help:"Limit of each turn (default: 30s)."`
	Message    string        `placeholder:"TEXT" help:"What to say in ordinary turns, if a greeting is not enough."`
	Permission bool          `help:"Let the agent ask, and play the turns about that. It is told yes: what it then does, it does."`
	Skip       []string      `placeholder:"PROBE" help:"Do not play this turn, such as large; may be given again."`
	Strict     bool          `help:"Fail on rules that an agent only should keep, too."`
	JSON       bool          `name:"json" help:"Print the report as JSON, for programs."`
}

type bridgeCheckCommand struct{ checkFlags }

const checkHelp = `The agent is started some dozen times, with turns that try to show a breach. A command works in this folder, the agent of a profile in an empty one, unless its profile says where; what is new in a folder that stays is told. The exit code is 1 if a rule is broken.`

// Help is shown below the usage.
func (bridgeCheckCommand) Help() string {
	return checkHelp + `

Examples:
  edge-server bridge check -- sh examples/agents/echo-sh.sh
  edge-server bridge check --profile guard-python.yaml --message "write a note"
  edge-server bridge check --json --strict -- ./agent > report.json

The turns: ` + strings.Join(conformance.ProbeNames(), ", ") + `.`
}

// Run checks an agent of the bridge protocol.
func (c *bridgeCheckCommand) Run(p program) error {
	return c.check(p, profile.Bridge, nil, nil)
}

type eventsCheckCommand struct {
	checkFlags
	ClientTool []string `sep:"none" placeholder:"NAME" help:"Offer a tool of this name in the turns about tools of clients; may be given again (default: open_url). They are played where the agent may ask, which this implies."`
	Control    []string `placeholder:"WORD" enum:"steer,retry_now,compact,thinking_level" help:"Play the turns about this, too: steer, retry_now, compact or thinking_level; may be given again (default: what the profile says)."`
}

// Help is shown below the usage.
func (eventsCheckCommand) Help() string {
	return checkHelp + `

Examples:
  edge-server events check -- edge-server builtin scout
  edge-server events check --permission --message "write a note" -- ./agent
  edge-server events check --control steer -- edge-server builtin scout
  edge-server events check --client-tool open_url --message "show me the news" -- ./agent`
}

// Run checks an agent of the events runtime.
func (c *eventsCheckCommand) Run(p program) error {
	c.Permission = c.Permission || len(c.ClientTool) > 0
	return c.check(p, profile.Events, c.ClientTool, c.Control)
}

func (f *checkFlags) checkSkip() error {
	for _, skip := range f.Skip {
		if !slices.Contains(conformance.ProbeNames(), skip) {
			return fmt.Errorf("--skip %q is none of the turns: %s", skip, strings.Join(conformance.ProbeNames(), ", "))
		}
	}
	return nil
}

func (f *checkFlags) check(p program, runtime profile.Runtime, clientTools, controls []string) error {
	a, err := f.agent(p, runtime)
	if err != nil {
		return err
	}
	a.Profile.Permission = a.Profile.Permission || f.Permission
	a.Profile.Controls = append(slices.Clone(a.Profile.Controls), controls...)
	if err := f.checkSkip(); err != nil {
		return err
	}
	if f.Profile != "" && a.Profile.Cwd == "" { // as in the edge, which gives such an agent a folder of its own
		if a.Dir, err = os.MkdirTemp("", "switchyard-check-"); err != nil {
			return fmt.Errorf("make a folder for the agent: %w", err)
		}
		defer os.RemoveAll(a.Dir)
	}
	before := folder{}
	if f.Profile == "" || a.Profile.Cwd != "" {
		before = lookInto(a.Folder(profile.Turn{}))
	}
	options := conformance.Options{
		Agent: a, Command: append([]string{a.Profile.Command}, a.Profile.Args...), Timeout: f.Timeout, Message: f.Message, Skip: f.Skip, Progress: func(string) {},
		ClientTools: clientTools,
	}
	wipe := func() {}
	if isTerminal(p.stderr) && !f.JSON {
		options.Progress = func(probe string) { fmt.Fprintf(p.stderr, "\r\x1b[Kplaying: %s", probe) }
		wipe = func() { fmt.Fprint(p.stderr, "\r\x1b[K") }
	}
	report, err := conformance.Check(p.ctx, p.host(), options)
	wipe()
	before.tellNew(p.stderr)
	if err != nil {
		return err
	}
	if f.JSON {
		err = report.WriteJSON(p.stdout, f.Strict)
	} else {
		err = report.Print(p.stdout)
	}
	if err == nil && !report.OK(f.Strict) {
		return exitCode(1)
	}
	return err
}
