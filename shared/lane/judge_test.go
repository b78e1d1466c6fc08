package lane

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// However often and in whatever order the commands of a run are delivered: it is started once, stops being cancelled or answered at its end, and
// hears nothing that was decided under an older lease.
func TestARunIsStartedOnceWhateverIsDelivered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		commands := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) wire.Command {
			return wire.Command{
				Kind:  rapid.SampledFrom([]wire.Kind{wire.Start, wire.Start, wire.Cancel, wire.AnswerPrompt, wire.Control}).Draw(t, "kind"),
				Lease: wire.Lease(rapid.IntRange(1, 3).Draw(t, "lease")),
			}
		}), 1, 8).Draw(t, "commands")
		for i := range commands {
			commands[i].DeliveryID = id.NewDelivery()
		}
		var known *Known
		starts := 0
		receipts := map[id.Delivery]fault.Code{}
		for _, n := range rapid.SliceOfN(rapid.IntRange(0, len(commands)-1), 1, 30).Draw(t, "deliveries") {
			c := commands[n]
			if _, repeated := receipts[c.DeliveryID]; repeated {
				continue
			}
			why := Judge(c, known)
			receipts[c.DeliveryID] = ""
			if why != nil {
				receipts[c.DeliveryID] = why.Code
				checkRefusal(t, c, known, why.Code)
				continue
			}
			if known == nil {
				starts++
				known = &Known{}
			}
			if c.Lease < known.Lease || known.Ended || known.Cancelled && (c.Kind == wire.AnswerPrompt || c.Kind == wire.Control) {
				t.Fatalf("%s under lease %d was taken by %+v", c.Kind, c.Lease, *known)
			}
			known.Lease = c.Lease
			known.Cancelled = known.Cancelled || c.Kind == wire.Cancel
			known.Ended = rapid.IntRange(0, 4).Draw(t, "end") == 0
		}
		if starts > 1 {
			t.Fatalf("started %d times", starts)
		}
	})
}

// checkRefusal holds a code to what the hub reads out of it (runlog.Lanes.Receipt).
func checkRefusal(t *rapid.T, c wire.Command, known *Known, code fault.Code) {
	want := fault.TooLate
	switch {
	case known == nil:
		want = fault.NotFound
	case c.Lease < known.Lease:
		want = fault.LeaseStale
	case c.Kind == wire.Start:
		want = fault.RunEnded
	}
	if code != want || known == nil && c.Kind == wire.Start {
		t.Fatalf("%s under lease %d was refused with %s by %+v", c.Kind, c.Lease, code, known)
	}
}
