package faults

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/shared/crashpoint"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// notesWhatItHears notes each line that it is told while it works, until it is told to end.
const notesWhatItHears = `read -r turn; while read -r told; do echo "$1 $told" >>"$2"
case $told in *'"text":"end"'*) echo '{"type":"done"}'; exit;; esac; done`

// The figures of promise P13, of what runs are told.
const (
	steerKills    = 40
	steersPerKill = 10
)

// newHearing is a machine whose agent hears what it is told while it works.
func newHearing(t *testing.T) *machine {
	t.Helper()
	m := newMachine(t, notesWhatItHears)
	m.write("profiles/"+agentName+".yaml",
		rig.Profile("events", "sh", "-c", notesWhatItHears, agentName, "{{SESSION_NAME}}", m.notes)+rig.Controlled+"kill_grace_secs: 1\n")
	return m
}

// told is a command that tells a run something, and the same a second and a third time.
func told(t *testing.T, run wire.Command, text string) []wire.Command {
	t.Helper()
	body, err := json.Marshal(wire.ControlOrder{What: wire.ControlSteer, SteerID: id.NewSteer(), Text: text})
	if err != nil {
		t.Fatal(err)
	}
	c := wire.Command{DeliveryID: id.NewDelivery(), Kind: wire.Control, RunID: run.RunID, Lease: run.Lease, Body: body}
	return []wire.Command{c, c, c}
}

// heardIn reads notes of notesWhatItHears: what each run was told, in its order.
func heardIn(t *testing.T, notes []string) map[id.Run][]string {
	t.Helper()
	heard := map[id.Run][]string{}
	for _, note := range notes {
		run, line, _ := strings.Cut(note, " ")
		var said struct {
			Text string `json:"text"`
		}
		if err := json.Unmarshal([]byte(line), &said); err != nil {
			t.Errorf("%q was heard: %v", line, err)
		}
		heard[id.Run(run)] = append(heard[id.Run(run)], said.Text)
	}
	return heard
}

// P13. The edge is killed between its record of what a run is told and the run's process, while the same commands come again and again: nothing is
// told twice, and a run that went to its end has heard everything, in its order.
func TestWhatARunIsToldItHearsOnceAtMostHoweverOftenTheEdgeIsKilled(t *testing.T) {
	t.Parallel()
	effort := effortOf(t)
	kills := max(10, effort.Of(steerKills))
	random := rand.New(rand.NewPCG(effort.Seed, 1))
	m := newHearing(t)
	said := map[id.Run][]string{}
	var runs []wire.Command
	for kill := range kills {
		m.launch(crashpoint.Setting(crashpoint.OrderRecorded, 1+random.IntN(steersPerKill)))
		run := newOrder(t)
		runs = append(runs, run)
		orders := []wire.Command{run}
		for n := range steersPerKill {
			text := fmt.Sprintf("%d.%d", kill, n)
			said[run.RunID] = append(said[run.RunID], text)
			orders = append(orders, told(t, run, text)...)
		}
		m.hub.order(orders...)
		if !m.endsBefore(m.hub.idle) {
			t.Fatal("the edge told a run nothing")
		}
	}
	m.start()
	clean := newOrder(t)
	runs = append(runs, clean)
	orders := []wire.Command{clean}
	for n := range steersPerKill {
		said[clean.RunID] = append(said[clean.RunID], fmt.Sprint("clean ", n))
		orders = append(orders, told(t, clean, fmt.Sprint("clean ", n))...)
	}
	m.hub.order(orders...)
	for _, run := range runs {
		said[run.RunID] = append(said[run.RunID], "end")
		m.hub.order(told(t, run, "end")...)
	}
	m.hub.until("every run has ended and every command is answered", m.hub.idle)
	m.process.Stop()

	whole := examineHeard(t, m, said, heardIn(t, m.noted()))
	figure(t, "P13", "%d runs, %d things said, %d commands sent, %d kills, %d runs heard everything", len(runs), len(runs)*(steersPerKill+1), m.hub.sent, kills, whole)
	if whole == 0 || m.hub.terminals[clean.RunID][0] != event.RunCompleted {
		t.Error("no run heard everything: too little to prove anything")
	}
}

// examineHeard holds what runs have heard to what they were told. It returns how many went to their end.
func examineHeard(t *testing.T, m *machine, said, heard map[id.Run][]string) (whole int) {
	t.Helper()
	for run, all := range said {
		got := heard[run]
		for i, text := range got {
			if slices.Contains(got[:i], text) {
				t.Errorf("run %s heard %q twice", run, text)
			}
		}
		switch ends := m.hub.terminals[run]; {
		case len(ends) != 1:
			t.Errorf("run %s ended as %v", run, ends)
		case ends[0] == event.RunCompleted:
			whole++
			if !slices.Equal(got, all) {
				t.Errorf("run %s was told %q and heard %q", run, all, got)
			}
		case !slices.Equal(got, all[:len(got)]):
			t.Errorf("run %s was told %q and heard %q", run, all, got)
		}
	}
	for delivery, status := range m.hub.receipts {
		if code := m.hub.refusals[delivery]; status != wire.Accepted && code != fault.TooLate {
			t.Errorf("a command was answered with %s %s", status, code)
		}
	}
	return whole
}
