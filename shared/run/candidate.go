package run

import (
	"encoding/json"

	"github.com/switchyard-dev/switchyard/shared/event"
)

// Candidate is an event that wants into a run's log: it has no number, no id and no bytes yet. Payload is a payload struct of package
// event, by value, or a json.RawMessage.
type Candidate struct {
	Type    event.Type
	Payload any
}

// Encode returns the final bytes of the payload.
func (c Candidate) Encode() (json.RawMessage, error) { return event.Encode(c.Payload) }

// maxMerged is how many bytes of text two deltas may have together in one row (architecture 6.4).
const maxMerged = 2 << 10

// Merge joins b to a if both are deltas of the same type, agent, message and content block, a is not the last of its block, and their text together
// stays within 2 KiB.
// Otherwise it returns a and false. Merging never changes what a reader of the whole log sees as text.
func Merge(a, b Candidate) (Candidate, bool) {
	first, ok := a.Payload.(event.DeltaPayload)
	if !ok || a.Type != b.Type {
		return a, false
	}
	second, ok := b.Payload.(event.DeltaPayload)
	if !ok || first.Last || first.AgentID != second.AgentID || first.MessageID != second.MessageID || first.ContentIndex != second.ContentIndex {
		return a, false
	}
	if len(first.Delta)+len(second.Delta) > maxMerged {
		return a, false
	}
	first.Delta += second.Delta
	first.Last, first.Fidelity = second.Last, second.Fidelity
	return Candidate{Type: a.Type, Payload: first}, true
}
