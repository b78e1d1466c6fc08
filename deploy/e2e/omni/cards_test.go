package omni

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/event"
)

// overCards makes a tale of what S0 tells: cards that are added, change and close.
type overCards struct {
	tale
	waiting string            // the call of the question that follows
	asked   map[string]string // call by request
	who     map[string]string // agent by card
}

func newOverCards() *overCards {
	return &overCards{asked: map[string]string{}, who: map[string]string{}}
}

// follow reads until so many turns are over.
func (o *overCards) follow(ctx context.Context, feed *client.CardFeed, turns int) error {
	closed := 0
	for update, err := range feed.Follow(ctx) {
		if err != nil {
			return err
		}
		if update.Event == nil || update.Event.Type == card.SessionEvent {
			continue
		}
		e := *update.Event
		if err := o.take(e); err != nil {
			return fmt.Errorf("%s %s: %w", e.Type, e.Payload, err)
		}
		if e.Type == card.Close && e.Envelope.CardKind == card.Turn {
			closed++
		}
		if closed == turns {
			return nil
		}
	}
	return nil
}

func (o *overCards) take(e card.Event) error {
	switch e.Type {
	case card.Add:
		return o.add(e)
	case card.Set:
		return o.set(e)
	case card.Append:
		return o.append(e)
	case card.Close:
		return o.close(e)
	case card.PromptUser, card.PromptReply:
		return o.prompt(e)
	}
	return nil
}

func (o *overCards) add(e card.Event) error {
	who, _, _ := strings.Cut(e.Envelope.AgentID, "~") // a name that was there before in the trace has a suffix (R28)
	if who == card.MainAgent {
		who = ""
	}
	o.who[e.Envelope.CardID] = who
	switch e.Envelope.CardKind {
	case card.Turn:
		o.begin("")
	case card.Tool:
		var p card.ToolPayload
		if err := json.Unmarshal(e.Payload, &p); err != nil {
			return err
		}
		o.now().call(who, e.Envelope.CardID, p.Name, p.Input)
	case card.Agent:
		var p card.AgentPayload
		if err := json.Unmarshal(e.Payload, &p); err != nil {
			return err
		}
		o.now().add(who, isTold, p.TaskPrompt)
	}
	return nil
}

func (o *overCards) set(e card.Event) error {
	var p card.ToolPayload
	if e.Envelope.CardKind != card.Tool {
		return nil
	}
	err := json.Unmarshal(e.Payload, &p)
	if p.Phase == card.PermissionWait {
		o.waiting = e.Envelope.CardID
	}
	return err
}

func (o *overCards) append(e card.Event) error {
	var p card.AppendPayload
	err := json.Unmarshal(e.Payload, &p)
	switch p.Channel {
	case card.TextChannel:
		o.now().piece(o.who[e.Envelope.CardID], says, p.Chunk)
	case card.ThinkingChannel:
		o.now().piece(o.who[e.Envelope.CardID], thinks, p.Chunk)
	}
	return err
}

func (o *overCards) close(e card.Event) error {
	var p card.ClosePayload
	if err := json.Unmarshal(e.Payload, &p); err != nil {
		return err
	}
	who := o.who[e.Envelope.CardID]
	switch e.Envelope.CardKind {
	case card.Turn:
		o.now().outcome = map[card.Status]string{card.OK: completed, card.Failed: failed, card.Cancelled: aborted}[p.Status]
	case card.Message:
		o.now().ended(who)
	case card.Tool:
		var end card.ToolPayload
		if len(p.Inner) > 0 {
			if err := json.Unmarshal(p.Inner, &end); err != nil {
				return err
			}
		}
		text := end.Output
		if p.Error != nil {
			text = p.Error.Message
		}
		how := map[card.Status]string{card.OK: well, card.Failed: failed, card.Cancelled: stopped}[p.Status]
		o.now().returned(who, e.Envelope.CardID, how, text)
	}
	return nil
}

// prompt takes a question and its answer. Which call it is about says the card that has begun to wait.
func (o *overCards) prompt(e card.Event) error {
	if e.Type == card.PromptUser {
		var p card.PromptPayload
		err := json.Unmarshal(e.Payload, &p)
		if p.Kind == string(event.PromptPermission) {
			o.asked[p.RequestID] = o.waiting
		}
		return err
	}
	var p card.ReplyPayload
	err := json.Unmarshal(e.Payload, &p)
	if call := o.asked[p.RequestID]; call != "" && p.Decision != card.ReplyCancelled {
		o.now().decided(o.who[call], call, p.Decision == card.Approved)
	}
	return err
}
