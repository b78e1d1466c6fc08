package main

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/supervise"

	"github.com/google/uuid"
)

// Figures of the floor (promise P21): 25 people with 20 devices each, and for each of them two agents with 20 events a second.
const (
	floorPeople  = 25
	floorDevices = 20
	floorRuns    = 2 // of each person
	floorRate    = 20
)

// floor measures what two cores must carry: 1,000 events a second, committed with FULL, at 500 sockets.
func (b bench) floor(t *stage) []row {
	seconds := b.times(30, 10)
	var tails spread
	for range b.times(3, 1) {
		taken, err := onStage(t.ctx, func(t *stage) spread { return b.carry(t, seconds) })
		t.must(err)
		tails = append(tails, taken.at(0.99))
	}
	what := fmt.Sprintf("agent line → device, %d agents with %d events/s together, %d devices that get %d frames/s together, for %d s, p99, nothing lost",
		floorPeople*floorRuns, floorPeople*floorRuns*floorRate, floorPeople*floorDevices, floorPeople*floorRuns*floorRate*floorDevices, seconds)
	const goal = 250 * time.Millisecond
	return []row{{what, "< 250 ms", show(tails.at(0.5)), tails.at(0.5) < goal}}
}

// audience is one person with all devices.
type audience struct {
	user    string
	devices []*listener
}

// carry plays it once and returns how old each line was at each device.
func (b bench) carry(t *stage, seconds int) (taken spread) {
	lines := seconds * floorRate
	r := rig.New(t, rig.Options{
		Bin: b.bin, EdgeEnv: []string{fmt.Sprintf("EDGE_PLACES=%d", floorPeople*floorRuns)},
		Env: []string{fmt.Sprintf("HUB_SOCKETS_PER_USER=%d", floorDevices), "HUB_REQUESTS_PER_MINUTE=100000", "HUB_SOCKETS_PER_MINUTE=100000"},
	})
	r.AddEdge("server", map[string]string{"worker": r.TestAgent("--stamp", "--rate", strconv.Itoa(floorRate), "--events", strconv.Itoa(lines))})
	d := r.Device("owner", r.HubURL())
	agent := d.AgentID("worker")
	people := make([]*audience, floorPeople)
	listening := supervise.NewGroup(t.ctx)
	for i := range people {
		people[i] = gather(r, fmt.Sprintf("person%d", i), listening)
	}
	for _, a := range people {
		for range floorRuns {
			talk, err := client.Decode[client.Session](d.API().CreateGroupSession(t.ctx, &client.CreateGroupSessionParams{IdempotencyKey: uuid.NewString()},
				client.GroupSessionInput{Name: "talk", MemberIds: []string{agent, a.user}}))
			t.must(err)
			d.Run(talk.ID, "@worker go")
		}
	}
	t.must(listening.Wait())
	for _, a := range people {
		for _, l := range a.devices {
			if len(l.taken) != lines*floorRuns {
				t.Fatalf("a device of %s got %d of %d lines", a.user, len(l.taken), lines*floorRuns)
			}
			taken = append(taken, l.taken...)
		}
	}
	return taken
}

// gather lets a person join and connects all devices.
func gather(r *rig.Rig, name string, listening *supervise.Group) *audience {
	first, user := r.Invite(name)
	a := &audience{user: user}
	var connected []<-chan struct{}
	for i := range floorDevices {
		l := &listener{device: first.Another(fmt.Sprintf("%s-%d", name, i), r.HubURL()), connected: make(chan struct{})}
		a.devices, connected = append(a.devices, l), append(connected, l.connected)
		listening.Go(l.listen)
	}
	for _, c := range connected {
		<-c
	}
	return a
}

// listener is a device that does little more than to look at the clock: what is measured is the way to it.
type listener struct {
	device    *rig.Device
	connected chan struct{}
	up        bool
	cursor    string
	ended     int // runs
	taken     spread
}

// LoadCursor and SaveCursor make it a client.Position.
func (l *listener) LoadCursor() (string, error) { return l.cursor, nil }

// SaveCursor keeps the place.
func (l *listener) SaveCursor(cursor string) error {
	l.cursor = cursor
	return nil
}

// listen notes how old each line is, until all runs have ended.
func (l *listener) listen(ctx context.Context) error {
	for e, err := range l.device.Stream(ctx, l) {
		if err != nil {
			return err
		}
		now := time.Now()
		switch {
		case e.Link == client.LinkUp && !l.up:
			l.up = true
			close(l.connected)
		case e.Frame == nil:
		case e.Frame.Type == client.HubWebSocketFrameTypeAgentDone:
			if l.ended++; l.ended == floorRuns {
				return nil
			}
		case bytes.Contains(e.Frame.Payload, []byte(event.Wire(event.MessageDelta))):
			for _, found := range stamp.FindAllSubmatch(e.Frame.Payload, -1) {
				nanos, err := strconv.ParseInt(string(found[1]), 10, 64)
				if err != nil {
					return err
				}
				l.taken = append(l.taken, now.Sub(time.Unix(0, nanos)))
			}
		}
	}
	return ctx.Err()
}
