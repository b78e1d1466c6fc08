package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"syscall"
	"time"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
)

// ready is the line that `yard up --json-ready` prints.
type ready struct {
	HubPID  int `json:"hub_pid"`
	EdgePID int `json:"edge_pid"`
}

func readReady(t *stage, p *rig.Process) (r ready) {
	t.must(json.Unmarshal([]byte(p.Out().String()), &r))
	return r
}

const stopWithin = 30 * time.Second

// ready measures how long `yard up`, which is `make run` without the build, takes until both servers answer and an edge is online: on a
// fresh state folder, where it also makes the first user and enrols the edge, and on one that is there.
func (b bench) ready(t *stage) []row {
	var fresh, again spread
	for range b.times(7, 3) {
		state := filepath.Join(t.TempDir(), "state")
		for _, taken := range []*spread{&fresh, &again} {
			start := time.Now()
			p, _ := b.up(t, state)
			*taken = append(*taken, time.Since(start))
			p.Signal(syscall.SIGINT)
			p.Wait(stopWithin)
		}
	}
	const goal = 3 * time.Second
	return []row{
		{"`make run`, once built: ready on a fresh state folder (median of " + fmt.Sprint(len(fresh)) + ")", "< 3 s", show(fresh.at(0.5)), fresh.at(0.5) < goal},
		{"the same, started a second time", "< 3 s", show(again.at(0.5)), again.at(0.5) < goal},
	}
}

// memory measures resident memory of both servers some time after their start, idle.
func (b bench) memory(t *stage) []row {
	idle := time.Minute
	if b.quick {
		idle = 10 * time.Second
	}
	_, r := b.up(t, filepath.Join(t.TempDir(), "state"))
	t.wait(idle)
	hub, edge := resident(t, r.HubPID), resident(t, r.EdgePID)
	when := fmt.Sprintf("resident memory, idle, %d s after the start: ", int(idle.Seconds()))
	return []row{
		{when + "hub", "< 80 MiB", mib(hub), hub < 80<<20},
		{when + "edge", "< 40 MiB", mib(edge), edge < 40<<20},
	}
}

// resident is how much memory a process has now, in bytes.
func resident(t *stage, pid int) int64 {
	kib, err := field(fmt.Sprintf("/proc/%d/status", pid), "VmRSS:")
	t.must(err)
	return kib << 10
}

func mib(bytes int64) string { return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20)) }

// times is how often something is repeated.
func (b bench) times(thorough, quick int) int {
	if b.quick {
		return quick
	}
	return thorough
}

// wait lets time pass: what is measured is what happens meanwhile.
func (t *stage) wait(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-t.ctx.Done():
		t.Fatalf("%v", context.Cause(t.ctx))
	}
}
