package simulator

import (
	"fmt"
	"slices"
	"time"

	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/lane"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// places is how many runs an edge works on at once.
const places = 2

// edge is an edge process: the shell around a lane.Sender and around the turns of its agents. Its journal survives it.
type edge struct {
	world *world
	id    id.Edge
	name  string

	up          bool
	life        int
	pausedUntil time.Time
	skew        time.Duration
	boot        wire.BootNonce

	journal *journal
	link    *link
	sender  lane.Sender
	waiting []*turn
	running []*turn
}

func (e *edge) start() {
	e.up, e.life = true, e.life+1
	e.boot = wire.BootNonce(fmt.Sprintf("%016x", e.life))
	e.waiting, e.running, e.link = nil, nil, nil
	e.world.say(e.name, "starts")
	e.recover()
	e.dial()
	life := e.life
	e.world.every(beatEvery, func() bool {
		if e.life != life || !e.up {
			return false
		}
		e.soon(0, func() {
			if e.link != nil {
				e.feed(lane.Ticked{})
			}
		})
		return true
	})
}

// soon does something in this life of the process, when it does not stand still.
func (e *edge) soon(d time.Duration, do func()) {
	life := e.life
	var try func()
	try = func() {
		switch wait := e.pausedUntil.Sub(e.world.now); {
		case e.life != life || !e.up:
		case wait > 0:
			e.world.after(wait, try)
		default:
			do()
		}
	}
	e.world.after(d, try)
}

// kill ends the process; the agents die with it.
func (e *edge) kill() {
	if !e.up {
		return
	}
	e.world.done.kills++
	e.world.say(e.name, "is killed")
	e.up, e.pausedUntil = false, time.Time{}
	if l := e.link; l != nil && l.open && !l.mute {
		e.world.after(e.world.upTo(50*time.Millisecond), func() { l.close("the edge is gone") })
	}
	e.link = nil
}

// dial opens a connection to one of the hubs.
func (e *edge) dial() {
	e.soon(e.world.between(100*time.Millisecond, time.Second), func() {
		h := pick(e.world, e.world.hubs)
		if e.link != nil {
			return
		}
		if !h.up || h.paused() {
			e.dial()
			return
		}
		l := &link{world: e.world, hub: h, edge: e, open: true, heardAt: e.world.now, unanswered: map[id.Delivery]time.Time{}}
		h.links = append(h.links, l)
		e.link = l
		e.sender = lane.Sender{}
		e.world.say(e.name, "dials %s", h.name)
		e.feed(lane.Connected{Hello: e.hello()})
	})
}

func (e *edge) hello() wire.Hello {
	j := e.journal
	hello := wire.Hello{
		Protocol: wire.Protocol, Incarnation: j.incarnation, BootNonce: e.boot, Floor: 1, Head: j.head(), Committed: j.receipt,
		Profiles: profiles(),
	}
	for _, t := range slices.Concat(e.waiting, e.running) {
		hello.LiveRuns = append(hello.LiveRuns, t.run)
	}
	return hello
}

func profiles() []wire.Profile { return []wire.Profile{{Name: "p", Runtime: "bridge"}} }

// lost is the end of a connection as the edge sees it.
func (e *edge) lost(l *link) {
	if e.link == l && e.up {
		e.link = nil
		e.dial()
	}
}

// hear takes what has arrived at the edge.
func (e *edge) hear(l *link, m any) {
	e.soon(0, func() {
		if e.link != l {
			return
		}
		switch m := m.(type) {
		case wire.Welcome:
			local, known := e.journal.chainAt(m.Watermark)
			e.feed(lane.Welcomed{Welcome: m, Local: local, Known: known})
		case wire.CommittedTo:
			local, known := e.journal.chainAt(m.Receipt.Seq)
			e.feed(lane.Acknowledged{CommittedTo: m, Local: local, Known: known})
		case wire.Rewind:
			e.feed(lane.Rewound{Rewind: m})
		case wire.Refused:
			e.feed(lane.Refused{Refused: m})
		case wire.Ping:
			e.feed(lane.Pinged{Ping: m})
		case wire.Command:
			l.sendUp(e.receive(m))
		}
	})
}

// feed does what the sender says, as internal/uplink of the edge does.
func (e *edge) feed(in lane.Input) {
	for _, out := range e.sender.Step(in, e.world.now) {
		switch out := out.(type) {
		case lane.Publish:
			e.link.sendUp(out.Body)
		case lane.Send:
			e.link.sendUp(out.Frame)
		case lane.Fetch:
			e.feed(lane.Fetched{Batch: e.journal.read(out.From, out.MaxBytes)})
		case lane.Keep:
			e.journal.keep(out.CommitReceipt)
		case lane.Renumber:
			e.world.fail("%s finds other rows under its numbers", e.name)
		case lane.HangUp:
			e.world.say(e.name, "hangs up: %s", out.Fault.Detail)
			l := e.link
			e.link = nil
			e.world.after(e.world.upTo(50*time.Millisecond), func() {
				if l.open && !l.mute {
					l.close("the edge hung up")
				}
			})
			e.dial()
			return
		}
		if e.link == nil {
			return
		}
	}
}

// receive answers a command, as internal/admission does: the receipt is in the journal before anybody sees it, and a repeat gets the same.
func (e *edge) receive(c wire.Command) wire.CommandReceipt {
	if r, known := e.journal.receipts[c.DeliveryID]; known && e.world.broken != startsTwice {
		return r
	}
	r := wire.CommandReceipt{DeliveryID: c.DeliveryID, RunID: c.RunID, Status: wire.Accepted}
	do, why := e.judge(c)
	if why != nil {
		r.Status, r.Code, r.Detail = wire.Rejected, why.Code, why.Detail
	}
	e.world.say(e.name, "receives %s of %s: %s %s", c.Kind, name(e.world, c.RunID), r.Status, r.Code)
	e.journal.receipts[c.DeliveryID] = r
	if known := e.journal.run(c.RunID); why == nil && known != nil {
		known.lease = max(known.lease, c.Lease)
	}
	if do != nil {
		do()
	}
	return r
}

// judge decides about a command; do is what follows once the receipt is on disk.
func (e *edge) judge(c wire.Command) (do func(), why *fault.Fault) {
	known := e.journal.run(c.RunID)
	if e.world.broken == startsTwice && c.Kind == wire.Start {
		return func() { e.admit(c) }, nil
	}
	if why := lane.Judge(c, known.known()); why != nil {
		return nil, why
	}
	switch {
	case c.Kind == wire.Start && known == nil:
		return func() { e.admit(c) }, nil
	case c.Kind == wire.Cancel:
		return func() { e.cancel(known) }, nil
	case c.Kind == wire.AnswerPrompt:
		return e.take(c)
	}
	return nil, nil
}

// recover accounts for the runs of an earlier life, as internal/admission does.
func (e *edge) recover() {
	for _, r := range e.journal.runs {
		if r.phase == ended {
			continue
		}
		t := e.restore(r)
		switch {
		case r.phase == admitted && !r.cancelled:
			e.waiting = append(e.waiting, t)
		case r.cancelled:
			t.close(run.Cancelled(true))
		case r.phase == intended:
			t.close(run.Interrupted(fault.StartUnknown))
		default:
			t.close(t.cut(lostUnseen))
		}
	}
	e.soon(e.world.upTo(20*time.Millisecond), e.next)
}
