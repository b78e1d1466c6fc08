package faults

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/lossyfs"
	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// The figures of promise P24.
const (
	fills = 10
	// answersSoon bounds every answer, refusals too; recoversSoon is how long after there is space again everything must work: an edge
	// that has been told that the hub is busy comes back after ten seconds at most.
	answersSoon  = 10 * time.Second
	recoversSoon = 15 * time.Second
	// leftFree is what a full disk still takes before it is full.
	leftFree = 64 << 10
)

// fill leaves almost no space on a disk.
func fill(d *lossyfs.Disk) { d.Limit(d.Used() + leftFree) }

// free gives it back.
func free(d *lossyfs.Disk) { d.Limit(0) }

// persistent sends letters, each until it is taken, and counts the refusals. Safe for concurrent use.
type persistent struct {
	*machines
	told *receipts

	mu      sync.Mutex
	refused map[client.ProblemCode]int
	faults  []error
}

func (m *machines) persistent() *persistent {
	return &persistent{machines: m, told: newReceipts(), refused: map[client.ProblemCode]int{}}
}

// write sends letters until over is closed.
func (p *persistent) write(over <-chan struct{}) {
	text := strings.Repeat("x", 8<<10)
	for n := 0; ; n++ {
		letter := client.MessageInput{ClientMsgID: uuid.NewString(), Content: rig.Text(fmt.Sprintf("letter %d %s", n, text))}
		for !p.attempt(letter) {
			select {
			case <-over:
			case <-time.After(50 * time.Millisecond): // a person would wait longer
			}
		}
		select {
		case <-over:
			return
		default:
		}
	}
}

// attempt sends a letter once and says whether it was taken.
func (p *persistent) attempt(letter client.MessageInput) bool {
	ctx, cancel := context.WithTimeout(p.t.Context(), answersSoon)
	defer cancel()
	receipt, err := client.Decode[client.MessageReceipt](p.asker.API().SendMessage(ctx, p.letters, letter))
	if err == nil {
		p.told.note(letter.ClientMsgID, receipt)
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	code := client.CodeOf(err)
	p.refused[code]++
	if code != client.ProblemCodeBusy && code != client.ProblemCodeRateLimited {
		p.faults = append(p.faults, err)
	}
	return false
}

func (p *persistent) refusals(code client.ProblemCode) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.refused[code]
}

// examine fails the test if a letter was lost, or refused in any way but "busy".
func (p *persistent) examine() {
	p.t.Helper()
	stored := p.Owner().Messages(p.letters)
	if err := p.told.examine(stored); err != nil {
		p.t.Error(err)
	}
	if p.told.examine(stored[1:]) == nil {
		p.t.Error("positive control: nobody notices that a letter is lost")
	}
	for _, err := range p.faults {
		p.t.Errorf("a refusal without a code for it: %v", err)
	}
}

// String says how much was written.
func (p *persistent) String() string {
	return fmt.Sprintf("%d messages taken, %d attempts refused", len(p.told.told), p.refused[client.ProblemCodeBusy])
}

// status asks an address of the hub that anybody may ask. It asks again if it has asked too often.
func (m *machines) status(path string) (status int) {
	m.t.Helper()
	m.Eventually("an answer from "+path, func() bool {
		status = m.statusOnce(path)
		return status != http.StatusTooManyRequests
	})
	return status
}

func (m *machines) statusOnce(path string) int {
	m.t.Helper()
	req, err := http.NewRequestWithContext(m.t.Context(), http.MethodGet, m.HubURL()+path, nil)
	if err != nil {
		m.t.Fatal(err)
	}
	req.Close = true
	stranger := http.Client{Timeout: answersSoon}
	resp, err := stranger.Do(req)
	if err != nil {
		m.t.Errorf("%s: %v", path, err)
		return 0
	}
	resp.Body.Close()
	return resp.StatusCode
}

// soon fails the test if something takes longer than a recovery may.
func (m *machines) soon(what string, is func() bool) {
	m.t.Helper()
	start := time.Now()
	m.Eventually(what, is)
	if took := time.Since(start); took > recoversSoon {
		m.t.Errorf("%s: it took %s", what, took)
	}
}

// P24. The hub's disk is full again and again while people write and agents work.
func TestAHubWhoseDiskIsFullRefusesAndComesBack(t *testing.T) {
	t.Parallel()
	effort := effortOf(t)
	m := newMachines(t, effort.Seed, "--events", "100", "--rate", "100", "--tools")
	people := m.persistent()
	over := make(chan struct{})
	var writing sync.WaitGroup
	writing.Go(func() { people.write(over) })
	hub := m.Hub().PID()
	turns := m.during(writers, func() {
		for range effort.Of(fills) {
			before := people.refusals(client.ProblemCodeBusy)
			fill(m.hubDisk)
			m.Eventually("a refusal", func() bool { return people.refusals(client.ProblemCodeBusy) > before+2 })
			m.Eventually("unready", func() bool { return m.status("/readyz") == http.StatusServiceUnavailable })
			if got := m.status("/healthz"); got != http.StatusOK {
				t.Errorf("/healthz: %d", got)
			}
			if len(m.Owner().NewestMessages(m.letters)) == 0 { // reading goes on
				t.Error("nothing is read")
			}
			free(m.hubDisk)
			m.soon("ready again", func() bool { return m.status("/readyz") == http.StatusOK })
			taken := people.told.count()
			m.soon("letters are taken again", func() bool { return people.told.count() > taken+5 })
			held := m.edgeHealth().Journal.Head
			m.soon("what the edge held back is in the hub", func() bool { return m.edgeHealth().Journal.Committed >= held })
		}
	})
	close(over)
	writing.Wait()
	people.examine()
	figure(t, "P24", "the hub's disk full %d times: %s, %s", effort.Of(fills), people, m.allCompleted(turns))
	if m.Hub().PID() != hub {
		t.Error("the hub was started again")
	}
}

// P24. The edge's disk is full again and again while agents work. They are held back, not cut off; new work is turned away; a run that
// somebody cancels meanwhile ends, which the reserve is for.
func TestAnEdgeWhoseDiskIsFullHoldsItsAgentsBackAndGoesOn(t *testing.T) {
	t.Parallel()
	effort := effortOf(t)
	m := newMachines(t, effort.Seed, "--events", "300", "--rate", "300", "--tools")
	m.edge.WriteProfile("endless", m.TestAgent("--events", "1000000", "--rate", "50"))
	others := m.asker.Group("others", "endless")
	edge := m.edge.Process().PID()
	turns := m.during(writers, func() {
		for range effort.Of(fills) {
			endless := m.asker.Run(others, "@endless go")
			m.seen.UntilEvents(endless, 5)
			fill(m.edgeDisk)
			m.Eventually("unready", func() bool { return m.edgeHealth().Status == "unready" })
			m.standsStill()
			m.cancel(endless)
			if end := m.seen.UntilEnded(endless); end != client.HubWebSocketFrameTypeAgentCancel {
				t.Errorf("the cancelled run ended with %s", end)
			}
			free(m.edgeDisk)
			m.soon("ready again", func() bool { return m.edgeHealth().Status == "ok" })
			head := m.edgeHealth().Journal.Head
			m.soon("agents go on", func() bool { return m.edgeHealth().Journal.Head > head })
		}
	})
	taken, refused := m.sortOut(turns)
	figure(t, "P24", "the edge's disk full %d times: %s, %d runs turned away", effort.Of(fills), m.allCompleted(taken), refused)
	if m.edge.Process().PID() != edge {
		t.Error("the edge was started again")
	}
}

// sortOut tells runs that an edge took from those that it turned away as busy, of which its journal must know nothing.
func (m *machines) sortOut(turns []turn) (taken []turn, refused int) {
	m.t.Helper()
	for _, turn := range turns {
		log := m.Owner().Log(turn.run)
		if len(log) != 1 || event.Type(log[0].EventType) != event.RunFailed {
			taken = append(taken, turn)
			continue
		}
		m.turnedAway(turn)
		if rows := m.journalOf(turn.run); len(rows) != 0 {
			m.t.Errorf("run %s was turned away and has %d rows", turn.run, len(rows))
		}
		refused++
	}
	return taken, refused
}

func (m *machines) cancel(run id.Run) {
	m.t.Helper()
	if _, err := client.Decode[client.AgentTask](m.asker.API().CancelAgentTask(m.t.Context(), string(run), client.CancelInput{})); err != nil {
		m.t.Errorf("cancel: %v", err)
	}
}

// P24. Nothing at all fits on the disk when an edge is started again: it starts on its reserve, says that it is unready, and goes on when
// there is space.
func TestAnEdgeStartsOnAFullDisk(t *testing.T) {
	t.Parallel()
	m := newMachines(t, effortOf(t).Seed, "--events", "20")
	m.edgeDisk.Limit(m.edgeDisk.Used())
	m.edge.Kill()
	m.edge.Start()
	if got := m.edgeHealth().Status; got != "unready" {
		t.Errorf("the edge is %s", got)
	}
	free(m.edgeDisk)
	m.soon("the edge is ready", func() bool { return m.edgeHealth().Status == "ok" })
	m.edge.WaitOnline()
	m.allCompleted(m.converse(m.asker.Group("work", worker), "work", m.closed()))
}

// standsStill waits until the agents of a full edge say nothing more: what they say they have noted in their book before.
func (m *machines) standsStill() {
	m.t.Helper()
	const calm = 300 * time.Millisecond // they say three hundred things a second
	size, since := int64(-1), time.Now()
	m.Eventually("agents are held back", func() bool {
		info, err := os.Stat(m.truth.Path)
		if err != nil {
			m.t.Fatal(err)
		}
		if info.Size() != size {
			size, since = info.Size(), time.Now()
		}
		return time.Since(since) > calm
	})
}

// health is what an edge says of itself.
type health struct {
	Status  string
	Journal struct {
		Incarnation     string
		Head, Committed int64
	}
}

func (m *machines) edgeHealth() (h health) {
	m.t.Helper()
	m.ask("/v1/health", &h, http.StatusOK, http.StatusServiceUnavailable)
	return h
}
