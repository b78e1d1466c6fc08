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
	"github.com/switchyard-dev/switchyard/shared/bridge"
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
	return c.play(p, profile.Bridge, "edge-server bridge run", nil)
}

type eventsRunCommand struct {
	runFlags
	ClientTool []string `sep:"none" placeholder:"NAME=COMMAND" help:"Offer the agent a tool, as a client does: the command gets the arguments on stdin, its output is the result. May be given again. The agent may ask then, as with --permission."`
}

// Help is shown below the usage.
func (eventsRunCommand) Help() string {
	return `The reply goes to stdout, everything else to stderr. The exit code is that of the turn, as in edge-server bridge run. With --permission, what the agent asks is answered in this terminal; a policy answers for tools alone.

Examples:
  edge-server events run "what changed here?" -- edge-server builtin scout
  edge-server events run --json hello -- node agent.js
  edge-server events run --permission "tidy up" -- ./agent
  edge-server events run --client-tool "open_url=jq -r .url" "show me the news" -- ./agent`
}

// Run plays one turn.
func (c *eventsRunCommand) Run(p program) error {
	tools, err := trial.ParseTools(c.ClientTool)
	if err != nil {
		return fmt.Errorf("--client-tool: %w", err)
	}
	return c.play(p, profile.Events, "edge-server events run", tools)
}

func (f *runFlags) play(p program, runtime profile.Runtime, command string, tools []trial.Tool) error {
	a, err := f.agent(p, runtime)
	if err != nil {
		return err
	}
	a.Tools = tools
	if f.Policy != "" {
		a.Profile.Policy = profile.Policy(f.Policy)
	}
	a.Profile.Permission = a.Profile.Permission || f.Permission || f.Policy != "" || len(tools) > 0
	a.Profile.Streaming = a.Profile.Streaming && !f.NoStreaming
	if f.Timeout > 0 {
		a.Profile.Timeout = f.Timeout
	}
	turn, err := f.turn(p)
	if err != nil {
		return err
	}
	approver, done := p.approver(a.Profile)
	defer done()
	var result trial.Result
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
	if err == nil && result.ExitCode != 0 {
		return exitCode(result.ExitCode)
	}
	return err
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

// approver is the person at the terminal that this process belongs to, wherever stdin comes from.
func (p program) approver(of profile.Profile) (trial.Approver, func()) {
	asks := of.Runtime == profile.Events || slices.Contains([]profile.Policy{"", profile.Ask, profile.AllowReadonly}, of.Policy) // prompts have no policy
	if !of.Permission || !asks {
		return trial.ByPolicy{Profile: of, Person: trial.Nobody{}}, func() {}
	}
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return trial.ByPolicy{Profile: of, Person: trial.Nobody{}}, func() {}
	}
	return trial.ByPolicy{Profile: of, Person: trial.AskAt(tty)}, func() { tty.Close() }
}
