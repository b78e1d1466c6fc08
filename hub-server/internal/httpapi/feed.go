package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// writeAt is how many bytes are gathered before they are written.
const writeAt = 32 << 10

// Why a stream ends before its run does, as a label of the metric. A client comes back after each of them.
var (
	errGone  = errors.New("client is gone")
	errSlow  = errors.New("client takes nothing")
	errEnded = errors.New("right to read has ended, or the hub stops")
	errStale = errors.New("store has another epoch")
	errLeft  = errors.New("events went to an archive")
)

// feed writes server-sent events to one reader, and knows when the reader must go. It is served by its request's goroutine alone.
type feed struct {
	Deps
	metrics   *metrics
	ctx       context.Context //nolint:containedctx // the request's, and this lives as long
	w         http.ResponseWriter
	out       *http.ResponseController
	who       account.Principal
	follower  *delivery.Follower
	keepAlive string // the comment of a silent stream
	buf       []byte
}

// head begins the answer so that nobody on the way keeps or delays it.
func (f *feed) head(first []byte) {
	header := f.w.Header()
	header.Set("Content-Type", eventStream)
	header.Set("Cache-Control", "no-store, no-transform")
	header.Set("X-Accel-Buffering", "no")
	f.w.WriteHeader(http.StatusOK)
	f.buf = append(f.buf, first...)
}

// close ends the answer: as whole when the client has what it may have, cut off when bytes are missing or may be.
func (f *feed) close(err error, where ...any) error {
	for _, why := range []error{errGone, errSlow, errEnded, errStale, runlog.ErrHole, errLeft} {
		if errors.Is(err, why) {
			f.metrics.streamsEnded.With(why.Error()).Inc()
		}
	}
	switch {
	case err == nil, errors.Is(err, errGone), errors.Is(err, errEnded), errors.Is(err, errStale):
		return nil
	case f.ctx.Err() == nil && !errors.Is(err, errSlow) && !errors.Is(err, errLeft):
		f.Log.ErrorContext(f.ctx, "event stream cut off", append(where, "error", err)...)
	}
	panic(http.ErrAbortHandler)
}

// gathered writes what was gathered once it is enough for a write.
func (f *feed) gathered() error {
	if len(f.buf) < writeAt {
		return nil
	}
	return f.flush()
}

func (f *feed) flush() error {
	if len(f.buf) == 0 {
		return nil
	}
	err := f.write(f.buf)
	f.buf = f.buf[:0]
	if cap(f.buf) > 2*writeAt {
		f.buf = nil
	}
	return err
}

// write sends bytes on their way at once. A client that takes none of them in time is given up: it may come back and go on.
func (f *feed) write(data []byte) error {
	err := f.out.SetWriteDeadline(time.Now().Add(f.Pace.Write))
	if err == nil {
		_, err = f.w.Write(data)
	}
	if err == nil {
		err = f.out.Flush()
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		return errSlow
	}
	return fmt.Errorf("%w: %w", errGone, err)
}

// clocks are the timers of a stream.
type clocks struct {
	silence time.Duration // before a comment says that the stream stands
	keep    *time.Timer
	poll    *time.Ticker
	alive   *time.Ticker
}

func (p Pace) clocks(silence time.Duration) clocks {
	return clocks{silence, time.NewTimer(silence), time.NewTicker(p.Poll), time.NewTicker(p.Alive)}
}

// spoken says that something was just written.
func (c clocks) spoken() { c.keep.Reset(c.silence) }

func (c clocks) stop() {
	c.keep.Stop()
	c.poll.Stop()
	c.alive.Stop()
}

// wait returns when there may be something to read; polled says that nobody has said so.
func (f *feed) wait(c clocks, ready <-chan struct{}) (polled bool, err error) {
	for {
		select {
		case <-f.ctx.Done():
			return false, errGone
		case <-f.follower.Gone():
			return false, errEnded
		case <-f.follower.Ready():
			return false, nil
		case <-ready:
			return false, nil
		case <-c.poll.C:
			return true, nil
		case <-c.keep.C:
			if err := f.write([]byte(f.keepAlive)); err != nil {
				return false, err
			}
			c.spoken()
		case <-c.alive.C:
			if err := f.checkLogin(); err != nil {
				return false, err
			}
		}
	}
}

// checkLogin asks whether the login behind the stream still stands (SEC8). When nobody knows, it is asked again next time.
func (f *feed) checkLogin() error {
	if fault.CodeOf(f.stillIn(f.ctx, f.who)) == fault.Unauthenticated {
		return errEnded
	}
	return nil
}

// follows begins to be told when the reader must go. A login that ended before that is refused here: nobody would tell of it.
func (f *feed) follows(run id.Run, session id.Session) (err error) {
	if f.follower, err = f.Followers.Follow(f.who, run, session); err != nil {
		return err
	}
	if err = f.stillIn(f.ctx, f.who); err != nil {
		f.follower.Close()
	}
	return err
}

// stillIn fails once the caller's login has ended.
func (d Deps) stillIn(ctx context.Context, who account.Principal) error {
	alive, err := d.Devices.FamilyAlive(ctx, who.Family)
	if err == nil && !alive {
		return fault.New(fault.Unauthenticated, "Log in again: this login has ended.")
	}
	return err
}
