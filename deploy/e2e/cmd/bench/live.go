package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/event"
)

// first measures the time from the request that sends a message to the first words of scout at a connected device. The edge starts scout's
// process in between. Then the same as a person sees it: from typing `yard send` to the first words on that screen.
func (b bench) first(t *stage) []row {
	r := b.rig(t, func(*rig.Rig) map[string]string { return nil })
	d := r.Device("a", r.HubURL())
	words := make(chan time.Time, 1)
	seen := d.WatchWith(func(f client.HubWebSocketFrame) {
		if isWords(f) {
			select {
			case words <- time.Now():
			default: // not the first ones
			}
		}
	})
	seen.UntilConnected(1)
	session := d.Group("demo", "scout")
	var taken spread
	for range b.times(30, 8) {
		start := time.Now()
		run := d.Run(session, "@scout what changed here in the last 20 commits?")
		at := <-words
		taken = append(taken, at.Sub(start))
		seen.UntilSettled(run)
		for len(words) > 0 {
			<-words
		}
	}
	screen := b.firstOnScreen(t)
	const goal = 150 * time.Millisecond
	return []row{
		{"send → first words of the shipped agent at a device, its process start included", "≤ 150 ms", inHalves(taken), taken.at(0.5) <= goal},
		{"the same on a screen: `yard send` typed → first words shown by it", "≤ 150 ms", inHalves(screen), screen.at(0.5) <= goal},
	}
}

func inHalves(s spread) string {
	return fmt.Sprintf("median %s, p95 %s of %d", show(s.at(0.5)), show(s.at(0.95)), len(s))
}

// isWords says whether a frame shows something that an agent thinks or says.
func isWords(f client.HubWebSocketFrame) bool {
	var p client.AgentStreamPayload
	if f.Type != client.HubWebSocketFrameTypeAgentStream || json.Unmarshal(f.Payload, &p) != nil {
		return false
	}
	return event.WireType(p.EventType) == event.Wire(event.MessageDelta) || event.WireType(p.EventType) == event.Wire(event.Thinking)
}

func (b bench) firstOnScreen(t *stage) (taken spread) {
	state := filepath.Join(t.TempDir(), "state")
	up, _ := b.up(t, state)
	for range b.times(15, 5) {
		start := time.Now()
		p := b.yard(t, state, "send", "--session", "demo", "@scout what changed here in the last 20 commits?")
		p.WaitFor("I am asked")
		taken = append(taken, time.Since(start))
		p.Wait(stopWithin)
	}
	up.Stop()
	return taken
}

func (b bench) yard(t *stage, state string, args ...string) *rig.Process {
	return rig.Start(t, "yard", []string{"YARD_HOME=" + filepath.Join(state, "yard")}, filepath.Join(b.bin, "yard"), args...)
}

// latency measures the way of an agent's line to a frame at a connected client. The agent writes the time into each line.
func (b bench) latency(t *stage) []row {
	const perSecond = 300
	seconds := b.times(20, 5)
	var medians, tails spread
	for range b.times(5, 2) {
		taken := b.stamps(t, perSecond, seconds)
		medians, tails = append(medians, taken.at(0.5)), append(tails, taken.at(0.99))
	}
	what := fmt.Sprintf("agent line → frame at a connected client, %d events/s for %d s, ", perSecond, seconds)
	return []row{
		{what + "p50", "≤ 10 ms", show(medians.at(0.5)), medians.at(0.5) <= 10*time.Millisecond},
		{what + "p99", "≤ 60 ms", show(tails.at(0.5)), tails.at(0.5) <= 60*time.Millisecond},
	}
}

// stamps plays one run of an agent that says nothing but the time, and returns how old each time was when it came.
func (b bench) stamps(t *stage, perSecond, seconds int) spread {
	n := perSecond * seconds
	r := b.rig(t, func(r *rig.Rig) map[string]string {
		return map[string]string{"worker": r.TestAgent("--stamp", "--rate", fmt.Sprint(perSecond), "--events", fmt.Sprint(n))}
	})
	d := r.Device("a", r.HubURL())
	var ages ages
	seen := d.WatchWith(ages.take)
	seen.UntilConnected(1)
	session := d.Group("demo", "worker")
	seen.UntilSettled(d.Run(session, "@worker go"))
	taken := ages.all()
	if len(taken) != n {
		t.Fatalf("%d of %d lines came", len(taken), n)
	}
	return taken
}

// ages collects how old the times in the frames are. Safe for concurrent use.
type ages struct {
	mu    sync.Mutex
	taken spread
}

var stamp = regexp.MustCompile(`<(\d{19})>`)

func (a *ages) take(f client.HubWebSocketFrame) {
	now := time.Now()
	var p client.AgentStreamPayload
	if f.Type != client.HubWebSocketFrameTypeAgentStream || json.Unmarshal(f.Payload, &p) != nil || event.WireType(p.EventType) != event.Wire(event.MessageDelta) {
		return
	}
	var delta event.DeltaPayload
	if json.Unmarshal([]byte(p.Payload), &delta) != nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, found := range stamp.FindAllStringSubmatch(delta.Delta, -1) {
		if nanos, err := strconv.ParseInt(found[1], 10, 64); err == nil {
			a.taken = append(a.taken, now.Sub(time.Unix(0, nanos)))
		}
	}
}

func (a *ages) all() spread {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.taken
}
