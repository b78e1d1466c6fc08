package uplink

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/switchyard-dev/switchyard/shared/id"
	rows "github.com/switchyard-dev/switchyard/shared/lane"
	"github.com/switchyard-dev/switchyard/shared/subject"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

const (
	maxAsked  = 10_000     // runs that an edge is asked about on one connection; rows of more go to quarantine
	maxParked = 4 * credit // bytes of frames behind one that waits; an edge that sends more minds no credit
)

// inquiry is a frame that waits, because it names runs that the store does not know, for the edge to show how they began. What comes behind it
// is parked.
type inquiry struct {
	frame  wire.Frame
	open   map[id.Run]bool // asked and not answered
	limit  *time.Timer     // for the answers
	parked []wire.Frame
	bytes  int // of parked
}

// inquire asks the edge about runs. They are asked about once: what is strange after the answer goes to quarantine.
func (l *lane) inquire(frame wire.Frame, strange []id.Run) {
	l.inquiry = &inquiry{frame: frame, open: map[id.Run]bool{}, limit: time.NewTimer(cmp.Or(l.hub.ShowWithin, rows.Silence))}
	for _, r := range strange {
		l.asked[r], l.inquiry.open[r] = true, true
	}
	l.send(subject.Show, wire.Show{Runs: strange})
}

// canAsk returns the runs that this connection was asked about, nil if it must not be asked.
func (l *lane) canAsk() map[id.Run]bool {
	if !l.greeting.Shows || len(l.asked) >= maxAsked {
		return nil
	}
	return l.asked
}

func (l *lane) park(frame wire.Frame, bytes int) error {
	q := l.inquiry
	if q.bytes += bytes; q.bytes > maxParked {
		return errBadFrames
	}
	q.parked = append(q.parked, frame)
	return nil
}

// shown takes an answer, and goes on once it was the last.
func (l *lane) shown(ctx context.Context, data []byte) error {
	shown, err := wire.Decode[wire.Shown](data)
	if err != nil {
		return l.badFrame(err)
	}
	if l.inquiry == nil || !l.inquiry.open[shown.RunID] {
		return nil // nobody asked, or not any more
	}
	if err := l.hub.Lanes.Recreate(ctx, l.edge, shown); err != nil {
		return fmt.Errorf("recreate run: %w", err)
	}
	delete(l.inquiry.open, shown.RunID)
	if len(l.inquiry.open) > 0 {
		return nil
	}
	return l.resume(ctx)
}

// resume commits what has waited. The edge may have to be asked again on the way; the rest then waits on.
func (l *lane) resume(ctx context.Context) error {
	waited := append([]wire.Frame{l.inquiry.frame}, l.inquiry.parked...)
	l.forget()
	for _, frame := range waited {
		if err := l.judge(ctx, frame, 0); err != nil {
			return err
		}
	}
	return nil
}

// forget drops what waits: it is taken, or the edge begins anew and sends it again.
func (l *lane) forget() {
	if l.inquiry != nil {
		l.inquiry.limit.Stop()
		l.inquiry = nil
	}
}

// overdue fires when the answers that something waits for should have come.
func (l *lane) overdue() <-chan time.Time {
	if l.inquiry == nil {
		return nil
	}
	return l.inquiry.limit.C
}

// goOn takes what has waited without the answers.
func (l *lane) goOn(ctx context.Context) error {
	l.hub.Log.Warn("an edge did not show how runs began", "edge", l.edge, "runs", len(l.inquiry.open))
	return l.resume(ctx)
}
