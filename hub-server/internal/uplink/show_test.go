package uplink_test

import (
	"slices"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/uplink"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/subject"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// greet says hello as an edge that can be asked to show, or as one that is older.
func (e *edge) greet(shows bool) wire.Welcome {
	e.t.Helper()
	e.say(subject.Hello, wire.Hello{Protocol: wire.Protocol, Incarnation: "i", BootNonce: e.boot, Shows: shows})
	return hear[wire.Welcome](e, subject.Welcome)
}

func TestRowsOfAnUnknownRunWaitUntilTheEdgeHasShownHowItBegan(t *testing.T) {
	h := newHarness(t)
	h.strange = id.NewRun()
	e := h.dial(t, "b1")
	w := e.greet(true)
	e.frame(w.Generation, 1, "a")
	e.frame(w.Generation, 2, "strange")
	e.frame(w.Generation, 3, "b")
	e.frame(w.Generation, 4, "strange", "c")
	if asked := hear[wire.Show](e, subject.Show); !slices.Equal(asked.Runs, []id.Run{h.strange}) {
		t.Fatalf("asked for %v", asked.Runs)
	}
	e.say(subject.Shown, wire.Shown{RunID: id.NewRun()}) // nobody asked for that one
	e.frame(w.Generation, 6, "d")
	e.say(subject.Shown, wire.Shown{RunID: h.strange, Command: &wire.Command{RunID: h.strange}})
	for seq := wire.ProducerSeq(0); seq < 6; {
		seq = hear[wire.CommittedTo](e, subject.Committed).Receipt.Seq
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if want := []string{"a", "strange", "b", "strange", "c", "d"}; !slices.Equal(h.rows, want) {
		t.Errorf("committed %q, want %q", h.rows, want)
	}
	if len(h.shown) != 1 || h.shown[0].RunID != h.strange || h.shown[0].Command == nil {
		t.Errorf("taken back: %+v", h.shown)
	}
}

func TestAnOlderEdgeIsNotAskedAndItsRowsGoOn(t *testing.T) {
	h := newHarness(t)
	h.strange = id.NewRun()
	e := h.dial(t, "b1")
	w := e.greet(false)
	e.frame(w.Generation, 1, "strange")
	if got := hear[wire.CommittedTo](e, subject.Committed).Receipt.Seq; got != 1 {
		t.Errorf("committed to %d", got)
	}
}

func TestAnEdgeThatShowsNothingKeepsNoRowWaitingForEver(t *testing.T) {
	h := newHarness(t, func(d *uplink.Deps) { d.ShowWithin = 50 * time.Millisecond })
	h.strange = id.NewRun()
	e := h.dial(t, "b1")
	w := e.greet(true)
	e.frame(w.Generation, 1, "strange")
	hear[wire.Show](e, subject.Show)
	e.frame(w.Generation, 2, "a")
	for seq := wire.ProducerSeq(0); seq < 2; {
		seq = hear[wire.CommittedTo](e, subject.Committed).Receipt.Seq
	}
	e.frame(w.Generation, 3, "strange") // it is not asked a second time
	if got := hear[wire.CommittedTo](e, subject.Committed).Receipt.Seq; got != 3 {
		t.Errorf("committed to %d", got)
	}
}
