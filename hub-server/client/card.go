package client

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// CardOpen is the status of a card that was not closed; the others are card.OK, card.Failed, card.Skipped and card.Cancelled.
const CardOpen card.Status = "open"

// maxTicks is how many ticks of a card are kept: the newest (S0 §14).
const maxTicks = 50

// Card is one card as it stands.
type Card struct {
	ID        string
	Parent    string // of the card that it stands below; "" at the root
	Kind      card.Kind
	Status    card.Status
	Payload   map[string]json.RawMessage // by field; at the end with those of the end, and `error` of a failed one
	Ticks     []card.TickPayload         // the oldest first
	Hint      card.Hint
	Metrics   *card.Metrics // at the end, if known
	AgentID   string
	AgentRole card.Role
	Run       id.Run
	Severity  card.Severity // with which it was added; a failure is in Status
	Events    int           // that made it what it is; ticks and the end do not count
	OpenedAt  time.Time
	UpdatedAt time.Time

	newestAppend card.Seq // 0 if there is none
	channels     map[card.Channel]map[int][]byte
}

// Text is what has come over a channel, block after block.
func (c *Card) Text(channel card.Channel) string {
	var b strings.Builder
	for _, index := range slices.Sorted(maps.Keys(c.channels[channel])) {
		b.Write(c.channels[channel][index])
	}
	return b.String()
}

// Blocks is what has come over a channel, by index.
func (c *Card) Blocks(channel card.Channel) map[int]string {
	blocks := map[int]string{}
	for index, text := range c.channels[channel] {
		blocks[index] = string(text)
	}
	return blocks
}

// Error is why the card has failed; nil if it has not, or does not say.
func (c *Card) Error() *card.ErrorInfo {
	var info card.ErrorInfo
	if c.Status != card.Failed || json.Unmarshal(c.Payload["error"], &info) != nil {
		return nil
	}
	return &info
}

// take applies an event to a card that is there. A payload that is not what it must be changes nothing.
func (c *Card) take(e card.Event) Verdict {
	takes := map[card.Type]func(card.Event) bool{card.Set: c.set, card.Append: c.append, card.Tick: c.tick, card.Close: c.close}
	if !takes[e.Type](e) {
		return Ignored
	}
	c.UpdatedAt = e.Envelope.Timestamp
	return Applied
}

func (c *Card) set(e card.Event) bool {
	fields, err := object(e.Payload)
	if err != nil {
		return false
	}
	c.Events++
	maps.Copy(c.Payload, fields)
	return true
}

func (c *Card) append(e card.Event) bool {
	var p card.AppendPayload
	if json.Unmarshal(e.Payload, &p) != nil || p.Channel == "" {
		return false
	}
	if c.channels[p.Channel] == nil {
		c.channels[p.Channel] = map[int][]byte{}
	}
	text := p.Chunk
	if text == "" {
		text = p.PartialJSON
	}
	c.Events++
	c.newestAppend = max(c.newestAppend, e.Envelope.Seq)
	c.channels[p.Channel][p.Index] = append(c.channels[p.Channel][p.Index], text...)
	return true
}

func (c *Card) tick(e card.Event) bool {
	var p card.TickPayload
	if json.Unmarshal(e.Payload, &p) != nil || p.Kind == "" {
		return false
	}
	c.Ticks = append(c.Ticks, p)
	if len(c.Ticks) > maxTicks {
		c.Ticks = slices.Clone(c.Ticks[len(c.Ticks)-maxTicks:])
	}
	return true
}

// close ends the card, or ends it otherwise: the latest end counts (facts 0.5).
func (c *Card) close(e card.Event) bool {
	var p struct {
		Status card.Status                `json:"status"`
		Error  json.RawMessage            `json:"error"`
		Inner  map[string]json.RawMessage `json:"inner"`
	}
	if json.Unmarshal(e.Payload, &p) != nil || p.Status == "" {
		return false
	}
	c.Status, c.Metrics = p.Status, e.Metrics
	delete(c.Payload, "error")
	if len(p.Error) > 0 {
		c.Payload["error"] = p.Error
	}
	maps.Copy(c.Payload, p.Inner)
	if e.Hint != nil {
		c.Hint = e.Hint.Over(c.Hint)
	}
	return true
}
