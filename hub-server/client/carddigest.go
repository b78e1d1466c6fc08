package client

import (
	"encoding/json"
	"maps"
	"strconv"

	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// forestView is what of a forest depends on its trace alone, and not on how and when it was heard. api/card-scenarios.md describes it.
type forestView struct {
	TraceID id.Trace     `json:"trace_id"`
	Seq     card.Seq     `json:"seq"`
	Cards   []cardView   `json:"cards"`
	Prompts []promptView `json:"prompts"`
}

type cardView struct {
	ID       string                             `json:"id"`
	Parent   string                             `json:"parent,omitempty"`
	Kind     card.Kind                          `json:"kind"`
	Status   card.Status                        `json:"status"`
	AgentID  string                             `json:"agent_id,omitempty"`
	Payload  map[string]json.RawMessage         `json:"payload"`
	Channels map[card.Channel]map[string]string `json:"channels,omitempty"` // by index
	Ticks    []card.TickPayload                 `json:"ticks,omitempty"`
	Hint     card.Hint                          `json:"hint"`
	Metrics  *card.Metrics                      `json:"metrics,omitempty"`
	Events   int                                `json:"events"`
}

type promptView struct {
	RequestID string             `json:"request_id"`
	Kind      string             `json:"kind"`
	Inner     json.RawMessage    `json:"inner"`
	Decision  card.ReplyDecision `json:"decision,omitempty"` // absent while it waits
}

func (f *CardForest) view() forestView {
	v := forestView{TraceID: f.trace, Seq: f.last, Cards: []cardView{}, Prompts: []promptView{}}
	for _, cardID := range f.order {
		v.Cards = append(v.Cards, f.cards[cardID].view())
	}
	for _, p := range f.Prompts() {
		shown := promptView{RequestID: p.RequestID, Kind: p.Kind, Inner: p.Inner}
		if p.Reply != nil {
			shown.Decision = p.Reply.Decision
		}
		v.Prompts = append(v.Prompts, shown)
	}
	return v
}

func (c *Card) view() cardView {
	v := cardView{
		ID: c.ID, Parent: c.Parent, Kind: c.Kind, Status: c.Status, AgentID: c.AgentID, Payload: maps.Clone(c.Payload), Ticks: c.Ticks, Hint: c.Hint,
		Metrics: c.Metrics, Events: c.Events, Channels: map[card.Channel]map[string]string{},
	}
	for channel, blocks := range c.channels {
		v.Channels[channel] = map[string]string{}
		for index, text := range blocks {
			v.Channels[channel][strconv.Itoa(index)] = string(text)
		}
	}
	return v
}

// Digest is over everything that the trace has made of the forest: two that have heard the same events have the same digest, however often and in
// however many pieces they came. It is the hex SHA-256 of the canonical JSON of the view that api/card-scenarios.md describes.
func (f *CardForest) Digest() (string, error) {
	raw, err := event.Encode(f.view())
	if err != nil {
		return "", err
	}
	return event.Checksum(raw)
}
