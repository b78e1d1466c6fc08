package fanload

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// memory is what a server, which is a Go program that shows its runtime's metrics, holds.
type memory struct {
	live     float64 // bytes of heap and stacks in use
	resident int64   // bytes
	cycles   float64 // of the garbage collector so far
}

// memory looks at the server; only a plan that is about memory does.
func (p Plan) memory(ctx context.Context) (m memory, err error) {
	if p.Work != Idle {
		return m, nil
	}
	return p.afterCollection(ctx)
}

const (
	collectWithin = 3 * time.Minute // the runtime collects every two minutes at least
	lookAgain     = 250 * time.Millisecond
	sweepWithin   = 5 * time.Second // what a cycle has found to be garbage is counted until it is swept
)

// afterCollection waits for the next cycle of the server's collector, and returns the least that is in use soon after it: next to nothing is
// garbage then.
func (p Plan) afterCollection(ctx context.Context) (least memory, err error) {
	first, err := p.metrics(ctx)
	if err != nil {
		return first, err
	}
	limit := time.After(collectWithin)
	var swept <-chan time.Time
	tick := time.NewTicker(lookAgain)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-swept:
			return least, nil
		case <-ctx.Done():
			return first, ctx.Err()
		case <-limit:
			return first, fmt.Errorf("the server has collected nothing for %s", collectWithin)
		}
		m, err := p.metrics(ctx)
		if err != nil {
			return m, err
		}
		switch {
		case m.cycles == first.cycles:
		case swept == nil:
			swept, least = time.After(sweepWithin), m
		case m.live < least.live:
			least = m
		}
	}
}

// idle compares what the server holds with what it held before anybody was there.
func (p Plan) idle(ctx context.Context, before memory, r *Result) error {
	now, err := p.afterCollection(ctx)
	if err != nil {
		return err
	}
	r.IdleHeap = (now.live - before.live) / float64(p.Subscribers)
	r.IdleResident = float64(now.resident-before.resident) / float64(p.Subscribers)
	return nil
}

func (p Plan) metrics(ctx context.Context) (m memory, err error) {
	if m.resident, err = residentOf(p.PID); err != nil {
		return m, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.Server+"/metrics", nil)
	if err != nil {
		return m, err
	}
	asking := http.Client{Timeout: openWithin}
	resp, err := asking.Do(req)
	if err != nil {
		return m, fmt.Errorf("read metrics: %w", err)
	}
	defer resp.Body.Close() //nolint:errcheck // read to its end
	found := map[string]float64{}
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		if name, value, ok := strings.Cut(lines.Text(), " "); ok && strings.HasPrefix(name, "go_") {
			found[name], _ = strconv.ParseFloat(value, 64) // what is no number is none of those below
		}
	}
	m.live = found["go_memstats_heap_alloc_bytes"] + found["go_memstats_stack_inuse_bytes"]
	m.cycles = found["go_gc_duration_seconds_count"]
	if m.live == 0 || m.cycles == 0 {
		return m, errors.Join(errors.New("the server shows no metrics of its memory"), lines.Err())
	}
	return m, nil
}
