package wire

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/switchyard-dev/switchyard/shared/event"
)

// ErrMessage is wrapped by every error of Decode.
var ErrMessage = errors.New("malformed control message")

// Decode reads a control message of type M from the peer: at most MaxControlSize bytes of JSON that nests no deeper than any JSON from
// outside may. Keys that M does not have are ignored.
func Decode[M any](data []byte) (M, error) {
	var m M
	switch {
	case len(data) > MaxControlSize:
		return m, fmt.Errorf("%w: %d bytes", ErrMessage, len(data))
	case event.Depth(data) > event.MaxDepth:
		return m, fmt.Errorf("%w: nested deeper than %d", ErrMessage, event.MaxDepth)
	}
	if err := json.Unmarshal(data, &m); err != nil {
		var none M
		return none, fmt.Errorf("%w: %w", ErrMessage, err)
	}
	return m, nil
}
