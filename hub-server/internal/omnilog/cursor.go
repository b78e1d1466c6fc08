package omnilog

import (
	"math"
	"strconv"
	"strings"

	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Cursor is a place in a conversation as a client names it, `<epoch>-<place>`: everything up to it has been read.
type Cursor struct {
	Epoch wire.Epoch
	Place int64
}

const maxCursorText = 128

// String is what ParseCursor reads.
func (c Cursor) String() string { return string(c.Append(nil)) }

// Append appends the cursor's text.
func (c Cursor) Append(dst []byte) []byte {
	dst = append(append(dst, c.Epoch...), '-')
	return strconv.AppendInt(dst, c.Place, 10)
}

// ParseCursor reads a cursor: fault.CursorInvalid for what is none.
func ParseCursor(text string) (Cursor, error) {
	c, rest, ok := cutCursor(text)
	if !ok || rest != "" {
		return Cursor{}, fault.New(fault.CursorInvalid, "The cursor is not an epoch with a place, as in 1f0c5a9e33b2d704-41.")
	}
	return c, nil
}

// Text is a position as a client names it, `<epoch>-<place>.<n>`.
func (p Position) Text(epoch wire.Epoch) string {
	return string(strconv.AppendInt(append(Cursor{epoch, p.Place}.Append(nil), '.'), int64(p.N), 10))
}

// ParsePosition reads where a message stands, or a cursor, which is behind all messages of its place: fault.CursorInvalid for what is neither.
func ParsePosition(text string) (wire.Epoch, Position, error) {
	c, rest, ok := cutCursor(text)
	digits, many := strings.CutPrefix(rest, ".")
	n, fits := number(digits, math.MaxInt32)
	switch {
	case ok && rest == "":
		return c.Epoch, Position{c.Place, math.MaxInt32}, nil
	case ok && many && fits:
		return c.Epoch, Position{c.Place, int(n)}, nil
	}
	return "", Position{}, fault.New(fault.CursorInvalid, "It is neither the position of a message nor a cursor, as in 1f0c5a9e33b2d704-41.0 or 1f0c5a9e33b2d704-41.")
}

// cutCursor reads a cursor at the beginning of a text.
func cutCursor(text string) (c Cursor, rest string, ok bool) {
	epoch, place, both := strings.Cut(text, "-")
	digits, _, _ := strings.Cut(place, ".")
	n, fits := number(digits, math.MaxInt64-1)
	if !both || len(text) > maxCursorText || !epochText(epoch) || !fits {
		return c, "", false
	}
	return Cursor{wire.Epoch(epoch), n}, place[len(digits):], true
}

// number reads digits as String writes them, without a zero in front.
func number(digits string, most int64) (int64, bool) {
	n, err := strconv.ParseInt(digits, 10, 64)
	return n, err == nil && n >= 0 && n <= most && strconv.FormatInt(n, 10) == digits
}

func epochText(s string) bool {
	return s != "" && strings.Trim(s, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}
