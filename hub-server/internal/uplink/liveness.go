package uplink

import (
	"context"
	"errors"
	"time"

	"github.com/switchyard-dev/switchyard/shared/fault"
	rows "github.com/switchyard-dev/switchyard/shared/lane"
	"github.com/switchyard-dev/switchyard/shared/subject"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// pulse proves that both ends are alive, until ctx ends. It has a goroutine of its own: the lane may be at work on a commit for as long as the
// store needs, and neither is its edge absent meanwhile nor the hub.
func (l *lane) pulse(ctx context.Context) {
	beat := time.NewTicker(beatEvery)
	defer beat.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-beat.C:
		}
		if l.silent() {
			l.end(errSilent)
			return
		}
		l.send(subject.Ping, wire.Ping{Nonce: l.nextPing(nil)})
	}
}

// heard notes a sign of life.
func (l *lane) heard() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.heardAt = time.Now()
}

// answered takes a pong. One that cannot be read, or to a ping that nobody waits for, was a sign of life and is nothing more.
func (l *lane) answered(data []byte) {
	pong, err := wire.Decode[wire.Pong](data)
	if err != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if probe, waited := l.probes[pong.Nonce]; waited {
		close(probe)
		delete(l.probes, pong.Nonce)
	}
}

// silent says whether the edge has said nothing for too long. While the inbox is full nobody listens.
func (l *lane) silent() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Since(l.heardAt) > rows.Silence && len(l.inbox) < cap(l.inbox)
}

// answers asks whether the edge process behind a lane is still there. Only the pong to this very ping says so: behind a link that was stuck for a
// while come answers to older pings, of a process that may be dead since.
func (l *lane) answers(ctx context.Context) bool {
	probe := make(chan struct{})
	nonce := l.nextPing(probe)
	defer l.abandon(nonce)
	l.send(subject.Ping, wire.Ping{Nonce: nonce})
	limit := time.NewTimer(probeLimit)
	defer limit.Stop()
	select {
	case <-probe:
		return true
	case <-limit.C:
	case <-ctx.Done():
	}
	return false
}

// nextPing returns a nonce that no ping of this lane has had; probe, if not nil, is closed when its pong comes.
func (l *lane) nextPing(probe chan struct{}) uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pings++
	if probe != nil {
		l.probes[l.pings] = probe
	}
	return l.pings
}

func (l *lane) abandon(nonce uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.probes, nonce)
}

// standing asks the store whether the edge may still be here. If there is no answer, the next look may have one.
func (l *lane) standing(ctx context.Context) error {
	known, err := l.hub.Edges.Standing(ctx, l.edge)
	switch {
	case err != nil:
		l.unsettled(err)
	case known.Revoked():
		return removed()
	case l.greeted && known.Refused == fault.EdgeRefused: // since its hello, which takes a refusal back
		return cloned()
	}
	return nil
}

// refuse tells the edge why the connection ends, when that is something it can act on, and leaves it a moment to hang up itself.
func (l *lane) refuse(ctx context.Context, err error) {
	var f *fault.Fault
	if !errors.As(err, &f) {
		return
	}
	if f.Code == fault.FrameUnreadable || f.Code == fault.EdgeRefused {
		if err := l.hub.Edges.Refuse(ctx, l.edge, f.Code); err != nil {
			l.hub.Log.Warn("edge's refusal was not recorded", "edge", l.edge, "error", err)
		}
	}
	retry := f.Code != fault.EdgeRefused && f.Code != fault.EdgeRevoked && f.Code != fault.Unsupported
	l.send(subject.Refused, wire.Refused{Code: f.Code, Detail: f.Detail, Retry: retry})
	farewell := time.NewTimer(farewellLimit)
	defer farewell.Stop()
	select {
	case <-ctx.Done():
	case <-farewell.C:
	}
}
