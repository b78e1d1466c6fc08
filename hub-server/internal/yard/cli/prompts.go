package cli

import (
	"encoding/json"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/screen"
)

type promptsCmd struct {
	Limit int `short:"n" default:"50" help:"How many, the oldest first (default: 50)."`
}

// Help is shown below the usage.
func (promptsCmd) Help() string {
	return "Shows what agents ask and nobody has answered, as far as it is yours to answer. `yard answer` does so."
}

// Run lists what waits for an answer.
func (c promptsCmd) Run(s *session) error {
	return s.with(func(h *hub) error {
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

type answerCmd struct {
	Ref      string `arg:"" name:"request" help:"The request: the beginning of its id is enough."`
	Decision string `arg:"" enum:"allow,deny" help:"allow or deny."`
	Reason   string `placeholder:"TEXT" help:"Why; the agent is told it with a denial."`
	Input    string `placeholder:"JSON" help:"Allow, but with this input for the tool instead of the one that the agent proposed."`
}

// Help is shown below the usage.
func (answerCmd) Help() string {
	return `The first answer counts, from whichever device it comes.

Examples:
  yard answer req_9f2c allow
  yard answer 9f2c deny --reason "not on this machine"
  yard answer 9f2c allow --input '{"command":"ls -l"}'`
}

// Run answers what was shown: the answer is bound to the digest of it.
func (c answerCmd) Run(s *session) error {
	in := client.PromptAnswerInput{Decision: client.PromptDecision(c.Decision), Reason: c.Reason}
	if c.Input != "" {
		if !json.Valid([]byte(c.Input)) {
			return misused("--input is no JSON: %s", c.Input)
		}
		in.UpdatedInput = json.RawMessage(c.Input)
	}
	return s.with(func(h *hub) error {
		asked, err := h.find.Prompt(s.ctx, c.Ref)
		if err != nil {
			return err
		}
		in.Digest = asked.Digest
		answered, err := client.Decode[client.Prompt](h.API().AnswerPrompt(s.ctx, asked.TaskID, asked.RequestID, in))
		if err != nil {
			return err
		}
		return s.print(answered, func() error { return c.told(s, answered) })
	})
}

func (c answerCmd) told(s *session, p client.Prompt) error {
	word := "allowed"
	if p.Answer.Decision == client.PromptDecisionDeny {
		word = "denied"
	}
	if next := p.Answer.ContinuedByRunID; next != "" {
		return s.say("%s: %s; the agent goes on in %s", p.RequestID, word, next)
	}
	return s.say("%s: %s", p.RequestID, word)
}
