package conformance

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/switchyard-dev/switchyard/edge-server/internal/process"
	"github.com/switchyard-dev/switchyard/edge-server/internal/profile"
	"github.com/switchyard-dev/switchyard/edge-server/internal/trial"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Options of Check. Agent is required.
type Options struct {
	Agent   trial.Agent
	Command []string      // as the report shows it
	Timeout time.Duration // of each turn; DefaultTimeout if 0
	Message string        // of a plain turn; with permission on it should make the agent ask
	Skip    []string      // probes that are not played
	// ClientTools are the names of what a client offers in the turns about that, of the events runtime alone; none for DefaultTool.
	ClientTools []string
	// Progress is told each probe before it is played; nil for nobody.
	Progress func(probe string)
}

// Defaults of a check.
const (
	DefaultTimeout = 30 * time.Second
	DefaultMessage = "Hello! This is the conformance check."
)

// checker plays one agent.
type checker struct {
	Options
	host   *process.Host
	ledger *ledger

	plain    played // the plain turn
	hopeless string // why no further probe is played
	unasked  string // why no further probe with permission is played
}

// Check plays the agent and reports what it keeps. Every turn ends within the timeout and the agent's grace period, and its process tree with
// it. The error says that nothing could be played, or that ctx has ended.
func Check(ctx context.Context, host *process.Host, o Options) (Report, error) {
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Message == "" {
		o.Message = DefaultMessage
	}
	if len(o.ClientTools) == 0 {
		o.ClientTools = []string{DefaultTool}
	}
	c := checker{Options: o, host: host, ledger: newLedger()}
	if err := wire.CheckClientTools(c.tools()); err != nil {
		return Report{}, errors.New(fault.Public(err).Detail)
	}
	for _, p := range probes() {
		if c.hopeless != "" || slices.Contains(o.Skip, p.name) || p.asks && (c.unasked != "" || !c.Agent.Profile.Permission) {
			continue
		}
		if o.Progress != nil {
			o.Progress(p.name)
		}
		c.ledger.probe = p.name
		if err := p.play(ctx, &c); err != nil {
			return Report{}, err
		}
	}
	report := Report{Runtime: o.Agent.Profile.Runtime, Command: o.Command}
	for _, rule := range Rules(report.Runtime) {
		report.Findings = append(report.Findings, c.ledger.finding(rule, c.unplayed(rule.ID)))
	}
	return report, nil
}

// unplayed is why probes were left out that a rule is about.
func (c *checker) unplayed(rule RuleID) string {
	if strings.HasPrefix(string(rule), "permission.") || strings.HasPrefix(string(rule), "client.") || rule == promptFits {
		return cmp.Or(c.hopeless, c.unasked)
	}
	return c.hopeless
}

// played is a turn that was played.
type played struct {
	ended
	exit     process.Exit
	session  string
	timedOut bool // it did not end in time, and was stopped
	stopped  bool // it was stopped by its script
	resisted bool // and needed more than TERM
	driver   *driver
}

var errTimeout = errors.New("the turn did not end in time")

// play plays one turn. What its lines show of the rules is in the ledger when it returns.
func (c *checker) play(ctx context.Context, s script) (played, error) {
	if ctx.Err() != nil {
		return played{}, context.Cause(ctx)
	}
	end, turn := &tail{}, profile.Turn{SessionID: s.sessionID}
	ear, err := c.ear(s, c.Agent.Folder(turn)) // before the start: nothing may fail between that and Follow, which ends the process
	if err != nil {
		return played{}, err
	}
	started, err := c.Agent.Start(c.host, turn, trial.Output{Stdout: end})
	if err != nil {
		return played{}, err
	}
	limited, cancel := context.WithTimeoutCause(ctx, c.Timeout, errTimeout)
	defer cancel()
	d := &driver{script: s, input: process.NewInput(), halt: cancel}
	exit := c.follow(limited, started.Process, d, ear)
	if ctx.Err() != nil {
		return played{}, context.Cause(ctx)
	}
	p := played{exit: exit, session: ear.session(), driver: d}
	if exit.Stopped {
		p.timedOut = errors.Is(context.Cause(limited), errTimeout)
		p.stopped = !p.timedOut
		p.resisted = p.stopped && time.Since(d.stopped) >= c.Agent.Profile.Grace
		return p, nil
	}
	c.whole(&p, end, ear)
	return p, nil
}

func (c *checker) ear(s script, dir string) (ear, error) {
	if c.Agent.Profile.Runtime == profile.Events {
		return newEventsEar(c.ledger, s, trial.NewFiles(dir))
	}
	return newBridgeEar(c.ledger, s.asks), nil
}

// follow lets the driver act beside the reading of lines.
func (c *checker) follow(ctx context.Context, p *process.Process, d *driver, e ear) process.Exit {
	lines := make(chan heard)
	var driving sync.WaitGroup
	driving.Go(func() { d.Run(lines) })
	exit := p.Follow(ctx, d.input, func(l process.Line) { lines <- listen(c.ledger, e, l) })
	close(lines)
	driving.Wait()
	return exit
}

// whole looks at a turn that ended by itself.
func (c *checker) whole(p *played, end *tail, e ear) {
	p.ended = e.end(p.exit)
	if end.last != 0 {
		c.ledger.check(lineNewline, end.last == '\n', "the last line has no end")
	}
	reserved := p.exit.Code == 124 || p.exit.Code == 130 || p.exit.Code == 143
	c.ledger.check(exitReserved, !reserved, "exit code %d", p.exit.Code)
	c.ledger.check(treeOrphans, p.exit.Left == 0, "processes were still running: %d", p.exit.Left)
}
