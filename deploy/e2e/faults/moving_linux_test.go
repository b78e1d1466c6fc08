package faults

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/nemesis"
	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/hubtest"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/supervise"
)

// throng is how many are on the move, for how long, and how much is said meanwhile.
type throng struct {
	people, devices int // devices of each
	perSecond       int // events
	span            time.Duration
}

// throngOf is the stated figure in a soak of 250 minutes, and a small one in everything that is shorter than an hour.
func throngOf(effort nemesis.Effort) throng {
	const soak = 25 // times Full
	t := throng{people: 25, devices: 20, perSecond: 1000, span: min(10*time.Minute, effort.Time/soak)}
	if effort.Time < time.Hour {
		t = throng{people: 10, devices: 10, perSecond: 200, span: max(20*time.Second, t.span)}
	}
	return t
}

// P8 and P14, with two hubs: devices that stall, are cut off, sleep, and come back to the other hub show in the end what a new device is shown,
// and leave nothing behind in the hubs.
func TestHundredsOfDevicesOnTheMoveShowTheTruthInTheEnd(t *testing.T) {
	effort := effortOf(t)
	crowd := throngOf(effort)
	s := &siege{t: t, addr: rig.FreeAddr(t)}
	s.startBus()
	t.Cleanup(s.stopBus)
	s.Rig = rig.New(t, rig.Options{Bin: rig.ShippedPrograms(t), Env: []string{
		"HUB_DATABASE_URL=" + hubtest.Postgres(t), "HUB_NATS_URL=nats://" + s.addr, fmt.Sprintf("HUB_SOCKETS_PER_USER=%d", 4*crowd.devices),
		"HUB_REQUESTS_PER_MINUTE=1000000", "HUB_SOCKETS_PER_MINUTE=1000000",
	}})
	second := s.AddPeer("second")
	hubs := []measuredHub{{s.Hub().PID(), s.HubURL()}, {second.Process().PID(), second.URL}}
	people := gatherPeople(t, s, crowd, effort.Seed, second.Addr())
	o := newOrator(t, s.Rig)
	for _, p := range people {
		p.converse(t, s, o)
	}
	before := goroutinesOf(t, hubs)
	moved := wander(t, s, people, o, crowd, effort.Seed, hubs)
	if during := moved.goroutines; during <= before {
		t.Errorf("positive control: %d goroutines with nobody there and %d with all", before, during)
	}
	checkPictures(t, people, second.URL)
	after := 0
	s.Eventually("about as many goroutines as before", func() bool {
		after = goroutinesOf(t, hubs)
		return after <= before+leftOver
	})
	moved.examine(t)
	figure(t, "P8 and P14, on the move", "%d devices, %d events at %d a second, %d frames, %d stalls, %d cuts, %d sleeps, %d snapshots; hubs: %d goroutines before, %d with all, %d after, "+
		"%s at most in the middle, %s at the end",
		crowd.people*crowd.devices, o.said, o.said/int(crowd.span.Seconds()), moved.frames, moved.stalls, moved.cuts, moved.naps, moved.resets, before, moved.goroutines, after,
		mebibytes(moved.middle()), mebibytes(moved.end()))
}

// leftOver is how many goroutines come and go in a hub that has nothing to do.
const leftOver = 10

// gatherPeople lets people join and gives them devices.
func gatherPeople(t *testing.T, s *siege, crowd throng, seed uint64, second string) (people []*person) {
	t.Helper()
	hubs := []string{strings.TrimPrefix(s.HubURL(), "http://"), second}
	for i := range crowd.people {
		p := &person{}
		p.first, p.id = s.Invite(fmt.Sprintf("person%d", i))
		for j := range crowd.devices {
			w, err := newWanderer(p, fmt.Sprintf("device %d", j), seed+uint64(i*crowd.devices+j), hubs, s.HubURL())
			if err != nil {
				t.Fatal(err)
			}
			p.devices = append(p.devices, w)
		}
		people = append(people, p)
	}
	return people
}

// converse makes the person's conversation, and lets the orator talk in it.
func (p *person) converse(t *testing.T, s *siege, o *orator) {
	t.Helper()
	session, err := client.Decode[client.Session](s.Owner().API().CreateGroupSession(t.Context(),
		&client.CreateGroupSessionParams{IdempotencyKey: uuid.NewString()},
		client.GroupSessionInput{Name: "talk", MemberIds: []string{s.Owner().AgentID("orator"), p.id}}))
	if err != nil {
		t.Fatal(err)
	}
	p.session = session.ID
	run := s.Owner().Run(session.ID, "@orator go")
	p.run = string(run)
	if err := o.begin(t.Context(), run); err != nil {
		t.Fatal(err)
	}
}

// movement is what happened while everybody was on the move.
type movement struct {
	frames, stalls, cuts, naps, resets int
	goroutines                         int
	resident                           []int64 // bytes of both hubs together, once a second
}

// wander lets all devices live through the span while the orator talks and people write, and returns when every device knows how its run ended.
func wander(t *testing.T, s *siege, people []*person, o *orator, crowd throng, seed uint64, hubs []measuredHub) (m movement) {
	t.Helper()
	over, stop := context.WithCancel(t.Context())
	defer stop()
	var up atomic.Int64
	living := supervise.NewGroup(t.Context())
	for _, p := range people {
		for _, w := range p.devices {
			living.Go(func(ctx context.Context) error { return w.live(ctx, over, sync.OnceFunc(func() { up.Add(1) })) })
			living.Go(func(context.Context) error { w.stalls, w.cuts = w.weather.rage(over, w.seed); return nil })
		}
	}
	s.Eventually("all devices there once", func() bool { return int(up.Load()) == crowd.people*crowd.devices })
	m.goroutines = goroutinesOf(t, hubs)
	written := make(chan struct{})
	living.Go(func(context.Context) error {
		defer close(written)
		write(over, people)
		return nil
	})
	living.Go(func(ctx context.Context) error {
		defer stop()
		if err := o.talk(ctx, over, crowd.perSecond); err != nil {
			return err
		}
		<-written // the end of its run is the last thing that a device hears
		return o.end(ctx)
	})
	for start := time.Now(); time.Since(start) < crowd.span && pauseFor(over, time.Second); {
		m.resident = append(m.resident, residentOf(t, hubs))
	}
	stop()
	if err := living.Wait(); err != nil {
		t.Fatal(err)
	}
	for _, p := range people {
		for _, w := range p.devices {
			m.frames, m.stalls, m.cuts, m.naps, m.resets = m.frames+w.frames, m.stalls+w.stalls, m.cuts+w.cuts, m.naps+w.naps, m.resets+w.resets
		}
	}
	return m
}

// write lets people write something, one after the other, until over ends.
func write(over context.Context, people []*person) {
	for i := 0; pauseFor(over, 200*time.Millisecond); i++ {
		p := people[i%len(people)]
		p.first.Send(p.session, fmt.Sprintf("remark %d", i))
	}
}

// examine looks at whether enough happened, and at the memory of the hubs.
func (m movement) examine(t *testing.T) {
	t.Helper()
	if m.stalls < 10 || m.cuts < 10 || m.naps < 10 || m.frames < 1000 {
		t.Errorf("too little happened to prove anything: %+v", m)
	}
	const slack = 32 << 20 // bytes; a short run has hardly warmed up in the middle
	if m.end() > m.middle()*5/4+slack {
		t.Errorf("the hubs held %s in the middle and %s at the end", mebibytes(m.middle()), mebibytes(m.end()))
	}
}

// middle and end are the most that the hubs held in the second quarter, and in the last.
func (m movement) middle() int64 {
	return slices.Max(m.resident[len(m.resident)/4 : len(m.resident)/2])
}
func (m movement) end() int64 { return slices.Max(m.resident[len(m.resident)*3/4:]) }

func mebibytes(bytes int64) string { return fmt.Sprintf("%d MiB", bytes>>20) }

// checkPictures compares what every device shows with what a new one is shown, and sees that a difference would be noticed.
func checkPictures(t *testing.T, people []*person, hub string) {
	t.Helper()
	for _, p := range people {
		truth, err := pictureOf(t.Context(), p, hub)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range p.devices {
			if err := truth.compare(p.run, w.feed.State()); err != nil {
				t.Errorf("device %d of %s: %v", w.seed, p.id, err)
			}
		}
		for what, spoil := range spoilers() {
			spoilt := picture{truth.records, spoil(slices.Clone(truth.log))}
			if spoilt.compare(p.run, p.devices[0].feed.State()) == nil {
				t.Errorf("positive control: nobody notices a log with %s", what)
			}
		}
		if (picture{without("message ", truth.records), truth.log}).compare(p.run, p.devices[0].feed.State()) == nil {
			t.Error("positive control: nobody notices a message that is not there")
		}
	}
}

// without is records but for one of a kind.
func without(kind string, records map[string]json.RawMessage) map[string]json.RawMessage {
	less := maps.Clone(records)
	for key := range records {
		if strings.HasPrefix(key, kind) {
			delete(less, key)
			return less
		}
	}
	return less
}

// measuredHub is a hub process and where it answers.
type measuredHub struct {
	pid int
	url string
}

// goroutinesOf asks hubs how many they have, together.
func goroutinesOf(t *testing.T, hubs []measuredHub) (n int) {
	t.Helper()
	for _, h := range hubs {
		n += int(metric(t, h.url, "go_goroutines"))
	}
	return n
}

func metric(t *testing.T, url, name string) float64 {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	once := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: rig.Patience}
	resp, err := once.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			n, err := strconv.ParseFloat(value, 64)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatalf("the hub shows no %s", name)
	return 0
}

// residentOf is how much memory of the machine hubs hold together, in bytes.
func residentOf(t *testing.T, hubs []measuredHub) (sum int64) {
	t.Helper()
	for _, h := range hubs {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", h.pid))
		if err != nil {
			t.Fatal(err)
		}
		pages, err := strconv.ParseInt(strings.Fields(string(text))[1], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		sum += pages * int64(os.Getpagesize())
	}
	return sum
}

// runID is a run as the rig names it.
func runID(run client.RunID) id.Run { return id.Run(run) }
