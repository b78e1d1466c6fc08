package uplink

import (
	"context"
	"fmt"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/fault"
	rows "github.com/switchyard-dev/switchyard/shared/lane"
	"github.com/switchyard-dev/switchyard/shared/subject"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

func (l *lane) frame(ctx context.Context, data []byte) error {
	frame, err := wire.DecodeFrame(data)
	if err != nil || !l.greeted {
		return l.badFrame(err)
	}
	return l.judge(ctx, frame, len(data))
}

// judge takes a frame: bytes long, or 0 for one that has waited, which is taken by itself.
func (l *lane) judge(ctx context.Context, frame wire.Frame, bytes int) error {
	if l.inquiry != nil {
		return l.park(frame, bytes)
	}
	switch l.receiver.Frame(frame) {
	case rows.Commit:
		if bytes > 0 {
			frame = l.gather(frame, bytes)
		}
		return l.commit(ctx, frame)
	case rows.Ask:
		l.rewind()
	}
	return nil
}

// gather joins to the frame what has arrived behind it. An edge sends each row at once; a hub that is slower than that would commit them one
// by one and fall ever further behind, while one commit takes many rows as fast as it takes one.
func (l *lane) gather(frame wire.Frame, bytes int) wire.Frame {
	for bytes < maxCommit {
		select {
		case m := <-l.inbox:
			next, err := wire.DecodeFrame(m.data)
			if m.verb != subject.Frame || err != nil || !rows.Continues(frame, next) {
				l.held <- m // there is room: it is empty while a message is handled
				return frame
			}
			frame.Rows = append(frame.Rows, next.Rows...)
			bytes += len(m.data)
		default:
			return frame
		}
	}
	return frame
}

func (l *lane) badFrame(err error) error {
	l.hub.Metrics.badFrames.Inc()
	l.hub.Log.Warn("uplink frame refused", "edge", l.edge, "error", err)
	if l.receiver.Unreadable() == rows.Give {
		return errBadFrames
	}
	l.rewind()
	return nil
}

func (l *lane) rewind() {
	if again, ok := l.receiver.Rewind(); ok {
		l.hub.Metrics.rewinds.Inc()
		l.send(subject.Rewind, again)
	}
}

func (l *lane) commit(ctx context.Context, frame wire.Frame) error {
	start := time.Now()
	prepared := runlog.PrepareFrame(l.edge, l.state, frame)
	prepared.Asked = l.canAsk()
	result, err := l.hub.Lanes.Commit(ctx, prepared)
	if err != nil {
		return fmt.Errorf("commit frame: %w", err)
	}
	l.hub.Metrics.commit.Observe(time.Since(start).Seconds())
	switch {
	case result.Fenced:
		return errFenced
	case result.NeedBlob != "":
		return fault.New(wire.NeedBlob, "%s", result.NeedBlob)
	case result.Rewind:
		l.rewind()
		return nil
	case len(result.Strange) > 0:
		l.inquire(frame, result.Strange)
		return nil
	}
	l.receiver.Committed(result.Watermark)
	l.state.Watermark, l.state.Chain = result.Watermark, result.Chain
	l.send(subject.Committed, wire.CommittedTo{Receipt: result.Receipt, Credit: credit})
	return nil
}
