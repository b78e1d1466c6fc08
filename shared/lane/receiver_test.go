package lane

import (
	"testing"

	"github.com/switchyard-dev/switchyard/shared/wire"
)

func rowsFrom(g wire.Generation, first wire.ProducerSeq) wire.Frame {
	return wire.Frame{Generation: g, First: first, Rows: [][]byte{[]byte("a"), []byte("b")}}
}

func TestReceiverAsksOncePerGenerationForWhatIsMissing(t *testing.T) {
	var r Receiver
	g := r.Welcome(4)
	if got := r.Frame(rowsFrom(g, 6)); got != Ask {
		t.Fatalf("a frame behind a hole: %d", got)
	}
	again, ok := r.Rewind()
	if !ok || again != (wire.Rewind{Generation: g + 1, From: 5}) {
		t.Fatalf("got %+v, %t", again, ok)
	}
	if got := r.Frame(rowsFrom(g, 8)); got != Drop {
		t.Errorf("a frame that was on its way: %d", got)
	}
	if got := r.Frame(rowsFrom(g+1, 7)); got != Ask {
		t.Errorf("a hole in the new generation: %d", got)
	}
	if again, ok := r.Rewind(); ok {
		t.Errorf("asked again: %+v", again)
	}
	if got := r.Frame(rowsFrom(g+1, 4)); got != Commit {
		t.Errorf("a frame that overlaps: %d", got)
	}
	r.Committed(5)
	if again, ok := r.Rewind(); !ok || again.From != 6 {
		t.Errorf("after a commit: %+v, %t", again, ok)
	}
}

func TestReceiverGivesUpAtTheThirdFrameThatItCannotRead(t *testing.T) {
	var r Receiver
	if _, ok := r.Rewind(); ok || r.Frame(rowsFrom(0, 1)) != Ask {
		t.Error("a frame before the hello is one that cannot be read, and nothing can be asked for")
	}
	r.Welcome(0)
	if first, second := r.Unreadable(), r.Unreadable(); first != Ask || second != Give {
		t.Errorf("got %d, %d", first, second)
	}
}

func TestFramesOfOneGenerationThatFollowAreOne(t *testing.T) {
	a := rowsFrom(2, 3)
	if !Continues(a, rowsFrom(2, 5)) || Continues(a, rowsFrom(3, 5)) || Continues(a, rowsFrom(2, 4)) || Continues(a, rowsFrom(2, 6)) {
		t.Error("only the next rows of the same generation continue a frame")
	}
}
