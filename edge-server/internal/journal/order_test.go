package journal_test

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

func TestWhatARunWasToldIsReadBackInItsOrder(t *testing.T) {
	home := t.TempDir()
	j := open(t, options(home))
	r, other := id.NewRun(), id.NewRun()
	admit(t, j.Journal, r)
	admit(t, j.Journal, other)
	tell := func(run id.Run, kind wire.Kind, status wire.Status, o wire.ControlOrder) {
		t.Helper()
		body, err := json.Marshal(o)
		must(t, err)
		c := wire.Command{DeliveryID: id.NewDelivery(), Kind: kind, RunID: run, Lease: 1, Body: body}
		must(t, j.AnswerAgain(t.Context(), c, wire.CommandReceipt{DeliveryID: c.DeliveryID, RunID: run, Status: status}))
	}
	mode := func(m wire.ApprovalMode) wire.ControlOrder {
		return wire.ControlOrder{What: wire.ControlApprovalMode, Mode: m}
	}
	tell(r, wire.Control, wire.Accepted, mode(wire.AllowAll))
	tell(other, wire.Control, wire.Accepted, mode(wire.DenyAll))
	tell(r, wire.Control, wire.Rejected, mode(wire.AlwaysAsk))
	tell(r, wire.Cancel, wire.Accepted, mode(wire.AlwaysAsk))
	tell(r, wire.Control, wire.Accepted, mode(wire.AllowReadonly))
	must(t, errors.Join(j.stop()))
	got, err := open(t, options(home)).Orders(t.Context(), r)
	if want := []wire.ControlOrder{mode(wire.AllowAll), mode(wire.AllowReadonly)}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
}
