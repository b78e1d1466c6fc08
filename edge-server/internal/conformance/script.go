package conformance

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/switchyard-dev/switchyard/shared/bridge"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// answering says what a script does with permission requests.
type answering int

const (
	allowing answering = iota
	denying
	updating   // allow, with an input that somebody changed
	reversing  // wait until the agent is quiet, then answer the last request first
	forgetting // never answer, and end stdin after a while
)

// stopping says when a script stops the agent.
type stopping int

const (
	never          stopping = iota
	beforeTheTurn           // while it waits for the rest of its turn
	atTheFirstLine          // while it is speaking
)

// script is how one turn is played. stdin ends after the last piece unless asks or stays is set, or a client offers tools.
type script struct {
	pieces    [][]byte // of stdin; there is a pause between two
	sessionID string   // as in the turn, for placeholders of the profile
	asks      bool
	stays     bool              // the agent can be told things while it works
	steer     id.Steer          // that it is told; "" for none
	tools     []wire.ClientTool // that a client offers
	answers   answering
	stop      stopping
}

// Pauses of a script: a piece of a turn comes after pieceAfter of silence, the last answer of several after quietAfter, and the end of stdin
// after patience.
const (
	pieceAfter = 40 * time.Millisecond
	quietAfter = 250 * time.Millisecond
	patience   = time.Second
)

// silence is how long the agent has to be quiet until the script does its next thing.
func (s script) silence() time.Duration {
	switch {
	case s.stop == beforeTheTurn:
		return quietAfter
	case s.asks && s.answers == reversing:
		return quietAfter
	case s.asks && s.answers == forgetting:
		return patience
	}
	return pieceAfter
}

// line returns the turn as the edge writes it.
func line(turn bridge.Turn) []byte {
	encoded, err := turn.Encode()
	if err != nil {
		return nil // an empty turn, which no probe plays
	}
	return encoded
}

// with returns a turn line with further members, or with others than it had.
func with(turn []byte, members map[string]any) []byte {
	all := map[string]any{}
	if json.Unmarshal(turn, &all) != nil {
		return turn
	}
	for name, value := range members {
		all[name] = value
	}
	changed, err := event.Encode(all)
	if err != nil {
		return turn
	}
	return append(changed, '\n')
}

// inPieces cuts a turn line in three, in the middle of what it says.
func inPieces(turn []byte) [][]byte {
	third := len(turn) / 3
	return [][]byte{bytes.Clone(turn[:third]), bytes.Clone(turn[third : 2*third]), bytes.Clone(turn[2*third:])}
}

// updated is an input that somebody changed as little as possible.
func updated(input json.RawMessage) json.RawMessage {
	return bytes.TrimSpace(with(input, map[string]any{"changed_by_the_check": true}))
}
