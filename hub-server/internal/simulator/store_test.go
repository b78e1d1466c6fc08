package simulator

import (
	"slices"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
	"github.com/switchyard-dev/switchyard/hub-server/internal/prompt"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// store is the record in memory: what sqlstore keeps in tables, with the same rules and none of its own. It outlives every hub. Each method of
// view is one transaction of it.
type store struct {
	world    *world
	epoch    wire.Epoch
	lanes    []*laneRecord
	fences   map[id.Edge]*fence
	runs     []*runRecord
	byRun    map[id.Run]*runRecord
	commands []*commandRecord
	byKey    map[string]id.Run // idempotency
	outbox   []delivery.Row    // outbox[i] has position i+1
	floor    delivery.Position
	marks    map[id.Device]delivery.DeviceMark
	edges    []fleet.Edge
	applied  map[laneSeq]int // how often each row of a journal was applied
	timers   map[id.Request]time.Time
}

type laneSeq struct {
	incarnation wire.Incarnation
	seq         wire.ProducerSeq
}

type laneRecord struct {
	edge        id.Edge
	incarnation wire.Incarnation
	watermark   wire.ProducerSeq
	chain       wire.Chain
}

type fence struct {
	number runlog.Fence
	lane   *laneRecord
	holder *hub // at which it was taken
	life   int  // of that process
	since  time.Time
}

type runRecord struct {
	runlog.NewRun
	said    runlog.Said
	prompts []prompt.Prompt
	events  []runlog.StoredEvent
}

type commandRecord struct {
	wire.Command
	edge    id.Edge
	state   string // pending, sent, done, withdrawn
	refused fault.Code
}

func newStore(w *world) *store {
	return &store{
		world: w, epoch: "0123456789abcdef", fences: map[id.Edge]*fence{}, byRun: map[id.Run]*runRecord{}, byKey: map[string]id.Run{},
		marks: map[id.Device]delivery.DeviceMark{}, applied: map[laneSeq]int{}, timers: map[id.Request]time.Time{},
	}
}

func (s *store) lane(edge id.Edge, incarnation wire.Incarnation) *laneRecord {
	i := slices.IndexFunc(s.lanes, func(l *laneRecord) bool { return l.edge == edge && l.incarnation == incarnation })
	if i < 0 {
		return nil
	}
	return s.lanes[i]
}

// laneNow is what a transaction reads of a lane.
func (s *store) laneNow(held runlog.LaneState) (*laneRecord, runlog.LaneNow) {
	l, f := s.lane(held.Edge, held.Incarnation), s.fences[held.Edge]
	return l, runlog.LaneNow{Watermark: l.watermark, Chain: l.chain, Held: f.number == held.Fence && f.lane == l}
}

func (r *runRecord) head() runlog.Head {
	h := runlog.Head{
		Run: r.ID, Session: r.Session, Agent: r.Agent, Edge: r.Edge, Lease: r.Lease, TraceID: r.TraceID, State: r.State, Last: r.LastEventSeq,
		Said: r.said.Message, Final: r.FinalMessage, ProcessEnded: r.ProcessEnded,
	}
	for _, p := range r.prompts {
		if p.State == prompt.Pending {
			h.Pending = append(h.Pending, p.ID)
		}
	}
	return h
}

// save stores what was appended to a log.
func (s *store) save(r *runRecord, g *runlog.Growth, at time.Time) {
	if len(g.Events) == 0 {
		return
	}
	if g.From != r.LastEventSeq+1 {
		s.world.fail("the log of %s ends at %d and grows from %d", name(s.world, r.ID), r.LastEventSeq, g.From)
	}
	for _, e := range g.Events {
		r.events = append(r.events, stored(r, e, at))
		s.world.say("store", "%s %d %s late=%t", name(s.world, r.ID), e.Seq, e.Type, e.Late)
	}
	if !r.State.Ended() || g.State.Ended() { // see noTerminalGate: what it lets through takes no end back
		r.State = g.State
	}
	r.LastEventSeq, r.FinalMessage = g.Last, g.Final
	r.ProcessEnded = r.ProcessEnded || g.ProcessEnded
	if g.Started {
		r.StartedAt = at
	}
	if g.Spoken != nil {
		r.said = *g.Spoken
	}
	if g.Ended {
		r.EndedAt, r.Error = at, g.Failure
		s.withdraw(r.ID, wire.Start, "pending", "sent")
	}
	r.prompts = prompt.Keep(r.prompts, g, at)
	s.keepTimers(r, at)
	s.emit(delivery.Row{
		Audience: delivery.ToSession(r.Session), Kind: delivery.KindRun, Session: r.Session, Run: r.ID, From: uint64(g.From), To: uint64(g.Last),
	})
	for _, m := range g.Prompts.Moves {
		s.emit(delivery.Row{
			Audience: delivery.ToUser(s.world.owner), Kind: delivery.KindPrompt, Session: r.Session, Run: r.ID, Prompt: m.Request, From: uint64(m.By), To: uint64(m.By),
		})
	}
}

func stored(r *runRecord, e runlog.Placed, at time.Time) runlog.StoredEvent {
	return runlog.StoredEvent{
		ID: e.ID, Run: r.ID, Seq: e.Seq, Type: e.Type, WireType: e.WireType, OccurredAt: e.OccurredAt, RecordedAt: at, Payload: e.Body.Payload,
		Checksum: e.Body.Checksum, Late: e.Late, Edge: r.Edge, ProducerSeq: e.ProducerSeq,
	}
}

// emit gives rows their positions.
func (s *store) emit(rows ...delivery.Row) {
	for _, row := range rows {
		row.Position = delivery.Position(len(s.outbox)) + 1
		s.outbox = append(s.outbox, row)
	}
	s.world.hint(func(h *hub) { h.tail.Wake(); h.pokeTail() })
}

// order queues a command and wakes whoever holds the edge.
func (s *store) order(edge id.Edge, c wire.Command) {
	s.commands = append(s.commands, &commandRecord{Command: c, edge: edge, state: "pending"})
	s.world.hint(func(h *hub) { h.pokeLane(edge) })
}

// withdraw takes back the commands of a run that are of a kind and in one of the states, and says whether there were any.
func (s *store) withdraw(runID id.Run, kind wire.Kind, states ...string) (some bool) {
	for _, c := range s.commands {
		if c.RunID == runID && c.Kind == kind && slices.Contains(states, c.state) {
			c.state, some = "withdrawn", true
		}
	}
	return some
}

// begin stores a run, with its command if it has an edge.
func (s *store) begin(n runlog.NewRun) *runRecord {
	r := &runRecord{NewRun: n}
	s.runs = append(s.runs, r)
	s.byRun[r.ID] = r
	s.dispatched(n)
	s.world.say("store", "%s begins %s continues %s", name(s.world, n.ID), n.State, name(s.world, n.Continues))
	return r
}

func (s *store) dispatched(n runlog.NewRun) {
	s.emit(delivery.Row{
		Audience: delivery.ToSession(n.Session), Kind: delivery.KindFrame, FrameType: "agent.dispatch", Payload: n.Frame, Session: n.Session, Run: n.ID,
	})
	if n.Command != nil {
		s.order(n.Edge, *n.Command)
	}
}

// seen is a run as readers see it.
func (s *store) seen(r *runRecord) runlog.Run {
	found := r.Run
	for _, other := range s.runs {
		if other.Continues == r.ID {
			found.ContinuedBy = other.ID
		}
	}
	return found
}

func (s *store) find(runID id.Run) (*runRecord, error) {
	r, ok := s.byRun[runID]
	if !ok {
		return nil, fault.New(fault.NotFound, "There is no such task.")
	}
	return r, nil
}

// terminals counts the outcomes in a log.
func (r *runRecord) terminals() (n int) {
	for _, e := range r.events {
		if e.Type.Terminal() {
			n++
		}
	}
	return n
}

// settledBy returns the events that settle a question.
func (r *runRecord) settledBy(request id.Request) (found []event.Type) {
	p, _ := prompt.Find(r.prompts, request)
	for _, e := range r.events {
		if (e.Type == event.PromptAnswered || e.Type == event.PromptExpired) && names(e, p.ID) {
			found = append(found, e.Type)
		}
	}
	return found
}
