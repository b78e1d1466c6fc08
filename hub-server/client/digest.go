package client

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// chain is a hash over a growing list: each link covers the one before.
type chain struct {
	link   [sha256.Size]byte
	length int
}

// add appends a frame: its key, and the bytes that it came with.
func (c *chain) add(key string, payload []byte) {
	c.extend(fmt.Sprintf("%s %x", key, sha256.Sum256(payload)))
}

// addEvent appends an event of a run as an agent.stream frame carries it.
func (c *chain) addEvent(seq int64, frame json.RawMessage) {
	var event struct {
		Type    EventType       `json:"event_type"`
		Payload json.RawMessage `json:"payload"`
	}
	if json.Unmarshal(frame, &event) != nil {
		event.Payload = frame
	}
	var text string // the stored bytes as a JSON string; team frames have them as they are
	if json.Unmarshal(event.Payload, &text) == nil {
		event.Payload = json.RawMessage(text)
	}
	c.extend(eventLine(seq, event.Type, event.Payload))
}

func eventLine(seq int64, wire EventType, payload []byte) string {
	return fmt.Sprintf("%d %s %x", seq, wire, sha256.Sum256(payload))
}

func (c *chain) extend(line string) {
	c.link = sha256.Sum256(append(c.link[:], line...))
	c.length++
}

func (c *chain) String() string { return hex.EncodeToString(c.link[:]) }

// LogDigest is over the events of a run's log, in order: number, wire name and payload bytes of each. It equals the RunDigest of a
// Reducer that was given the same events as frames.
func LogDigest(events []RunEvent) string {
	var c chain
	for _, e := range events {
		c.extend(eventLine(e.EventSeq, e.WireType, e.Payload))
	}
	return c.String()
}
