package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/supervise"
)

// Figures of the crowd: so many runs at once, each followed by so many plain HTTP clients.
const (
	crowdRuns    = 200
	crowdReaders = 2
	crowdRate    = 10 // events a second of each run
)

// The machine is busy for a while with 200 processes that have just begun, all at once, and with the first ones that end.
const (
	settling = 2 * time.Second
	ending   = time.Second
)

// streams measures the way of an agent's line to a client of server-sent events while 200 agents speak at once and two clients follow each.
func (b bench) streams(t *stage) []row {
	seconds := b.times(30, 10)
	var medians, tails spread
	for range b.times(3, 1) {
		taken, err := onStage(t.ctx, func(t *stage) spread { return b.crowd(t, seconds) })
		t.must(err)
		medians, tails = append(medians, taken.at(0.5)), append(tails, taken.at(0.99))
	}
	what := fmt.Sprintf("agent line → client of server-sent events, %d runs at %d events/s with %d clients each for %d s, ",
		crowdRuns, crowdRate, crowdReaders, seconds)
	const goal = 150 * time.Millisecond
	return []row{
		{what + "p50", "", show(medians.at(0.5)), true},
		{what + "p99, nothing lost", "< 150 ms", show(tails.at(0.5)), tails.at(0.5) < goal},
	}
}

// crowd plays all runs once and returns how old each line was at each client, of the time when all agents spoke.
func (b bench) crowd(t *stage, seconds int) spread {
	const starting = 20 // seconds that 200 processes may take to start
	lines := crowdRate * (seconds + starting)
	r := rig.New(t, rig.Options{
		Bin: b.bin, EdgeEnv: []string{fmt.Sprintf("EDGE_PLACES=%d", crowdRuns)},
		Env: []string{fmt.Sprintf("HUB_STREAMS_PER_USER=%d", crowdRuns*crowdReaders), "HUB_REQUESTS_PER_MINUTE=100000"},
	})
	r.AddEdge("server", map[string]string{"worker": r.TestAgent("--stamp", "--rate", strconv.Itoa(crowdRate), "--events", strconv.Itoa(lines))})
	d := r.Device("a", r.HubURL())
	follow := follower{hub: r.HubURL(), device: d, http: &http.Client{Transport: &http.Transport{MaxConnsPerHost: 0}}}
	sessions := make([]string, crowdRuns)
	for i := range sessions {
		sessions[i] = d.Group(fmt.Sprintf("talk %d", i), "worker")
	}
	reading := supervise.NewGroup(t.ctx)
	readers := make([]*reader, 0, crowdRuns*crowdReaders)
	for _, session := range sessions {
		run := d.Run(session, "@worker go")
		for range crowdReaders {
			one := &reader{run: run}
			readers = append(readers, one)
			reading.Go(func(ctx context.Context) error { return follow.read(ctx, one) })
		}
	}
	t.must(reading.Wait())
	return together(t, readers, lines)
}

// together returns the ages of the lines that were said while every agent spoke, once all had settled, after it has seen that each client got every line.
func together(t *stage, readers []*reader, lines int) (taken spread) {
	var from, to time.Time
	for _, r := range readers {
		if len(r.heard) != lines {
			t.Fatalf("a client of run %s got %d of %d lines", r.run, len(r.heard), lines)
		}
		if first := r.heard[0].said; first.After(from) {
			from = first
		}
		if last := r.heard[lines-1].said; to.IsZero() || last.Before(to) {
			to = last
		}
	}
	from, to = from.Add(settling), to.Add(-ending)
	for _, r := range readers {
		for _, h := range r.heard {
			if !h.said.Before(from) && !h.said.After(to) {
				taken = append(taken, h.age)
			}
		}
	}
	t.Logf("bench: all %d agents spoke for %s, %d lines were heard", len(readers)/crowdReaders, show(to.Sub(from)), len(taken))
	return taken
}

// heard is one line of an agent at a client.
type heard struct {
	said time.Time
	age  time.Duration
}

// reader is one client of a run's events.
type reader struct {
	run   id.Run
	seq   int64
	event string // of the frame that is being read
	heard []heard
}

// follower opens streams of server-sent events, as a client without any code of ours would.
type follower struct {
	hub    string
	device *rig.Device
	http   *http.Client
}

// read follows a run to its end: a stream that ends before the run's outcome, or skips a number, is an error.
func (f follower) read(ctx context.Context, r *reader) error {
	body, err := f.open(ctx, r.run)
	if err != nil {
		return err
	}
	defer body.Close() //nolint:errcheck // read to its end, or given up
	lines := bufio.NewScanner(body)
	lines.Buffer(make([]byte, 4<<10), 1<<20)
	for lines.Scan() {
		if err := r.take(lines.Bytes()); err != nil {
			return err
		}
		if r.event == string(event.RunCompleted) {
			return nil
		}
	}
	return fmt.Errorf("stream of %s ended after event %d: %w", r.run, r.seq, lines.Err())
}

func (f follower) open(ctx context.Context, run id.Run) (io.ReadCloser, error) {
	login, err := f.device.Keeper.Load()
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.hub+"/api/agent-runs/"+string(run)+"/events", nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+login.AccessToken)
	resp, err := f.http.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("stream of %s: %s", run, resp.Status)
	}
	return resp.Body, nil
}

// take notes one line of a stream.
func (r *reader) take(line []byte) error {
	now := time.Now()
	if value, ok := bytes.CutPrefix(line, []byte("id: ")); ok {
		seq, err := strconv.ParseInt(string(value), 10, 64)
		if err != nil || seq != r.seq+1 {
			return fmt.Errorf("stream of %s: %q comes after %d", r.run, value, r.seq)
		}
		r.seq = seq
	}
	if value, ok := bytes.CutPrefix(line, []byte("event: ")); ok {
		r.event = string(value)
	}
	if r.event != string(event.MessageDelta) || !bytes.HasPrefix(line, []byte("data: ")) {
		return nil
	}
	for _, found := range stamp.FindAllSubmatch(line, -1) {
		nanos, err := strconv.ParseInt(string(found[1]), 10, 64)
		if err != nil {
			return err
		}
		said := time.Unix(0, nanos)
		r.heard = append(r.heard, heard{said, now.Sub(said)})
	}
	return nil
}
