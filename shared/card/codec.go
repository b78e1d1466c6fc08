package card

import (
	"encoding/json"
	"fmt"
)

// Encode returns the event as one text message: a line of JSON in UTF-8 with its end, `<` and `>` left alone (facts 0.6). The same event gives
// the same bytes for ever. An error means that a raw value inside is not JSON.
func (e Event) Encode() ([]byte, error) {
	line, err := e.appendTo(make([]byte, 0, len(e.Payload)+envelopeBytes))
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", e.Type, err)
	}
	return append(line, '\n'), nil
}

// Decode reads one text message, with or without its end. It is tolerant, as readers are: keys that are not known are dropped, and an event
// whose type, kind or other word is not known is returned as it is; Known says so.
func Decode(line []byte) (Event, error) {
	var e Event
	if err := json.Unmarshal(line, &e); err != nil {
		return Event{}, fmt.Errorf("read card event: %w", err)
	}
	if e.Type == "" {
		return Event{}, fmt.Errorf("read card event: no type in %.80q", line)
	}
	return e, nil
}

// MarshalJSON writes the envelope in the order of S0 §3.2, its timestamp in milliseconds of UTC.
func (e Envelope) MarshalJSON() ([]byte, error) { return e.appendTo(nil), nil }
