package cli

import (
	"cmp"
	"strconv"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/screen"
)

func number(n int64) string { return strconv.FormatInt(n, 10) }

type runsCmd struct {
	Session string `placeholder:"NAME" help:"Only runs in this conversation."`
	Agent   string `placeholder:"NAME" help:"Only runs of this agent."`
	State   string `placeholder:"STATE" help:"Only runs in this state: queued, waiting_edge, dispatched, running, waiting_person, cancelling, completed, failed, cancelled or interrupted."`
	Limit   int    `short:"n" default:"20" help:"How many, the newest first (default: 20)."`
}

// Run lists runs.
func (c runsCmd) Run(s *session) error {
	return s.with(func(h *hub) error {
		which, err := c.which(s, h)
		if err != nil {
			return err
		}
		all, err := h.find.Runs(s.ctx, c.Limit, which)
		if err != nil {
			return err
		}
		names := newBook(h.API())
		agents, err := client.Decode[client.AgentList](h.API().ListAgents(s.ctx))
		if err != nil {
			return err
		}
		for _, a := range agents.Items {
			names.members[a.ID] = a.Name
		}
		now := time.Now()
		return table(s, all, "no runs; `yard send --session NAME \"@agent …\"` starts one",
			[]string{"run", "state", "agent", "began", "took", "events", "why"}, func(t client.AgentTask) []string {
				return []string{t.ID, state(t), names.Member(t.AgentID), screen.Ago(now, t.CreatedAt), took(t), events(t), cmp.Or(t.Error.Message, t.WaitsFor)}
			})
	})
}

func (c runsCmd) which(s *session, h *hub) (client.ListAgentTasksParams, error) {
	var which client.ListAgentTasksParams
	if c.State != "" {
		state := client.RunState(c.State)
		if !state.Valid() {
			return which, misused("there is no state %q; see `yard runs --help`", c.State)
		}
		which.State = &state
	}
	if c.Session != "" {
		found, err := h.find.Session(s.ctx, c.Session)
		if err != nil {
			return which, err
		}
		which.SessionID = &found.ID
	}
	if c.Agent != "" {
		found, err := h.find.Agent(s.ctx, c.Agent)
		if err != nil {
			return which, err
		}
		which.AgentID = &found.ID
	}
	return which, nil
}

func state(t client.AgentTask) string {
	if t.Unknown {
		return string(t.State) + " (edge away)"
	}
	return string(t.State)
}

// events says how many events a run has, and how many of them have left the hub.
func events(t client.AgentTask) string {
	switch t.ArchivedThrough {
	case 0:
		return number(t.LastEventSeq)
	case t.LastEventSeq:
		return number(t.LastEventSeq) + " (archived)"
	}
	return number(t.LastEventSeq) + " (" + number(t.ArchivedThrough) + " archived)"
}

func took(t client.AgentTask) string {
	switch {
	case t.StartedAt.IsZero():
		return "-"
	case t.EndedAt.IsZero():
		return screen.Took(time.Since(t.StartedAt)) + " so far"
	}
	return screen.Took(t.EndedAt.Sub(t.StartedAt))
}

type cancelCmd struct {
	Force bool   `help:"Do not wait for its edge, which is away or does not answer: end the run now."`
	Ref   string `arg:"" name:"run" help:"The run: the beginning of its id is enough."`
}

// Help is shown below the usage.
func (cancelCmd) Help() string {
	return `A run ends when its edge has ended the agent with all its processes. With --force it ends at once, as interrupted; an edge that was away ends
the processes when it is back, and what it still reports is kept, marked as late.`
}

// Run asks for a run to be stopped.
func (c cancelCmd) Run(s *session) error {
	return s.with(func(h *hub) error {
		found, err := h.find.Run(s.ctx, c.Ref)
		if err != nil {
			return err
		}
		task, err := client.Decode[client.AgentTask](h.API().CancelAgentTask(s.ctx, found.ID, client.CancelInput{Force: c.Force}))
		if err != nil {
			return err
		}
		return s.print(task, func() error {
			if task.State == client.RunStateCancelling {
				return s.say("%s is being stopped; `yard cancel --force` does not wait for its edge", task.ID)
			}
			return s.say("%s is %s", task.ID, task.State)
		})
	})
}

type eventsCmd struct {
	Ref   string `arg:"" name:"run" help:"The run: the beginning of its id is enough."`
	After int64  `default:"0" placeholder:"N" help:"Only events after number N (default: 0, from the start)."`
	Full  bool   `help:"Show payloads whole."`
}

// Help is shown below the usage.
func (eventsCmd) Help() string {
	return `With --json each event is one line, its payload byte for byte as it was recorded.

Examples:
  yard events run_9f2c
  yard events 9f2c --after 40 --json`
}

const eventPage = 500

// Run prints a run's log.
func (c eventsCmd) Run(s *session) error {
	return s.with(func(h *hub) error {
		found, err := h.find.Run(s.ctx, c.Ref)
		if err != nil {
			return err
		}
		for after, limit := c.After, eventPage; ; {
			page, err := client.Decode[client.RunEventList](h.API().ListAgentTaskEvents(s.ctx, found.ID,
				&client.ListAgentTaskEventsParams{AfterSeq: &after, Limit: &limit}))
			if err != nil {
				return err
			}
			for _, e := range page.Items {
				if err := s.print(e, func() error { return c.event(s, e) }); err != nil {
					return err
				}
			}
			if page.Next == 0 {
				return nil
			}
			after = page.Next
		}
	})
}

func (c eventsCmd) event(s *session, e client.RunEvent) error {
	const narrow = 90 // runes
	payload := screen.Line(string(e.Payload), narrow)
	if c.Full {
		payload = screen.Clean(string(e.Payload))
	}
	return s.say("%5d  %s  %-22s %s", e.EventSeq, s.style.Dim(e.OccurredAt.Local().Format("15:04:05.000")), screen.Line(e.EventType, narrow), s.style.Dim(payload))
}
