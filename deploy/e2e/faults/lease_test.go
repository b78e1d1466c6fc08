package faults

import (
	"encoding/json"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// works notes its start and works until it is stopped.
const works = `echo "$1 $$" >>"$2"; exec sleep 600`

// about is a command for the run of another one, under a lease of its own.
func (m *machine) about(start wire.Command, kind wire.Kind, lease wire.Lease, body any) wire.Command {
	m.t.Helper()
	encoded, err := json.Marshal(body)
	if err != nil {
		m.t.Fatal(err)
	}
	return wire.Command{DeliveryID: id.NewDelivery(), Kind: kind, RunID: start.RunID, Lease: lease, Body: encoded}
}

// expect sends a command and waits for its receipt.
func (m *machine) expect(what string, c wire.Command, status wire.Status, code fault.Code) {
	m.t.Helper()
	m.hub.order(c)
	m.hub.until(what+" is answered", func() bool { return m.hub.receipts[c.DeliveryID] != "" })
	m.hub.change(func() {
		if got, why := m.hub.receipts[c.DeliveryID], m.hub.refusals[c.DeliveryID]; got != status || why != code {
			m.t.Errorf("%s: %s %s, want %s %s", what, got, why, status, code)
		}
	})
}

// The run lease. It has no clock: a command is refused because a newer dispatch of the run was seen, however late it comes, also by the edge
// process that comes after a crash.
func TestAnEdgeRefusesCommandsThatCarryAnOlderLease(t *testing.T) {
	t.Parallel()
	m := newMachine(t, works)
	m.start()
	start := newOrder(t)
	start.Lease = 3
	cancel, answer := wire.CancelOrder{}, wire.Answer{RequestID: id.NewRequest(), Decision: event.Allow}
	m.expect("the start", start, wire.Accepted, "")
	m.await("the agent works", func() bool { return len(m.noted()) == 1 })

	m.expect("an older start", m.about(start, wire.Start, 2, start.Body), wire.Rejected, fault.LeaseStale)
	m.expect("an older cancel", m.about(start, wire.Cancel, 2, cancel), wire.Rejected, fault.LeaseStale)
	m.expect("an older answer", m.about(start, wire.AnswerPrompt, 2, answer), wire.Rejected, fault.LeaseStale)
	m.expect("a newer start", m.about(start, wire.Start, 5, start.Body), wire.Accepted, "")
	m.expect("the lease that it was started under", m.about(start, wire.Cancel, 3, cancel), wire.Rejected, fault.LeaseStale)

	next := newOrder(t)
	next.Lease = 3
	m.expect("another start", next, wire.Accepted, "")
	m.process.Kill()
	m.start()
	m.expect("an older cancel after a crash", m.about(next, wire.Cancel, 2, cancel), wire.Rejected, fault.LeaseStale)

	// The positive control: what carries the lease is taken.
	last := newOrder(t)
	m.expect("a last start", last, wire.Accepted, "")
	m.expect("its cancel", m.about(last, wire.Cancel, last.Lease, cancel), wire.Accepted, "")
	m.hub.until("it ends", func() bool { return len(m.hub.terminals[last.RunID]) == 1 })
	if starts := startsIn(m.noted()); len(startedTwice(starts)) > 0 || len(starts[start.RunID]) != 1 {
		t.Errorf("started %v", starts)
	}
	m.process.Stop()
}
