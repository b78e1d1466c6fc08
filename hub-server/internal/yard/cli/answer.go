package cli

import (
	"encoding/json"
	"fmt"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/event"
)

type answerCmd struct {
	Ref      string   `arg:"" name:"request" help:"The request: the beginning of its id is enough."`
	Decision string   `arg:"" enum:"allow,deny,continue,retry,cancel" help:"allow or deny; about a failed step continue, retry or cancel."`
	Choose   []string `placeholder:"LABEL" sep:"none" help:"Allow with this option of a question; may be repeated where several may be chosen."`
	Text     string   `placeholder:"TEXT" help:"Answer a question in your own words, with or without an option."`
	Steps    string   `placeholder:"JSON" help:"Allow a plan with these steps instead of those that are shown."`
	Reason   string   `placeholder:"TEXT" help:"Why, or what you have to add; the agent is told it."`
	Input    string   `placeholder:"JSON" help:"Allow a tool, but with this input instead of the one that the agent proposed."`
}

// Help is shown below the usage.
func (answerCmd) Help() string {
	return `The first answer counts, from whichever device it comes.

Examples:
  yard answer req_9f2c allow
  yard answer 9f2c deny --reason "not on this machine"
  yard answer 9f2c allow --input '{"command":"ls -l"}'
  yard answer 9f2c allow --choose yes --text "but not the old ones"
  yard answer 9f2c retry`
}

// Run answers what was shown: the answer is bound to the digest of it.
func (c answerCmd) Run(s *session) error {
	in, err := c.body()
	if err != nil {
		return err
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

func (c answerCmd) body() (client.PromptAnswerInput, error) {
	in := client.PromptAnswerInput{Decision: client.PromptDecision(c.Decision), Reason: c.Reason}
	for option, text := range map[string]string{"--input": c.Input, "--steps": c.Steps} {
		if text != "" && !json.Valid([]byte(text)) {
			return in, misused("%s is no JSON: %s", option, text)
		}
	}
	if c.Input != "" {
		in.UpdatedInput = json.RawMessage(c.Input)
	}
	response, err := c.response()
	in.Response = response
	return in, err
}

// response is what comes beside the decision; nil for nothing.
func (c answerCmd) response() (json.RawMessage, error) {
	asksChoice, asksSteps := len(c.Choose) > 0 || c.Text != "", c.Steps != ""
	switch {
	case asksChoice && asksSteps:
		return nil, misused("--steps is for plans, --choose and --text are for questions")
	case asksSteps:
		return json.RawMessage(fmt.Sprintf(`{"updated_steps":%s}`, c.Steps)), nil
	case asksChoice:
		return event.Encode(event.QuestionResponse{SelectedOptions: c.Choose, CustomText: c.Text})
	}
	return nil, nil
}

func (c answerCmd) told(s *session, p client.Prompt) error {
	word := map[client.PromptDecision]string{
		client.PromptDecisionAllow: "allowed", client.PromptDecisionDeny: "denied", client.PromptDecisionContinue: "goes on",
		client.PromptDecisionRetry: "is tried again", client.PromptDecisionCancel: "is given up",
	}[p.Answer.Decision]
	if p.Kind != string(event.PromptPermission) && p.Answer.Decision == client.PromptDecisionAllow {
		word = "answered"
	}
	if next := p.Answer.ContinuedByRunID; next != "" {
		return s.say("%s: %s; the agent goes on in %s", p.RequestID, word, next)
	}
	return s.say("%s: %s", p.RequestID, word)
}
