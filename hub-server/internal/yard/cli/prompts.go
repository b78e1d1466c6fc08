package cli

import (
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/screen"
)

type promptsCmd struct {
	Ref   string `arg:"" optional:"" name:"request" help:"Show all of this one: the beginning of its id is enough."`
	Limit int    `short:"n" default:"50" help:"How many, the oldest first (default: 50)."`
}

// Help is shown below the usage.
func (promptsCmd) Help() string {
	return "Shows what agents ask and nobody has answered, as far as it is yours to answer. `yard answer` does so."
}

// Run lists what waits for an answer.
func (c promptsCmd) Run(s *session) error {
	return s.with(func(h *hub) error {
		if c.Ref != "" {
			return c.show(s, h)
		}
		all, err := h.find.Prompts(s.ctx, c.Limit, client.PromptStatePending)
		if err != nil {
			return err
		}
		names := newBook(h.API())
		for _, p := range all {
			names.ask(s.ctx, p.SessionID)
		}
		now := time.Now()
		return table(s, all, "nothing waits for an answer", []string{"request", "agent", "asks", "conversation", "since", "run"},
			func(p client.Prompt) []string {
				return []string{
					p.RequestID, names.Member(p.AgentID), screen.Question(p.Payload), names.Session(p.SessionID), screen.Ago(now, p.AskedAt), p.TaskID,
				}
			})
	})
}

// show tells all of one question.
func (c promptsCmd) show(s *session, h *hub) error {
	p, err := h.find.Prompt(s.ctx, c.Ref)
	if err != nil {
		return err
	}
	return s.print(p, func() error {
		names := newBook(h.API())
		names.ask(s.ctx, p.SessionID)
		return s.say("%s: %s %s", p.RequestID, names.Member(p.AgentID), screen.WholeQuestion(p.RequestID, p.Payload))
	})
}
