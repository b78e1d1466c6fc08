package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
)

// million measures what a very long run costs: whether the hub takes its later events as fast as its first, in how much memory, and how long the
// first page of its log and the last one take.
func (b bench) million(t *stage) []row {
	events := b.times(1_000_000, 200_000)
	r := rig.New(t, rig.Options{Bin: b.bin})
	h := newFirehose(t, r, "hose")
	var rates []float64
	var memory []int64
	for range 10 {
		rates = append(rates, h.pourRows(t, events/10))
		memory = append(memory, resident(t, r.Hub().PID()))
	}
	t.Logf("bench: events/s of each tenth: %.0f", rates)
	first, last := h.page(t, r, 0), h.page(t, r, int64(h.lane.Head)-100)
	const goal = 50 * time.Millisecond
	early, late := median(rates[:5]), median(rates[5:])
	flat, grown := late/early, float64(slices.Max(memory[5:]))/float64(slices.Max(memory[:5]))
	of := fmt.Sprintf("a run of %d events", events)
	return []row{
		{of + ": events/s in its second half against its first", "≥ 0.8", fmt.Sprintf("%.2f (%.0f against %.0f)", flat, late, early), flat >= 0.8},
		{of + ": memory of the hub in its second half against its first", "≤ 1.2", fmt.Sprintf("%.2f (at most %s)", grown, mib(slices.Max(memory))), grown <= 1.2},
		{of + ": first page of 100 events", "< 50 ms", inHalves(first), first.at(0.5) < goal},
		{of + ": last page of 100 events", "< 50 ms", inHalves(last), last.at(0.5) < goal},
	}
}

// pourRows sends about so many rows and returns how many were committed in a second.
func (h *firehose) pourRows(t *stage, n int) float64 {
	start, before := time.Now(), int(h.lane.Head)
	t.must(h.pour(t.ctx, func() bool { return int(h.lane.Head) < before+n }))
	return float64(int(h.lane.Head)-before) / time.Since(start).Seconds()
}

// page returns how long the hub takes for a page of the run's canonical events.
func (h *firehose) page(t *stage, r *rig.Rig, after int64) (taken spread) {
	size, cursor := 100, fmt.Sprint(after)
	asPage := func(_ context.Context, req *http.Request) error {
		req.Header.Set("Accept", "application/json")
		return nil
	}
	for range 21 {
		start := time.Now()
		page, err := client.Decode[client.CanonicalEventList](r.Owner().API().FollowRunEvents(t.ctx, string(h.run),
			&client.FollowRunEventsParams{AfterSeq: &cursor, Limit: &size}, asPage))
		t.must(err)
		taken = append(taken, time.Since(start))
		if len(page.Items) != size {
			t.Fatalf("the page after %d has %d events", after, len(page.Items))
		}
	}
	return taken
}
