package sqlstore

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
)

const (
	benchRows    = 100 // in a frame
	benchPayload = 200 // bytes
)

// BenchmarkCommit measures the way of a frame from its bytes to the disk (SQLite: FULL), preparation included.
func BenchmarkCommit(b *testing.B) {
	for name, address := range addresses() {
		for lanes, label := range map[int]string{1: "lane", 8: "8lanes"} {
			b.Run(name+"/"+label, func(b *testing.B) {
				s := openAt(b, address(b))
				startCheckpointer(b, s)
				benchCommit(b, newRecord(b, s, startWriter(b, s)), lanes)
			})
		}
	}
}

func benchCommit(b *testing.B, r *record, lanes int) {
	b.Helper()
	journals := make([]*journal, lanes)
	runs := make([]runlog.NewRun, lanes)
	for i := range journals {
		journals[i], runs[i] = launched(b, r)
		r.fleet.set(journals[i].edge, false) // the next run goes to the next edge
	}
	b.ResetTimer()
	for b.Loop() {
		b.StopTimer()
		for i, j := range journals {
			j.fill(b, runs[i].ID)
		}
		b.StartTimer()
		var wg sync.WaitGroup
		for _, j := range journals {
			wg.Go(func() {
				if res := j.flush(b, r); res.Events != benchRows {
					b.Errorf("committed %d of %d events", res.Events, benchRows)
				}
			})
		}
		wg.Wait()
	}
	b.ReportMetric(float64(b.N*benchRows*lanes)/b.Elapsed().Seconds(), "events/s")
}

// BenchmarkCommitCrowd measures a frame in which each row is of another run: a machine with many agents that speak now and then.
func BenchmarkCommitCrowd(b *testing.B) {
	for name, address := range addresses() {
		b.Run(name, func(b *testing.B) {
			s := openAt(b, address(b))
			startCheckpointer(b, s)
			benchCrowd(b, newRecord(b, s, startWriter(b, s)))
		})
	}
}

func benchCrowd(b *testing.B, r *record) {
	b.Helper()
	j, first := launched(b, r)
	runs := []id.Run{first.ID}
	for len(runs) < benchRows {
		runs = append(runs, r.start(b, r.conversation(b)).ID)
	}
	payload := benchDelta(b)
	b.ResetTimer()
	for b.Loop() {
		b.StopTimer()
		for _, run := range runs {
			j.write(b, run, wireDelta, payload)
		}
		b.StartTimer()
		if res := j.flush(b, r); res.Events != benchRows {
			b.Errorf("committed %d of %d events", res.Events, benchRows)
		}
	}
	b.ReportMetric(float64(b.N*benchRows)/b.Elapsed().Seconds(), "events/s")
}

// startCheckpointer lets the WAL be copied meanwhile, as in a hub.
func startCheckpointer(tb testing.TB, s *Store) {
	tb.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(tb.Context()))
	done := make(chan error, 1)
	go func() { done <- s.NewCheckpointer(slog.New(slog.DiscardHandler)).Run(ctx) }()
	tb.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			tb.Errorf("checkpointer: %v", err)
		}
	})
}

// fill writes the rows of one frame and forgets the ones before.
func (j *journal) fill(tb testing.TB, runID id.Run) {
	tb.Helper()
	payload := benchDelta(tb)
	for range benchRows {
		j.write(tb, runID, wireDelta, payload)
	}
}

func benchDelta(tb testing.TB) json.RawMessage {
	tb.Helper()
	payload, err := event.Encode(event.DeltaPayload{MessageID: id.NewMessage(), Delta: strings.Repeat("x", benchPayload-95)})
	if err != nil {
		tb.Fatal(err)
	}
	return payload
}
