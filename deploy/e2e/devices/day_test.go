package devices

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
)

const actsOfADay = 500

// Two people, each with two devices of the Go SDK and one of the TypeScript SDK, do what people do, while their devices lose the connection now and
// then. In the evening the three devices of each show the same, and what a new one fetches by REST.
func TestAfterADayAllDevicesOfAPersonShowTheSame(t *testing.T) {
	w := newTown(t)
	for i := range *days {
		d := newDay(w, *seed+uint64(i))
		begun := time.Now()
		d.live()
		d.end()
		t.Logf("day %d: %d things done, %v refused, %d runs, in %s", d.seed, d.done, d.refused, len(d.runs), time.Since(begun).Round(time.Millisecond))
		if t.Failed() {
			t.Fatalf("again with: go test ./devices -run '^%s$' -seed %d -days 1\nwhat was done:\n%s", t.Name(), d.seed, strings.Join(d.acts, "\n"))
		}
	}
}

// day is what two people do, by one number.
type day struct {
	*town
	seed    uint64
	random  *rand.Rand
	people  [2]*person
	rooms   []*room
	said    []said
	begun   []string                    // runs, in order
	runs    map[string]string           // their conversations
	dark    map[*rig.Proxy]int          // until which act a device is cut off
	left    map[*person]map[string]bool // the conversations that somebody has left, or was removed from
	acts    []string
	done    int
	refused map[client.ProblemCode]int
}

// room is a conversation, with the people that may be in it.
type room struct {
	id     string
	group  bool
	inside map[*person]bool
}

// said is a message that was sent.
type said struct {
	id   string
	seq  client.SeqID
	room *room
	kind client.ContentType
}

func newDay(w *town, number uint64) *day {
	w.t.Helper()
	d := &day{
		town: w, seed: number, random: rand.New(rand.NewPCG(number, 0)), runs: map[string]string{}, dark: map[*rig.Proxy]int{}, left: map[*person]map[string]bool{},
		refused: map[client.ProblemCode]int{},
	}
	for i, name := range []string{"ada", "bob"} {
		d.people[i] = w.settle(fmt.Sprintf("%s%d", name, number))
		d.left[d.people[i]] = map[string]bool{}
	}
	d.must(d.people[0], openGroup)
	d.must(d.people[1], openGroup)
	return d
}

// must does something that cannot be refused.
func (d *day) must(p *person, do func(*day, *person) error) {
	d.t.Helper()
	if err := do(d, p); err != nil {
		d.t.Fatalf("day %d: %v", d.seed, err)
	}
}

// live does everything, one thing after the other.
func (d *day) live() {
	d.t.Helper()
	all := deeds()
	var lots []deed
	for _, a := range all {
		lots = append(lots, slices.Repeat([]deed{a}, a.weight)...)
	}
	for n := range actsOfADay {
		d.heal(n)
		d.random = rand.New(rand.NewPCG(d.seed, uint64(n))) // what an agent has done meanwhile changes nothing of what follows
		p, a := d.people[d.random.IntN(2)], lots[d.random.IntN(len(lots))]
		err := a.do(d, p)
		d.acts = append(d.acts, fmt.Sprintf("%3d %s: %s: %v", n, p.name, a.name, err))
		if err := d.count(err); err != nil {
			d.t.Errorf("day %d, act %d, %s: %s: %v", d.seed, n, p.name, a.name, err)
		}
	}
}

// heal gives the network back to devices that are to have it before an act.
func (d *day) heal(act int) {
	for proxy, until := range d.dark {
		if until <= act {
			proxy.Heal()
			delete(d.dark, proxy)
		}
	}
}

// count notes how something went. What may be refused at any time is no error.
func (d *day) count(err error) error {
	var problem *client.ProblemError
	switch {
	case err == nil:
		d.done++
	case errors.Is(err, errNothing):
		d.refused["nothing_to_do"]++
	case errors.As(err, &problem) && slices.Contains(refusals, problem.Status):
		d.refused[problem.Code]++
	default:
		return err
	}
	return nil
}

// refusals are statuses that say no to what somebody else has made impossible.
var refusals = []int{http.StatusForbidden, http.StatusNotFound, http.StatusConflict, http.StatusGone}

// errNothing says that there is nothing to do it to.
var errNothing = errors.New("there is nothing")

// end waits until all is over and compares what the devices show.
func (d *day) end() {
	d.t.Helper()
	d.heal(math.MaxInt)
	d.settleRuns()
	for _, p := range d.people {
		p.hand.Send(p.own, farewell)
	}
	for _, p := range d.people {
		d.compare(p)
	}
}

// settleRuns answers what is asked until no run is under way any more. Of a run that nobody may read nobody is told.
func (d *day) settleRuns() {
	d.t.Helper()
	left := maps.Clone(d.runs)
	d.Eventually("the end of all runs", func() bool {
		for _, p := range d.people {
			if err := d.count(answer(d, p)); err != nil {
				d.t.Fatal(err)
			}
		}
		maps.DeleteFunc(left, func(run, _ string) bool { return d.over(run) })
		return len(left) == 0
	})
}

func (d *day) over(run string) bool {
	for _, p := range d.people {
		task, err := client.Decode[client.AgentTask](p.hand.API().GetAgentTask(d.t.Context(), run))
		if err == nil {
			return !task.EndedAt.IsZero()
		}
		if client.CodeOf(err) != client.ProblemCodeNotFound {
			d.t.Fatal(err)
		}
	}
	return true
}

func (d *day) compare(p *person) {
	d.t.Helper()
	mine := d.sessions(p)
	var states []state
	for _, f := range p.devices {
		s, err := f.state()
		if err != nil {
			d.t.Errorf("day %d: %s: %v", d.seed, f.Name, err)
		}
		states = append(states, d.of(p, mine, s))
	}
	states = append(states, d.of(p, mine, d.node.state(p.remote)))
	for i, s := range states[1:] {
		if diff := differences(s, states[0]); diff != "" {
			d.t.Errorf("day %d: device %d of %s differs from its first:\n%s", d.seed, i+1, p.name, diff)
		}
	}
	if diff := differences(shown(states[0]), shown(d.of(p, mine, d.fresh(p)))); diff != "" {
		d.t.Errorf("day %d: the first device of %s differs from a new one:\n%s", d.seed, p.name, diff)
	}
}
