package delivery

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Cursor is the opaque text by which a client says how far it has come: an epoch of the store and a position in its outbox. It is
// no credential: what it opens is decided by who shows it.
type Cursor string

const (
	cursorVersion  = 1
	maxCursorText  = 256 // as in api/openapi.yaml
	maxEpochInside = 128
)

// ErrCursor is wrapped by ParseCursor: the text is none that NewCursor makes.
var ErrCursor = errors.New("malformed cursor")

// NewCursor returns the cursor of a position: version byte, length and text of the epoch, varint of the position, in base64url.
func NewCursor(epoch wire.Epoch, p Position) Cursor {
	raw := []byte{cursorVersion}
	raw = binary.AppendUvarint(raw, uint64(len(epoch)))
	raw = append(raw, epoch...)
	raw = binary.AppendUvarint(raw, uint64(p))
	return Cursor(base64.RawURLEncoding.EncodeToString(raw))
}

// ParseCursor accepts exactly what NewCursor makes; the error wraps ErrCursor. It does not know whether the epoch is the current one.
func ParseCursor(text string) (wire.Epoch, Position, error) {
	if len(text) > maxCursorText {
		return "", 0, fmt.Errorf("%w: more than %d bytes", ErrCursor, maxCursorText)
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(raw) == 0 || raw[0] != cursorVersion {
		return "", 0, fmt.Errorf("%w: unknown format", ErrCursor)
	}
	size, n := binary.Uvarint(raw[1:])
	rest := raw[1+max(n, 0):]
	if n <= 0 || size > maxEpochInside || size > uint64(len(rest)) {
		return "", 0, fmt.Errorf("%w: bad epoch", ErrCursor)
	}
	epoch := wire.Epoch(rest[:size])
	p, n := binary.Uvarint(rest[size:])
	if n <= 0 || p > math.MaxInt64 || string(NewCursor(epoch, Position(p))) != text {
		return "", 0, fmt.Errorf("%w: bad position", ErrCursor)
	}
	return epoch, Position(p), nil
}
