package faults

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/crashpoint"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// notesItsStart notes its run and its process before anything else, then answers.
const notesItsStart = `echo "$1 $$" >>"$2"; read -r turn; echo '{"type":"result","text":"done"}'`

// The figures of promise P13.
const (
	dispatches = 500
	deliveries = 3 // of each
	perKill    = 10
	places     = 4 // runs that an edge works on at once, so what a kill can cost
)

// P13. The edge is killed at every place between the journal and the process, while the same commands come again and again.
func TestARunDispatchedAgainAndAgainStartsAtMostOneProcess(t *testing.T) {
	t.Parallel()
	effort := effortOf(t)
	total := max(dispatches, effort.Of(dispatches)) // never less: it takes moments
	random := rand.New(rand.NewPCG(effort.Seed, 0))
	m := newMachine(t, notesItsStart)
	killed := map[crashpoint.Point]int{}
	var runs []id.Run
	for kill := range total / perKill {
		place := crashpoint.RunPoints()[kill%len(crashpoint.RunPoints())]
		m.launch(crashpoint.Setting(place, 1+random.IntN(perKill)))
		orders := ordersOf(t, random, perKill)
		m.hub.order(orders...)
		if !m.endsBefore(m.hub.idle) {
			t.Fatalf("the edge came by %s too rarely to be killed", place)
		}
		killed[place]++
		for _, c := range orders {
			runs = append(runs, c.RunID)
		}
	}
	runs = unique(runs)
	m.start()
	m.hub.until("every run has ended and every command is answered", m.hub.idle)
	m.process.Stop()

	starts := startsIn(m.noted())
	if twice := startedTwice(starts); len(twice) > 0 {
		t.Errorf("started more than once: %v", twice)
	}
	for _, run := range runs {
		if ends := m.hub.terminals[run]; len(ends) != 1 {
			t.Errorf("run %s ended as %v", run, ends)
		}
	}
	figure(t, "P13", "%d runs, %d commands sent, killed %v, %d started", len(runs), m.hub.sent, killed, len(starts))
	if least := len(runs) - places*total/perKill; len(starts) < least || m.hub.sent < total*deliveries {
		t.Errorf("%d starts, %d commands sent: too few to prove anything", len(starts), m.hub.sent)
	}
}

// ordersOf makes n runs and everything that is sent for them, in any order: the command, the same again, and another dispatch.
func ordersOf(t *testing.T, random *rand.Rand, n int) []wire.Command {
	t.Helper()
	var orders []wire.Command
	for range n {
		c := newOrder(t)
		orders = append(orders, c, c, dispatchedAgain(c))
	}
	random.Shuffle(len(orders), func(i, j int) { orders[i], orders[j] = orders[j], orders[i] })
	return orders
}

func unique(runs []id.Run) []id.Run {
	slices.Sort(runs)
	return slices.Compact(runs)
}

// startsIn reads notes of notesItsStart: the processes of each run.
func startsIn(notes []string) map[id.Run][]string {
	starts := map[id.Run][]string{}
	for _, note := range notes {
		run, pid, _ := strings.Cut(note, " ")
		starts[id.Run(run)] = append(starts[id.Run(run)], pid)
	}
	return starts
}

// startedTwice is what the promise says there is none of.
func startedTwice(starts map[id.Run][]string) (found []string) {
	for _, run := range slices.Sorted(maps.Keys(starts)) {
		if len(starts[run]) > 1 {
			found = append(found, fmt.Sprintf("%s by processes %v", run, starts[run]))
		}
	}
	return found
}

// The positive control: an edge that lost its journal knows neither receipts nor intents, and is seen to start runs twice.
func TestAnEdgeThatForgetsItsJournalIsSeenToStartARunTwice(t *testing.T) {
	t.Parallel()
	m := newMachine(t, notesItsStart)
	m.launch(crashpoint.Setting(crashpoint.RunRecorded, perKill))
	for range perKill {
		m.hub.order(newOrder(t))
	}
	if !m.endsBefore(m.hub.idle) {
		t.Fatal("the edge was not killed")
	}
	journal, err := filepath.Glob(filepath.Join(m.home, "journal.db*"))
	if err != nil || len(journal) == 0 {
		t.Fatalf("no journal to forget (%v)", err)
	}
	for _, file := range journal {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	m.start()
	m.hub.orderAgain()
	m.hub.until("every run has ended", m.hub.idle)
	m.process.Stop()
	if len(startedTwice(startsIn(m.noted()))) == 0 {
		t.Error("nothing was started twice: the test of this promise proves nothing")
	}
}
