package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/screen"
)

type messageCmd struct {
	Edit      messageEditCmd      `cmd:"" help:"Say something else in a message of yours."`
	Recall    messageRecallCmd    `cmd:"" help:"Take a message back: nobody can read it any more."`
	Pin       messagePinCmd       `cmd:"" help:"Pin a message in its conversation."`
	Unpin     messageUnpinCmd     `cmd:"" help:"Remove a pin."`
	React     messageReactCmd     `cmd:"" help:"React to a message."`
	Unreact   messageUnreactCmd   `cmd:"" help:"Take your reaction back."`
	Reactions messageReactionsCmd `cmd:"" help:"List who reacted to a message, and how."`
}

// theMessage is the argument that names a message.
type theMessage struct {
	Message string `arg:"" help:"The message: CONVERSATION:NUMBER, as 'yard messages' numbers them, or its id."`
}

// onMessage finds a message, does something with it, and says so.
func onMessage[T any](s *session, m theMessage, do func(*hub, client.MessageID) (T, error), done func(T) string) error {
	return s.with(func(h *hub) error {
		id, err := h.find.Message(s.ctx, m.Message)
		if err != nil {
			return err
		}
		now, err := do(h, id)
		if err != nil {
			return err
		}
		return s.print(now, func() error { return s.say("%s %s", m.Message, done(now)) })
	})
}

// messageChange is what --json prints of a change that the hub answers without a word.
type messageChange struct {
	MessageID client.MessageID `json:"message_id"`
	Pinned    *bool            `json:"pinned,omitempty"`
	Removed   string           `json:"removed_reaction,omitempty"`
}

type messageEditCmd struct {
	theMessage
	Text []string `arg:"" help:"What it says from now on; - reads it from standard input."`
}

// Help is shown below the usage.
func (messageEditCmd) Help() string {
	return `Possible for 15 minutes, unless the hub has another limit. Nobody is notified, and no agent starts again; what is attached stays.

Examples:
  yard message edit demo:12 "We meet on Friday."
  yard message edit demo:12 - <plan.txt`
}

// Run edits a message.
func (c messageEditCmd) Run(s *session) error {
	text, err := typed(c.Text, s.In)
	if err != nil {
		return err
	}
	if strings.TrimSpace(text) == "" {
		return misused("there is nothing to say instead; `yard message recall %s` takes the message back", c.Message)
	}
	content, err := json.Marshal(map[string]string{"text": text})
	if err != nil {
		return fmt.Errorf("encode message: %w", err)
	}
	edit := func(h *hub, id client.MessageID) (client.Message, error) {
		return client.Decode[client.Message](h.API().EditMessage(s.ctx, id, client.MessageEdit{Content: content}))
	}
	return onMessage(s, c.theMessage, edit, func(m client.Message) string { return fmt.Sprintf("says that now (revision %d)", m.Revision) })
}

type messageRecallCmd struct{ theMessage }

// Help is shown below the usage.
func (messageRecallCmd) Help() string {
	return `Your own for 5 minutes, unless the hub has another limit; as the owner of a group any, at any time. Runs that it started go on.

Examples:
  yard message recall demo:12`
}

// Run takes a message back.
func (c messageRecallCmd) Run(s *session) error {
	recall := func(h *hub, id client.MessageID) (client.Message, error) {
		return client.Decode[client.Message](h.API().RecallMessage(s.ctx, id))
	}
	return onMessage(s, c.theMessage, recall, func(client.Message) string { return "is taken back" })
}

type messagePinCmd struct{ theMessage }

// Help is shown below the usage.
func (messagePinCmd) Help() string {
	return "Everybody in the conversation sees it; `yard pins` lists what is pinned.\n\nExamples:\n  yard message pin demo:12"
}

// Run pins a message.
func (c messagePinCmd) Run(s *session) error {
	pin := func(h *hub, id client.MessageID) (client.MessagePinPayload, error) {
		return client.Decode[client.MessagePinPayload](h.API().PinMessage(s.ctx, id))
	}
	return onMessage(s, c.theMessage, pin, func(client.MessagePinPayload) string { return "is pinned" })
}

type messageUnpinCmd struct{ theMessage }

// Run removes a pin.
func (c messageUnpinCmd) Run(s *session) error {
	unpin := func(h *hub, id client.MessageID) (messageChange, error) {
		_, err := client.Decode[client.Nothing](h.API().UnpinMessage(s.ctx, id))
		return messageChange{MessageID: id, Pinned: new(bool)}, err
	}
	return onMessage(s, c.theMessage, unpin, func(messageChange) string { return "is not pinned any more" })
}

type messageReactCmd struct {
	theMessage
	Reaction string `arg:"" help:"An emoji, or a short word."`
}

// Help is shown below the usage.
func (messageReactCmd) Help() string {
	return "Examples:\n  yard message react demo:12 👍"
}

// Run reacts.
func (c messageReactCmd) Run(s *session) error {
	react := func(h *hub, id client.MessageID) (client.ReactionList, error) {
		return client.Decode[client.ReactionList](h.API().AddReaction(s.ctx, id, client.ReactionInput{Reaction: c.Reaction}))
	}
	return onMessage(s, c.theMessage, react, func(now client.ReactionList) string { return "has " + counts(now.Items) })
}

// counts are reactions in a few words.
func counts(all []client.Reaction) string {
	words := make([]string, len(all))
	for i, r := range all {
		words[i] = screen.Line(r.Reaction, nameWidth) + " " + number(int64(r.Count))
	}
	return strings.Join(words, ", ")
}

type messageUnreactCmd struct {
	theMessage
	Reaction string `arg:"" help:"The reaction, as it was given."`
}

// Run takes a reaction back.
func (c messageUnreactCmd) Run(s *session) error {
	unreact := func(h *hub, id client.MessageID) (messageChange, error) {
		_, err := client.Decode[client.Nothing](h.API().RemoveReaction(s.ctx, id, &client.RemoveReactionParams{Reaction: c.Reaction}))
		return messageChange{MessageID: id, Removed: c.Reaction}, err
	}
	return onMessage(s, c.theMessage, unreact, func(messageChange) string { return "has lost your " + screen.Line(c.Reaction, nameWidth) })
}

type messageReactionsCmd struct{ theMessage }

// Run lists reactions.
func (c messageReactionsCmd) Run(s *session) error {
	return s.with(func(h *hub) error {
		id, err := h.find.Message(s.ctx, c.Message)
		if err != nil {
			return err
		}
		all, err := client.Decode[client.ReactionList](h.API().ListReactions(s.ctx, id))
		if err != nil {
			return err
		}
		return table(s, all.Items, "nobody has reacted", []string{"reaction", "count", "by"}, func(r client.Reaction) []string {
			return []string{r.Reaction, number(int64(r.Count)), strings.Join(r.UserIds, ", ")}
		})
	})
}
