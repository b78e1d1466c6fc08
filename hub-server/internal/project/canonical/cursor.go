package canonical

import (
	"math"
	"strconv"
	"strings"

	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Cursor is a place in a run's log as a client names it: `41`, or `<epoch>.41`, which holds for that life of the store alone (R2).
type Cursor struct {
	Epoch wire.Epoch // "" for a plain number
	Seq   runlog.EventSeq
}

const (
	maxCursorText = 128
	maxEpochText  = 64
)

// String is what ParseCursor reads.
func (c Cursor) String() string { return string(c.append(nil)) }

func (c Cursor) append(dst []byte) []byte {
	if c.Epoch != "" {
		dst = append(dst, c.Epoch...)
		dst = append(dst, '.')
	}
	return strconv.AppendUint(dst, uint64(c.Seq), 10)
}

// ParseCursor reads a cursor: fault.CursorInvalid for what is none, fault.CursorNegative for a number below 0. A number beyond all that a
// log can have is cut to one that is still beyond it.
func ParseCursor(text string) (Cursor, error) {
	epoch, number, both := strings.Cut(text, ".")
	if !both {
		epoch, number = "", text
	}
	digits, negative := strings.CutPrefix(number, "-")
	if len(text) > maxCursorText || both && !epochText(epoch) || digits == "" || strings.Trim(digits, "0123456789") != "" {
		return Cursor{}, fault.New(fault.CursorInvalid, "The cursor is neither the number of an event nor an epoch with one, as in 41 or 1f0c5a9e33b2d704.41.")
	}
	if negative {
		return Cursor{}, fault.New(fault.CursorNegative, "The cursor is negative. Events are numbered from 1; 0 means from the start.")
	}
	seq, err := strconv.ParseUint(digits, 10, 63)
	if err != nil { // only its size can be wrong
		seq = math.MaxInt64
	}
	return Cursor{Epoch: wire.Epoch(epoch), Seq: runlog.EventSeq(seq)}, nil
}

func epochText(s string) bool {
	return s != "" && len(s) <= maxEpochText && strings.Trim(s, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// Ask is how far a client says that it has come, as text; nil where it says nothing.
type Ask struct {
	Query  *string // after_seq
	Header *string // Last-Event-ID
}

// Begin is where reading begins.
type Begin struct {
	After   runlog.EventSeq
	Resumed bool // a Last-Event-ID came: the client reconnects by itself
	Reset   bool // it is of another epoch: the stream says so and ends
	Epochs  bool // the client speaks of epochs, so its ids carry them
}

// StaleCursor is the refusal of a cursor that is of another life of the store. It wraps fault.CursorReset.
type StaleCursor struct {
	*fault.Fault
	Epoch wire.Epoch // the current one
}

// Unwrap gives the fault.
func (s *StaleCursor) Unwrap() error { return s.Fault }

// Stale refuses a cursor in a store of this epoch; what is to be read again is "run" or "conversation".
func Stale(epoch wire.Epoch, what string) error {
	return &StaleCursor{fault.New(fault.CursorReset,
		"The hub was restored since this cursor was made; its epoch is %s now. Read the %s again from the start.", epoch, what), epoch}
}

// Trimmed refuses a cursor that is of this epoch, but behind which not everything is kept.
func Trimmed(epoch wire.Epoch) error {
	return &StaleCursor{fault.New(fault.CursorReset,
		"What comes behind this cursor is not kept any more. Read the conversation again from the beginning of what is kept."), epoch}
}

// Plan decides where to begin in a store of this epoch: behind the larger of the two cursors. A header that names an epoch decides about
// the epoch, because whoever sends it has read a stream before; otherwise the query does.
func Plan(ask Ask, epoch wire.Epoch) (Begin, error) {
	query, err := parseAsked(ask.Query)
	if err != nil {
		return Begin{}, err
	}
	header, err := parseAsked(ask.Header)
	if err != nil {
		return Begin{}, err
	}
	b := Begin{
		After: max(query.Seq, header.Seq), Resumed: ask.Header != nil, Epochs: query.Epoch != "" || header.Epoch != "",
	}
	switch {
	case header.Epoch != "" && header.Epoch != epoch:
		b.Reset = true
	case query.Epoch == "" || query.Epoch == epoch:
	case header.Epoch == epoch:
		b.After = header.Seq
	default:
		return Begin{}, Stale(epoch, "run")
	}
	return b, nil
}

func parseAsked(text *string) (Cursor, error) {
	if text == nil {
		return Cursor{}, nil
	}
	return ParseCursor(*text)
}
