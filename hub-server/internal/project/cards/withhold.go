package cards

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Withdrawn is a message of a person that was taken back after it was told.
type Withdrawn struct {
	Message id.Message
	Runs    []id.Run // that it started
}

// Withhold returns the bytes of a frame without what the message said: the text of its card, the summary of a turn that it began, the task of a run. The
// frame keeps its number, its ids and all else. False if the frame says nothing of the message.
func (w Withdrawn) Withhold(line []byte) (less []byte, held bool, err error) {
	if !w.names(line) {
		return nil, false, nil
	}
	e, err := card.Decode(line)
	if err != nil {
		return nil, false, err
	}
	switch {
	case e.Type == card.Append && w.shows(e.Envelope):
		e.Payload, err = event.Encode(card.AppendPayload{Channel: card.TextChannel})
	case e.Type == card.Add && w.began(e.Envelope) && e.Hint != nil:
		e.Hint.Summary = ""
		e.Payload, err = withoutTask(e)
	default:
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	less, err = e.Encode()
	return less, err == nil && !bytes.Equal(less, line), err
}

// names says whether a frame may be about the message; it costs little.
func (w Withdrawn) names(line []byte) bool {
	return bytes.Contains(line, []byte(w.Message)) || slices.ContainsFunc(w.Runs, func(r id.Run) bool { return bytes.Contains(line, []byte(r)) })
}

// shows says whether an event is of the card of the message itself, which is of no run.
func (w Withdrawn) shows(at card.Envelope) bool {
	return at.CardKind == card.Message && at.AgentRunID == "" && called(at.CardID, string(w.Message))
}

// called says whether a card has an id, or that with the suffix of one that was there before (R28).
func called(cardID, own string) bool {
	rest, ok := strings.CutPrefix(cardID, own)
	return ok && (rest == "" || strings.HasPrefix(rest, "~"))
}

// began says whether an event is of the card of a run that the message started: its turn, or its agent card.
func (w Withdrawn) began(at card.Envelope) bool {
	own := at.CardKind == card.Turn || at.CardKind == card.Agent && called(at.CardID, "ag_"+digits(Run{ID: at.AgentRunID}))
	return own && slices.Contains(w.Runs, at.AgentRunID)
}

// withoutTask is the payload of an agent card without what was asked of the agent; any other as it is.
func withoutTask(e card.Event) (json.RawMessage, error) {
	if e.Envelope.CardKind != card.Agent {
		return e.Payload, nil
	}
	var p card.AgentPayload
	if err := json.Unmarshal(e.Payload, &p); err != nil {
		return nil, err
	}
	p.TaskPrompt = ""
	return event.Encode(p)
}
