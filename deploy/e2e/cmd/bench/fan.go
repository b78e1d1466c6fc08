package main

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"time"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/fanload"
	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
)

// fanout is the suite that compares how servers serve many clients.
const fanout = "fanout"

// fanMeasurements are in the order in which they are made.
func fanMeasurements() []measurement {
	return []measurement{
		{"flat", bench.flat}, {"tls", bench.encrypted}, {"steady", bench.steady}, {"idle", bench.idle}, {"publish", bench.publish}, {"latency", bench.publishLatency},
		{"return", bench.comeBack},
	}
}

// contestant is a server that takes part: start starts a process of its own and completes the plan of its clients.
type contestant struct {
	name  string
	peer  bool // not ours: if it fails, that is a result too
	start func(b bench, t *stage, plan *fanload.Plan)
}

// runs are what came of a plan with each contestant, by name, a result for each process.
type runs map[string][]fanload.Result

// turns plays a plan with all contestants, one after the other, and again, so that the state of the machine is the same for all.
func (b bench) turns(t *stage, plan fanload.Plan, who ...contestant) runs {
	return b.rounds(t, b.times(3, 1), plan, who...)
}

func (b bench) rounds(t *stage, n int, plan fanload.Plan, who ...contestant) runs {
	all := runs{}
	for range n {
		for _, c := range who {
			result, err := onStage(t.ctx, func(t *stage) fanload.Result {
				plan := plan
				c.start(b, t, &plan)
				return b.load(t, plan)
			})
			switch {
			case err != nil && c.peer:
				t.Logf("bench: %s failed: %v", c.name, err)
				continue
			case err != nil:
				t.Fatalf("%s: %v", c.name, err)
			}
			t.Logf("bench: %s: %s", c.name, shown(result))
			all[c.name] = append(all[c.name], result)
		}
	}
	return all
}

// shown is a result for whoever watches.
func shown(r fanload.Result) string {
	text, err := json.Marshal(r)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// load starts a process of clients and returns what it has seen.
func (b bench) load(t *stage, plan fanload.Plan) (r fanload.Result) {
	text, err := json.Marshal(plan)
	t.must(err)
	var env []string
	if plan.Roots != "" {
		env = []string{"SSL_CERT_FILE=" + plan.Roots}
	}
	p := rig.StartReading(t, string(text), "fanload", env, filepath.Join(b.bin, "fanload"))
	const beside = 10 * time.Minute // to connect, to wait for collections, to settle
	if code := p.Wait(plan.WarmUp + plan.Span + beside); code != 0 {
		t.Fatalf("fanload ended with code %d", code)
	}
	t.must(json.Unmarshal([]byte(p.Out().String()), &r))
	return r
}

// figures are one number of each of several runs.
type figures []float64

func (r runs) of(name string, number func(fanload.Result) float64) (all figures) {
	for _, result := range r[name] {
		all = append(all, number(result))
	}
	return all
}

// median is not a number if there are none: no goal is met by it.
func (f figures) median() float64 {
	if len(f) == 0 {
		return math.NaN()
	}
	return slices.Sorted(slices.Values(f))[len(f)/2]
}

// show gives the median, and in brackets the least and the greatest of several.
func (f figures) show(format string) string {
	if len(f) == 0 {
		return "nothing, for it failed"
	}
	middle := fmt.Sprintf(format, f.median())
	if len(f) == 1 {
		return middle
	}
	return fmt.Sprintf("%s (%s to %s)", middle, fmt.Sprintf(format, slices.Min(f)), fmt.Sprintf(format, slices.Max(f)))
}

// against is a row that compares us with another contestant; good says whether the ratio of the medians is.
func (r runs) against(other, what, goal, format string, number func(fanload.Result) float64, good func(ratio float64) bool) row {
	own, others := r.of(ours.name, number), r.of(other, number)
	ratio := own.median() / others.median()
	return row{what, goal, fmt.Sprintf("%.2f ×: %s against %s", ratio, own.show(format), others.show(format)), good(ratio)}
}

func atMost(limit float64) func(float64) bool  { return func(n float64) bool { return n <= limit } }
func atLeast(limit float64) func(float64) bool { return func(n float64) bool { return n >= limit } }

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func p50Of(r fanload.Result) float64 { return millis(r.P50) }
func p99Of(r fanload.Result) float64 { return millis(r.P99) }
