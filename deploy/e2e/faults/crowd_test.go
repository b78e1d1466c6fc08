package faults

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/truth"
	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// What a crowd consists of.
const (
	crowdEdges  = 4   // an edge works on 64 runs at most
	crowdSpeed  = "1" // words of each run in a second
	crowdPlaces = 64
)

// crowd is many runs at once: agents that say nothing but the time, until they are told to end. Its edges reach the hub through one proxy.
type crowd struct {
	*siege
	work  string // agents stop when this file is gone
	turns []turn
	said  *sightings
}

// newCrowd starts everything and returns when a device has seen the first words of every run.
func newCrowd(t *testing.T, runs int) *crowd {
	t.Helper()
	c := &crowd{siege: &siege{t: t, addr: rig.FreeAddr(t)}, work: filepath.Join(t.TempDir(), "work"), said: newSightings()}
	c.startBus()
	t.Cleanup(c.stopBus) // after the hub has ended
	c.Rig = rig.New(t, rig.Options{Env: []string{"HUB_NATS_URL=nats://" + c.addr}, EdgeEnv: []string{fmt.Sprintf("EDGE_PLACES=%d", crowdPlaces)}})
	c.truth = c.NewTruth()
	if err := os.WriteFile(c.work, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	agent := c.TestAgent("--stamp", "--events", "1000000", "--rate", crowdSpeed, "--while", c.work, "--truth", c.truth.Path)
	for i := range crowdEdges {
		c.AddEdge(fmt.Sprintf("edge-%d", i), map[string]string{fmt.Sprintf("%s-%d", worker, i): agent})
	}
	c.asker = c.Device("asker", c.HubURL())
	c.seen = c.Device("watcher", c.HubURL()).WatchWith(c.said.take)
	c.seen.UntilConnected(1)
	for i := range runs {
		name := fmt.Sprintf("%s-%d", worker, i%crowdEdges)
		prompt := fmt.Sprintf("tell the time %d", i)
		session := c.asker.Group(prompt, name)
		c.turns = append(c.turns, turn{c.asker.Run(session, "@"+name+" "+prompt), prompt})
	}
	c.said.untilAll(t, everyRun(c.turns, time.Time{}))
	return c
}

// end lets every agent end well and returns when a device knows that all have.
func (c *crowd) end() {
	c.t.Helper()
	if err := os.Remove(c.work); err != nil {
		c.t.Fatal(err)
	}
	for _, turn := range c.turns {
		c.seen.UntilEnded(turn.run)
	}
}

// examine compares every log with what its agent noted, and returns one of them and how many events there are.
func (c *crowd) examine() (one []client.RunEvent, account truth.Account, events int) {
	c.t.Helper()
	accounts, err := truth.Read(c.truth.Path)
	if err != nil {
		c.t.Fatal(err)
	}
	by := map[string]truth.Account{}
	for _, a := range accounts {
		by[a.Prompt] = a
	}
	if len(accounts) != len(c.turns) || len(by) != len(c.turns) {
		c.t.Errorf("%d agents were started for %d prompts, want %d", len(accounts), len(by), len(c.turns))
	}
	for _, turn := range c.turns {
		one, account = c.asker.Log(turn.run), by[turn.prompt]
		if how := terminalsOf(one); len(how) != 1 || how[0] != event.RunCompleted {
			c.t.Errorf("run %s ended as %v", turn.run, how)
		}
		if err := account.Equal(rig.Entries(one), nil); err != nil {
			c.t.Errorf("run %s: the log is not what the agent said: %v", turn.run, err)
		}
		events += len(one)
	}
	return one, account, events
}

// sightings are when the newest words that a device has seen of each run were said. Agents and device go by the clock of this machine. Safe for
// concurrent use.
type sightings struct {
	mu      sync.Mutex
	newest  map[id.Run]time.Time
	changed chan struct{} // closed and replaced at each
}

func newSightings() *sightings {
	return &sightings{newest: map[id.Run]time.Time{}, changed: make(chan struct{})}
}

// stamp is a time as the test agent says it, in nanoseconds.
var stamp = regexp.MustCompile(`\d{19}`)

func (s *sightings) take(f client.HubWebSocketFrame) {
	var p client.AgentStreamPayload
	if f.Type != client.HubWebSocketFrameTypeAgentStream || json.Unmarshal(f.Payload, &p) != nil {
		return
	}
	words := stamp.FindAllString(p.Payload, -1)
	if len(words) == 0 {
		return
	}
	said, err := strconv.ParseInt(words[len(words)-1], 10, 64)
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if at := time.Unix(0, said); at.After(s.newest[id.Run(p.TaskID)]) {
		s.newest[id.Run(p.TaskID)] = at
	}
	close(s.changed)
	s.changed = make(chan struct{})
}

// times are when the newest words of each run were said.
func (s *sightings) times() map[id.Run]time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.newest)
}

// after returns the runs of which something was seen that was said after the time that is given for it.
func (s *sightings) after(given map[id.Run]time.Time) (found []id.Run) {
	for run, said := range s.times() {
		if t, known := given[run]; known && said.After(t) {
			found = append(found, run)
		}
	}
	return found
}

// untilAll returns when after finds all that are given.
func (s *sightings) untilAll(t *testing.T, given map[id.Run]time.Time) {
	t.Helper()
	limit := time.After(rig.Patience)
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		found := s.after(given)
		if len(found) == len(given) {
			return
		}
		select {
		case <-changed:
		case <-limit:
			t.Fatalf("nothing new was seen of %d of %d runs", len(given)-len(found), len(given))
		}
	}
}

// everyRun gives each run the same time.
func everyRun(turns []turn, t time.Time) map[id.Run]time.Time {
	given := map[id.Run]time.Time{}
	for _, turn := range turns {
		given[turn.run] = t
	}
	return given
}
