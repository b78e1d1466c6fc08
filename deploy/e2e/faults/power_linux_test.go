package faults

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/lossyfs"
	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/nemesis"
	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/truth"
	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/event"
)

// The figures of promise P5: each machine loses power 25 times.
const (
	darkHubs  = 12
	darkEdges = 12
	darkBoth  = 13
)

// machines is a siege whose hub and edge have a disk each.
type machines struct {
	*siege
	hubDisk, edgeDisk   *lossyfs.Disk
	hubMount, edgeMount *lossyfs.Mount
	letters             string // a conversation that people write to
}

// newMachines starts everything on empty disks. Skips the test where file systems cannot be mounted.
func newMachines(t *testing.T, seed uint64, agentArgs ...string) *machines {
	t.Helper()
	dir := t.TempDir()
	m := &machines{hubDisk: lossyfs.New(seed), edgeDisk: lossyfs.New(seed + 1)}
	m.hubMount = mountAt(t, m.hubDisk, rig.HubHome(dir))
	m.edgeMount = mountAt(t, m.edgeDisk, filepath.Join(dir, laptop))
	m.siege = newSiegeWith(t, rig.Options{Dir: dir}, agentArgs...)
	m.edgeDisk.SyncTree("profiles") // the person who wrote them has saved them
	m.letters = m.asker.Group("letters")
	return m
}

func mountAt(t *testing.T, disk *lossyfs.Disk, dir string) *lossyfs.Mount {
	t.Helper()
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	mount, err := disk.Mount(dir)
	if errors.Is(err, lossyfs.ErrUnable) {
		t.Skipf("optional: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // after everything that uses it has ended
		if err := mount.Unmount(); err != nil {
			t.Error(err)
		}
	})
	return mount
}

// strike cuts the power of one machine or both and switches it on again.
func (m *machines) strike(step nemesis.Step) {
	m.t.Helper()
	hub, edge := step.Fault != nemesis.DarkEdge, step.Fault != nemesis.DarkHub
	if hub {
		m.KillHub()
		m.cut(m.hubMount)
	}
	if edge {
		m.edge.Kill()
		rig.EndProcessesOf(rig.Workspaces(m.edge.Home))
		m.cut(m.edgeMount)
	}
	<-time.After(step.Lasts)
	if edge {
		m.edge.Start()
	}
	if hub {
		m.StartHub()
	}
}

func (m *machines) cut(mount *lossyfs.Mount) {
	m.t.Helper()
	if err := mount.Cut(); err != nil {
		m.t.Fatal(err)
	}
}

// write sends letters until over is closed, each until it is answered.
func (m *machines) write(told *receipts, over <-chan struct{}) {
	for n := 0; ; n++ {
		select {
		case <-over:
			return
		default:
			m.send(told, fmt.Sprintf("letter %d", n))
		}
	}
}

func (m *machines) send(told *receipts, text string) {
	letter := client.MessageInput{ClientMsgID: uuid.NewString(), Content: rig.Text(text)}
	told.note(letter.ClientMsgID, m.asker.Post(m.letters, letter))
}

// incarnation is that of the edge's journal.
func (m *machines) incarnation() string {
	m.t.Helper()
	return m.edgeHealth().Journal.Incarnation
}

// P5. People write letters and agents work while the machines of hub and edge lose power. What was answered, what the hub acknowledged and
// what the edge had written down is there afterwards, and of a run the hub holds exactly what its edge does: nothing is shown that is not
// recorded.
func TestPowerCutsLoseNothingThatWasAnsweredOrJournalled(t *testing.T) {
	t.Parallel()
	effort := effortOf(t)
	m := newMachines(t, effort.Seed, "--events", "200", "--rate", "100", "--tools")
	incarnation := m.incarnation()
	told := newReceipts()
	over := make(chan struct{})
	var writing sync.WaitGroup
	writing.Go(func() { m.write(told, over) })
	turns := m.during(writers, func() {
		m.seen.UntilFrames(10 * writers) // all are at work
		for _, step := range nemesis.Plan(effort.Seed, nemesis.Figures{
			nemesis.DarkHub: effort.Of(darkHubs), nemesis.DarkEdge: effort.Of(darkEdges), nemesis.DarkBoth: effort.Of(darkBoth),
		}) {
			<-time.After(step.After)
			t.Log(step)
			m.strike(step)
		}
	})
	close(over)
	writing.Wait()

	if err := told.examine(m.Owner().Messages(m.letters)); err != nil {
		t.Error(err)
	}
	ended, events, _ := m.examine(turns)
	figure(t, "P5", "%d messages answered, %d runs ended as %v, %d events", len(told.told), len(turns), ended, events)
	if len(told.told) < 20 || ended[event.RunCompleted] == 0 || ended[event.RunInterrupted] == 0 && effort.Of(darkEdges) >= sureKills {
		t.Error("too little happened to prove anything")
	}
	if now := m.incarnation(); now != incarnation {
		t.Errorf("the journal is another: incarnation %s has become %s", incarnation, now)
	}
	if epochs := m.seen.Epochs(); len(epochs) != 1 {
		t.Errorf("the store is another: it has had the epochs %q", epochs)
	}
}

// The positive controls of the test above: with disks whose fsync does nothing its checks find what is lost.

func TestAHubWhoseDiskLiesIsSeenToLoseWhatItAnswered(t *testing.T) {
	t.Parallel()
	m := newMachines(t, effortOf(t).Seed, "--events", "20")
	told := newReceipts()
	m.send(told, "before the disk lies")
	session := m.asker.Group("work", worker)
	m.hubDisk.Sync()
	m.hubDisk.Lie()
	m.send(told, "answered, and never on disk")
	m.converse(session, "work", m.closed())
	m.strike(nemesis.Step{Fault: nemesis.DarkHub})
	if told.examine(m.Owner().Messages(m.letters)) == nil {
		t.Error("nobody notices that a message is lost")
	}
	m.seen.UntilReset(1, "")
}

func TestAnEdgeWhoseDiskLiesIsSeenToLoseWhatItShowed(t *testing.T) {
	t.Parallel()
	m := newMachines(t, effortOf(t).Seed, "--events", "20")
	incarnation := m.incarnation()
	m.edgeDisk.Sync()
	m.edgeDisk.Lie()
	work := m.converse(m.asker.Group("work", worker), "work", m.closed())[0]
	accounts, err := truth.Read(m.truth.Path)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.evidenceOf(work, accounts).examine(); err != nil {
		t.Errorf("before the cut: %v", err)
	}
	m.strike(nemesis.Step{Fault: nemesis.DarkEdge})
	if m.evidenceOf(work, accounts).examine() == nil {
		t.Error("nobody notices that the hub holds what the journal does not")
	}
	m.Eventually("another incarnation", func() bool { return m.incarnation() != incarnation })
}

// closed is the end of a siege that has not begun.
func (m *machines) closed() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}
