package lane

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/shared/subject"
	"github.com/switchyard-dev/switchyard/shared/wire"
	"pgregory.net/rapid"
)

// TestEveryRowArrivesOnceInOrder lets a Sender and a Receiver talk over a network that loses, repeats and reorders messages and cuts
// connections, while either side restarts, the journal is restored from a copy, or the hub's store is rolled back. When the faults end,
// the hub has every row that the journal holds, once and in order. At no time is more in flight than the hub gave credit for.
func TestEveryRowArrivesOnceInOrder(t *testing.T) {
	for range often {
		rapid.Check(t, converse)
	}
}

// often is how many times the usual number of conversations is played: the worst of them are rare.
const often = 10

func converse(rt *rapid.T) {
	w := newWorld(rt)
	rt.Repeat(map[string]func(*rapid.T){
		"append":           func(rt *rapid.T) { w.append(rapid.IntRange(1, 5).Draw(rt, "rows")) },
		"talk":             func(rt *rapid.T) { w.talk(rapid.IntRange(1, 6).Draw(rt, "rounds")) },
		"work":             func(rt *rapid.T) { w.append(rapid.IntRange(1, 5).Draw(rt, "rows")); w.talk(1) },
		"deliver up":       func(*rapid.T) { w.deliverUp(false) },
		"deliver up again": func(*rapid.T) { w.deliverUp(true) },
		"deliver down":     func(*rapid.T) { w.deliverDown() },
		"swap up":          func(*rapid.T) { swap(w.up) },
		"swap down":        func(*rapid.T) { swap(w.down) },
		"lose up":          func(*rapid.T) { w.up = w.up[min(1, len(w.up)):] },
		"lose down":        func(*rapid.T) { w.down = w.down[min(1, len(w.down)):] },
		"cut":              func(*rapid.T) { w.connect() },
		"time passes":      func(*rapid.T) { w.pass(5 * time.Second) },
		"copy journal":     func(*rapid.T) { w.copied = w.journal.clone() },
		"restore journal":  func(*rapid.T) { w.restoreJournal() },
		"back up hub":      func(*rapid.T) { w.backup = w.hub.clone() },
		"roll hub back":    func(*rapid.T) { w.rollBack() },
		"":                 func(rt *rapid.T) { w.check(rt) },
	})
	w.settle(rt)
}

// world is an edge, a hub and the network between them. Rows are names: "r1", "r2" …
type world struct {
	now      time.Time
	sender   Sender
	journal  *modelJournal
	hub      *modelHub
	copied   *modelJournal
	backup   *modelHub
	up, down []any // on the one connection, in order
	rows     int   // made so far
	lives    int   // incarnations so far
	// doubtful rows were in a restored journal without a receipt: the hub may have them already, and knows them by their event id alone.
	doubtful map[string]bool
}

func newWorld(rt *rapid.T) *world {
	w := &world{now: time.Now(), doubtful: map[string]bool{}, journal: &modelJournal{incarnation: "i0"}, hub: &modelHub{lanes: map[wire.Incarnation]*modelLane{}}}
	w.hub.credit = rapid.Int64Range(1, 40).Draw(rt, "credit")
	w.hub.maxFrame = rapid.IntRange(1, 20).Draw(rt, "max frame")
	w.copied, w.backup = w.journal.clone(), w.hub.clone()
	w.connect()
	return w
}

func (w *world) append(n int) {
	for range n {
		w.rows++
		w.journal.rows = append(w.journal.rows, fmt.Sprintf("r%d", w.rows))
	}
	w.feed(Grown{Head: w.journal.head()})
}

// connect begins a new connection: what was on the old one is lost, and so is all that either side knew of it.
func (w *world) connect() {
	w.up, w.down = nil, nil
	w.sender = Sender{}
	w.hub.connected()
	w.feed(Connected{w.journal.hello()})
}

func (w *world) pass(d time.Duration) {
	w.now = w.now.Add(d)
	w.feed(Ticked{})
}

func (w *world) restoreJournal() {
	w.journal = w.copied.clone()
	for _, row := range w.journal.rows[w.journal.committed():] {
		w.doubtful[row] = true
	}
	w.connect()
}

// rollBack also makes the journal's copies older than the store, as they are in life: a receipt shows what the store has forgotten.
func (w *world) rollBack() {
	w.hub = w.backup.clone()
	w.connect()
}

// swap makes the second message on the way arrive before the first.
func swap(way []any) {
	if len(way) > 1 {
		way[0], way[1] = way[1], way[0]
	}
}

// check is what holds at every moment.
func (w *world) check(rt *rapid.T) {
	s := w.sender
	if len(s.flight) > 1 && s.inFlight > max(s.credit, w.hub.credit) {
		rt.Fatalf("%d bytes are in flight with a credit of %d", s.inFlight, s.credit)
	}
	if w.hub.fault != "" {
		rt.Fatal(w.hub.fault)
	}
}

func (w *world) talk(rounds int) {
	for range rounds {
		w.deliverUp(false)
		w.deliverDown()
	}
}

func (w *world) deliverUp(twice bool) {
	if len(w.up) == 0 {
		return
	}
	m := w.up[0]
	if !twice {
		w.up = w.up[1:]
	}
	w.down = append(w.down, w.hub.hear(m)...)
}

func (w *world) deliverDown() {
	if len(w.down) == 0 {
		return
	}
	m := w.down[0]
	w.down = w.down[1:]
	switch m := m.(type) {
	case wire.Welcome:
		local, known := w.journal.chainAt(m.Watermark)
		w.feed(Welcomed{m, local, known})
	case wire.CommittedTo:
		local, known := w.journal.chainAt(m.Receipt.Seq)
		w.feed(Acknowledged{m, local, known})
	case wire.Rewind:
		w.feed(Rewound{m})
	}
}

// feed does what the sender says, as connection.carryOut does.
func (w *world) feed(in Input) {
	for _, out := range w.sender.Step(in, w.now) {
		switch out := out.(type) {
		case Publish:
			if out.Verb == subject.Hello {
				w.up = append(w.up, out.Body)
			}
		case Send:
			w.up = append(w.up, out.Frame)
		case Fetch:
			w.feed(Fetched{w.journal.read(out.From, out.MaxBytes)})
		case Keep:
			w.journal.keep(out.CommitReceipt)
		case Renumber:
			w.lives++
			w.journal.renumber(wire.Incarnation(fmt.Sprintf("i%d", w.lives)))
			w.feed(Connected{w.journal.hello()})
		case HangUp:
			w.connect()
			return
		}
	}
}

// settle ends the faults, lets both sides talk it out, and compares.
func (w *world) settle(rt *rapid.T) {
	w.connect()
	for range 10_000 {
		if len(w.up)+len(w.down) == 0 {
			break
		}
		w.deliverUp(false)
		w.deliverDown()
	}
	if !w.sender.Settled() {
		rt.Fatalf("not settled: %+v", w.sender)
	}
	lane := w.hub.lanes[w.journal.incarnation]
	var have []string
	if lane != nil {
		have = lane.rows
	}
	if !slices.Equal(have, w.journal.rows) {
		rt.Fatalf("hub has %v, journal %v", have, w.journal.rows)
	}
	for row, n := range w.hub.count() {
		if n > 1 && !w.doubtful[row] {
			rt.Fatalf("row %s arrived %d times", row, n)
		}
	}
}

// modelJournal is a journal that keeps everything.
type modelJournal struct {
	incarnation wire.Incarnation
	rows        []string
	receipt     *wire.CommitReceipt
}

func (j *modelJournal) clone() *modelJournal {
	c := *j
	c.rows = slices.Clone(j.rows)
	return &c
}

func (j *modelJournal) head() wire.ProducerSeq { return wire.ProducerSeq(len(j.rows)) }

func (j *modelJournal) hello() wire.Hello {
	return wire.Hello{Incarnation: j.incarnation, Floor: 1, Head: j.head(), Committed: j.receipt}
}

func (j *modelJournal) chainAt(seq wire.ProducerSeq) (wire.Chain, bool) {
	if seq > j.head() {
		return wire.Chain{}, false
	}
	return chainOf(j.rows[:seq]), true
}

func chainOf(rows []string) (c wire.Chain) {
	for _, row := range rows {
		c = c.Next([]byte(row))
	}
	return c
}

func (j *modelJournal) read(from wire.ProducerSeq, maxBytes int64) Batch {
	b := Batch{First: from}
	for _, row := range j.rows[from-1:] {
		if len(b.Rows) > 0 && b.Bytes+int64(len(row)) > maxBytes {
			break
		}
		b.Rows = append(b.Rows, []byte(row))
		b.Bytes += int64(len(row))
	}
	return b
}

func (j *modelJournal) committed() wire.ProducerSeq {
	if j.receipt == nil {
		return 0
	}
	return j.receipt.Seq
}

func (j *modelJournal) keep(r wire.CommitReceipt) {
	if j.receipt == nil || r.Seq > j.receipt.Seq {
		j.receipt = &r
	}
}

func (j *modelJournal) renumber(fresh wire.Incarnation) {
	j.rows = j.rows[j.committed():]
	j.incarnation, j.receipt = fresh, nil
}

// modelHub holds lanes as the hub's store does, and what its process knows of the one connection.
type modelHub struct {
	credit   int64
	maxFrame int
	lanes    map[wire.Incarnation]*modelLane

	lane     *modelLane // of the greeted connection
	receiver Receiver
	asked    wire.Generation // that a rewind began and no commit has confirmed
	fault    string          // what the receiver did wrong
}

type modelLane struct {
	incarnation wire.Incarnation
	rows        []string
}

func (l *modelLane) watermark() wire.ProducerSeq { return wire.ProducerSeq(len(l.rows)) }

func (h *modelHub) clone() *modelHub {
	c := *h
	c.lanes, c.lane = map[wire.Incarnation]*modelLane{}, nil
	for i, l := range h.lanes {
		c.lanes[i] = &modelLane{i, slices.Clone(l.rows)}
	}
	return &c
}

func (h *modelHub) connected() { h.lane, h.receiver, h.asked = nil, Receiver{}, 0 }

func (h *modelHub) count() map[string]int {
	n := map[string]int{}
	for _, l := range h.lanes {
		for _, row := range l.rows {
			n[row]++
		}
	}
	return n
}

func (h *modelHub) hear(m any) []any {
	switch m := m.(type) {
	case wire.Hello:
		return h.hello(m)
	case wire.Frame:
		return h.frame(m)
	}
	return nil
}

func (h *modelHub) hello(m wire.Hello) []any {
	h.lane = h.lanes[m.Incarnation]
	if h.lane == nil {
		h.lane = &modelLane{incarnation: m.Incarnation}
		h.lanes[m.Incarnation] = h.lane
	}
	h.asked = 0
	return []any{wire.Welcome{
		Incarnation: h.lane.incarnation, Watermark: h.lane.watermark(), Chain: chainOf(h.lane.rows), Credit: h.credit,
		Generation: h.receiver.Welcome(h.lane.watermark()), MaxFrame: h.maxFrame,
	}}
}

func (h *modelHub) frame(f wire.Frame) []any {
	switch h.receiver.Frame(f) {
	case Ask:
		return h.ask(f.Generation)
	case Give:
		h.receiver = Receiver{} // the connection ends; whoever is cut off comes back
		return nil
	case Drop:
		return nil
	}
	watermark := h.lane.watermark()
	for i, row := range f.Rows {
		if f.First+wire.ProducerSeq(i) > watermark {
			h.lane.rows = append(h.lane.rows, string(row))
		}
	}
	h.receiver.Committed(h.lane.watermark())
	h.asked = 0
	return []any{wire.CommittedTo{Credit: h.credit, Receipt: wire.CommitReceipt{
		Incarnation: h.lane.incarnation, Seq: h.lane.watermark(), Chain: chainOf(h.lane.rows),
	}}}
}

// ask rewinds, and notes a second rewind of one generation without a commit in between.
func (h *modelHub) ask(g wire.Generation) []any {
	again, ok := h.receiver.Rewind()
	if !ok {
		return nil
	}
	if h.asked == g && g != 0 {
		h.fault = fmt.Sprintf("generation %d was rewound twice", g)
	}
	h.asked = again.Generation
	return []any{again}
}
