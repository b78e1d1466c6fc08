package lane

import (
	"time"

	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/subject"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// stallTime is for how long a hello may go without its welcome, or rows may be in flight and none of them committed: something was lost then,
// though the hub may well be heard.
const stallTime = 30 * time.Second

// phase is how far a connection has come.
type phase uint8

const (
	greeting phase = iota // hello is sent
	open                  // rows may flow
	over                  // hung up; nothing matters any more
)

// Sender decides everything that the edge says on one connection about its rows: a pure step machine, fresh for each connection, owned by
// the connection's loop. Inputs are what came from the hub, with what the journal knows about it, and what happened here; outputs are what
// to do, in order. The zero value waits for Connected.
type Sender struct {
	phase       phase
	incarnation wire.Incarnation
	generation  wire.Generation
	floor, head wire.ProducerSeq
	next        wire.ProducerSeq // row to send next
	credit      int64
	maxFrame    int64
	flight      []flown // frames sent and not committed, oldest first
	inFlight    int64   // bytes of them
	uploading   bool    // the next row waits for its blobs
	heardAt     time.Time
	progressAt  time.Time // hello, last commit, or when the first frame took off
}

// flown is a frame on its way.
type flown struct {
	last  wire.ProducerSeq
	bytes int64
}

// Step takes one input at a time now (monotonic).
func (m *Sender) Step(in Input, now time.Time) []Output {
	if m.phase == over {
		return nil
	}
	if fromHub(in) {
		m.heardAt = now
	}
	switch in := in.(type) {
	case Connected:
		return m.connected(in, now)
	case Welcomed:
		return m.welcomed(in, now)
	case Acknowledged:
		return m.acknowledged(in, now)
	case Rewound:
		return m.rewound(in, now)
	case Refused:
		return m.refused(in)
	case Pinged:
		return []Output{Publish{subject.Pong, wire.Pong(in.Ping)}}
	case Grown:
		m.head = max(m.head, in.Head)
		return m.flow(nil)
	case Fetched:
		return m.fetched(in, now)
	case Uploaded:
		m.uploading = false
		return m.flow(nil)
	}
	return m.ticked(now)
}

func fromHub(in Input) bool {
	switch in.(type) {
	case Welcomed, Acknowledged, Rewound, Refused, Pinged:
		return true
	}
	return false
}

// connected says hello. The rows of an older incarnation, if there was one on this connection, are forgotten.
func (m *Sender) connected(in Connected, now time.Time) []Output {
	*m = Sender{incarnation: in.Hello.Incarnation, floor: in.Hello.Floor, head: in.Hello.Head, heardAt: now, progressAt: now}
	return []Output{Publish{subject.Hello, in.Hello}}
}

// welcomed begins to send behind the watermark, unless the hub knows other rows under these numbers (architecture 6.5).
func (m *Sender) welcomed(in Welcomed, now time.Time) []Output {
	if m.phase == open && in.Generation <= m.generation {
		return nil
	}
	if in.Incarnation != "" && in.Incarnation != m.incarnation {
		return m.mistaken()
	}
	if in.Watermark > m.head || in.Known && in.Local != in.Chain {
		return []Output{Renumber{}}
	}
	m.phase, m.generation = open, in.Generation
	m.credit, m.maxFrame = in.Credit, int64(in.MaxFrame)
	m.sendFrom(max(in.Watermark+1, m.floor), now)
	return m.flow([]Output{Opened{in.Watermark}})
}

// mistaken answers a welcome for a hello under another incarnation. Before its own welcome that is an answer that was still on its way; after
// it, an old hello has come to the hub late or twice, and the hub takes nothing more of this lane on this connection.
func (m *Sender) mistaken() []Output {
	if m.phase == greeting {
		return nil
	}
	return m.hangUp(fault.New(fault.EdgeRefused, "The hub has opened another lane than this journal's."), true)
}

// sendFrom forgets what was in flight and continues at a row.
func (m *Sender) sendFrom(seq wire.ProducerSeq, now time.Time) {
	m.next, m.flight, m.inFlight, m.uploading, m.progressAt = seq, nil, 0, false, now
}

func (m *Sender) acknowledged(in Acknowledged, now time.Time) []Output {
	seq := in.Receipt.Seq
	switch {
	case m.phase != open || in.Receipt.Incarnation != m.incarnation:
		return nil
	case seq > m.head || in.Known && in.Local != in.Receipt.Chain:
		// What a welcome would have told: another machine writes under these numbers. A fresh hello finds out.
		return m.hangUp(fault.New(fault.EdgeRefused, "The hub holds other rows than this journal."), true)
	}
	for len(m.flight) > 0 && m.flight[0].last <= seq {
		m.inFlight -= m.flight[0].bytes
		m.flight = m.flight[1:]
		m.progressAt = now
	}
	m.credit = in.Credit
	m.next = max(m.next, seq+1)
	return m.flow([]Output{Keep{in.Receipt}})
}

func (m *Sender) rewound(in Rewound, now time.Time) []Output {
	if m.phase != open || in.Generation <= m.generation {
		return nil
	}
	if in.From == 0 || in.From > m.head+1 {
		return m.hangUp(fault.New(fault.EdgeRefused, "The hub asked for rows that were never written."), true)
	}
	m.generation = in.Generation
	m.sendFrom(max(in.From, m.floor), now)
	return m.flow(nil)
}

func (m *Sender) refused(in Refused) []Output {
	out := m.hangUp(fault.New(in.Code, "%s", in.Detail), in.Retry)
	if in.Code == wire.NeedBlob {
		out = append([]Output{Forget{in.Detail}}, out...)
	}
	return out
}

// flow asks for rows if some may be sent: at once when nothing is in flight, else within the credit.
func (m *Sender) flow(out []Output) []Output {
	if m.phase != open || m.uploading || m.next > m.head {
		return out
	}
	room := m.maxFrame
	if len(m.flight) > 0 {
		room = min(room, m.credit-m.inFlight)
	}
	if room <= 0 && len(m.flight) > 0 {
		return out
	}
	return append(out, Fetch{m.next, room})
}

// fetched sends a batch, and asks for more while there is credit. A single row larger than the credit left waits.
func (m *Sender) fetched(in Fetched, now time.Time) []Output {
	var out []Output
	if m.phase != open || in.First != m.next {
		return nil
	}
	if len(in.Rows) > 0 {
		if len(m.flight) > 0 && m.inFlight+in.Bytes > m.credit {
			return nil
		}
		if len(m.flight) == 0 {
			m.progressAt = now
		}
		out = append(out, Send{wire.Frame{Generation: m.generation, First: in.First, Rows: in.Rows}})
		m.flight = append(m.flight, flown{in.Last(), in.Bytes})
		m.inFlight += in.Bytes
		m.next = in.Last() + 1
	}
	if len(in.Missing) > 0 {
		m.uploading = true
		return append(out, Upload{in.Missing})
	}
	if len(in.Rows) == 0 {
		return out
	}
	return m.flow(out)
}

func (m *Sender) ticked(now time.Time) []Output {
	switch {
	case now.Sub(m.heardAt) >= Silence:
		return m.hangUp(fault.New(fault.Timeout, "The hub has been silent for %d s.", Silence/time.Second), true)
	case m.phase == greeting && now.Sub(m.progressAt) >= stallTime:
		return m.hangUp(fault.New(fault.Timeout, "The hub has not welcomed this edge for %d s.", stallTime/time.Second), true)
	case len(m.flight) > 0 && now.Sub(m.progressAt) >= stallTime:
		return m.hangUp(fault.New(fault.Timeout, "The hub has committed nothing for %d s.", stallTime/time.Second), true)
	}
	return nil
}

// Settled says whether everything in the journal is committed, or cannot be any more on this connection.
func (m *Sender) Settled() bool {
	return m.phase == over || m.phase == open && m.next > m.head && len(m.flight) == 0
}

func (m *Sender) hangUp(why *fault.Fault, retry bool) []Output {
	m.phase = over
	return []Output{HangUp{why, retry}}
}
