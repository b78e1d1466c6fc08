package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/edge-server/internal/profile"
	"github.com/switchyard-dev/switchyard/edge-server/internal/trial"
	"github.com/switchyard-dev/switchyard/shared/agentline"
	"github.com/switchyard-dev/switchyard/shared/bridge"
	"github.com/switchyard-dev/switchyard/shared/supervise"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// runFlags are those of a turn.
type runFlags struct {
	agentFlags
	Words       []string      `arg:"" optional:"" help:"What to say to the agent; without it stdin is read."`
	Message     string        `placeholder:"TEXT" help:"What to say to the agent, instead of words."`
	Session     string        `placeholder:"ID" help:"Go on with this session: what the agent called it in an earlier turn."`
	SessionName string        `placeholder:"NAME" help:"Name of the session for people (default: default)."`
	Attach      []string      `sep:"none" placeholder:"URL" help:"Attach a file or an address; may be given again."`
	Timeout     time.Duration `placeholder:"D" help:"Limit of the turn (default: the profile's, else 30m)."`
	NoStreaming bool          `help:"Leave out partials, as a profile with streaming: false does."`
	Permission  bool          `help:"Let the agent ask, as a profile with permission: true does."`
	Policy      string        `placeholder:"POLICY" enum:",ask,allow-readonly,allow-all,deny-all" default:"" help:"Who answers about tools: ask, allow-readonly, allow-all or deny-all (default: the profile's, else ask)."`
	JSON        bool          `name:"json" help:"Print one JSON object per line, for programs."`
}

type bridgeRunCommand struct{ runFlags }

// Help is shown below the usage.
func (bridgeRunCommand) Help() string {
	return `The reply goes to stdout, everything else to stderr. Reasoning is shown on a terminal, dimmed. The exit code is that of the turn: 0, 1 for an error of the agent's, 124 at the limit, 130 after Ctrl-C, else the program's own.

Examples:
  edge-server bridge run hello -- sh examples/agents/echo-sh.sh
  edge-server bridge run --profile counter.yaml --session 7f3a and again
  git diff | edge-server bridge run -- python3 review.py
  edge-server bridge run --permission --policy deny-all "tidy up" -- ./agent`
}

// Run plays one turn.
func (c *bridgeRunCommand) Run(p program) error {
	return c.play(p, profile.Bridge, "edge-server bridge run", eventsOnly{})
}

type eventsRunCommand struct {
	runFlags
	ClientTool []string `sep:"none" placeholder:"NAME=COMMAND" help:"Offer the agent a tool, as a client does: the command gets the arguments on stdin, its output is the result. May be given again. The agent may ask then, as with --permission."`
	Control    []string `placeholder:"WORD" enum:"steer,retry_now,compact,thinking_level" help:"The agent can do this while it works, as a profile with controls says: steer, retry_now, compact or thinking_level; may be given again."`
	Compact    bool     `help:"Ask the agent to make its context shorter, and nothing else; with --session."`
	Thinking   string   `name:"thinking-level" placeholder:"LEVEL" enum:",none,low,medium,high,xhigh,max" default:"" help:"How hard the model should think: none, low, medium, high, xhigh or max."`
}

// Help is shown below the usage.
func (eventsRunCommand) Help() string {
	return `The reply goes to stdout, everything else to stderr. The exit code is that of the turn, as in edge-server bridge run. With --permission, what the agent asks is answered in this terminal; a policy answers for tools alone. An agent with controls hears in this terminal, while it works: /steer TEXT, /retry and /compact.

Examples:
  edge-server events run "what changed here?" -- edge-server builtin scout
  edge-server events run --json hello -- node agent.js
  edge-server events run --permission "tidy up" -- ./agent
  edge-server events run --control steer "what changed?" -- edge-server builtin scout
  edge-server events run --client-tool "open_url=jq -r .url" "show me the news" -- ./agent`
}

// Run plays one turn.
func (c *eventsRunCommand) Run(p program) error {
	tools, err := trial.ParseTools(c.ClientTool)
	if err != nil {
		return fmt.Errorf("--client-tool: %w", err)
	}
	more := eventsOnly{tools: tools, controls: c.Control, compact: c.Compact, thinking: wire.ThinkingLevel(c.Thinking)}
	return c.play(p, profile.Events, "edge-server events run", more)
}

// eventsOnly is what a turn of the events runtime may have besides.
type eventsOnly struct {
	tools    []trial.Tool
	controls []string
	compact  bool
	thinking wire.ThinkingLevel
}

// into adds it to the turn of an agent. What a turn asks for the agent is taken to know.
func (e eventsOnly) into(a *trial.Agent, turn *bridge.Turn) {
	a.Tools = e.tools
	a.Profile.Controls = append(slices.Clone(a.Profile.Controls), e.controls...)
	turn.Compact, turn.ThinkingLevel = e.compact, e.thinking
	if e.compact && !a.Profile.Takes(string(wire.ControlCompact)) {
		a.Profile.Controls = append(a.Profile.Controls, string(wire.ControlCompact))
	}
	if e.thinking != "" && !a.Profile.Takes(wire.ThinkingLevels) {
		a.Profile.Controls = append(a.Profile.Controls, wire.ThinkingLevels)
	}
}

func (f *runFlags) play(p program, runtime profile.Runtime, command string, more eventsOnly) error {
	a, err := f.agent(p, runtime)
	if err != nil {
		return err
	}
	if f.Policy != "" {
		a.Profile.Policy = profile.Policy(f.Policy)
	}
	a.Profile.Permission = a.Profile.Permission || f.Permission || f.Policy != "" || len(more.tools) > 0
	a.Profile.Streaming = a.Profile.Streaming && !f.NoStreaming
	if f.Timeout > 0 {
		a.Profile.Timeout = f.Timeout
	}
	turn := bridge.Turn{SessionID: f.Session, SessionName: f.SessionName}
	if !more.compact {
		if turn, err = f.turn(p); err != nil {
			return err
		}
	}
	more.into(&a, &turn)
	approver, told, done := p.person(a.Profile)
	defer done()
	a.Told = told
	result, err := f.watch(p, a, turn, approver, command)
	if err == nil && result.ExitCode != 0 {
		return exitCode(result.ExitCode)
	}
	return err
}

// watch plays the turn before whoever looks at stdout.
func (f *runFlags) watch(p program, a trial.Agent, turn bridge.Turn, approver trial.Approver, command string) (result trial.Result, err error) {
	if f.JSON {
		lines := trial.NewLines(p.stdout)
		if result, err = a.Play(p.ctx, p.host(), turn, approver, lines); err == nil {
			lines.End(result)
		}
	} else {
		terminal := isTerminal(p.stdout)
		screen := &trial.Screen{Out: p.stdout, Err: p.stderr, Terminal: terminal, Colour: terminal && p.colours()}
		if result, err = a.Play(p.ctx, p.host(), turn, approver, screen); err == nil {
			screen.End(result, command)
		}
	}
	return result, err
}

var errTwoMessages = errors.New("give the message as words or with --message, not both")

func (f *runFlags) turn(p program) (bridge.Turn, error) {
	turn := bridge.Turn{Message: f.Message, SessionID: f.Session, SessionName: f.SessionName}
	switch {
	case len(f.Words) > 0 && f.Message != "":
		return turn, errTwoMessages
	case len(f.Words) > 0:
		turn.Message = strings.Join(f.Words, " ")
	case f.Message == "" && len(f.Attach) == 0 && p.stdin != nil && !isTerminal(p.stdin):
		text, err := io.ReadAll(p.stdin)
		if err != nil {
			return turn, fmt.Errorf("read the message: %w", err)
		}
		turn.Message = strings.TrimSuffix(string(text), "\n")
	}
	for _, what := range f.Attach {
		attachment, err := trial.Attach(what)
		if err != nil {
			return turn, err
		}
		turn.Attachments = append(turn.Attachments, attachment)
	}
	return turn, nil
}

// person is at the terminal that this process belongs to, wherever stdin comes from: who answers what the agent asks, and tells it what it can
// hear while it works.
func (p program) person(of profile.Profile) (answers trial.Approver, told <-chan agentline.Control, leave func()) {
	asks := of.Runtime == profile.Events || slices.Contains([]profile.Policy{"", profile.Ask, profile.AllowReadonly}, of.Policy) // prompts have no policy
	asks = asks && of.Permission
	hears := slices.ContainsFunc(of.Controls, func(control string) bool { return control != wire.ThinkingLevels })
	nobody := trial.ByPolicy{Profile: of, Person: trial.Nobody{}}
	if !asks && !hears {
		return nobody, nil, func() {}
	}
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	switch {
	case err != nil:
		return nobody, nil, func() {}
	case !hears:
		return trial.ByPolicy{Profile: of, Person: trial.AskAt(tty)}, nil, func() { tty.Close() }
	}
	console, err := trial.NewConsole(tty)
	if err != nil {
		return nobody, nil, func() { tty.Close() }
	}
	reading := supervise.NewGroup(p.ctx)
	reading.Go(console.Run)
	leave = func() {
		reading.Cancel()
		_ = reading.Wait() // which has no error
		_ = errors.Join(console.Close(), tty.Close())
	}
	return trial.ByPolicy{Profile: of, Person: trial.AskAt(console)}, console.Told(), leave
}
