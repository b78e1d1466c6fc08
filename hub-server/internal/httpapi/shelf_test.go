package httpapi

import (
	"context"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/id"

	"pgregory.net/rapid"
)

// growing is a log in memory that counts how often it is read.
type growing struct {
	events []runlog.StoredEvent
	reads  int
}

func (g *growing) grow(payload int) {
	g.events = append(g.events, runlog.StoredEvent{Seq: runlog.EventSeq(len(g.events) + 1), Payload: make([]byte, payload)})
}

func (g *growing) EventsUpTo(_ context.Context, _ id.Run, after, head runlog.EventSeq) (runlog.EventPage, error) {
	g.reads++
	return runlog.EventPage{Events: g.events[after:head], Last: head}, nil
}

// Whatever readers ask for, and in whatever order, each gets what comes next and nothing that nobody knew to be committed.
func TestReadersThatShareAPageGetExactlyWhatComesNext(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log, page := &growing{}, newShelf().take(id.NewRun())
		at := make([]runlog.EventSeq, 3)
		known := runlog.EventSeq(0) // the newest head that anybody has asked with
		t.Repeat(map[string]func(*rapid.T){
			"grow": func(t *rapid.T) { log.grow(rapid.SampledFrom([]int{10, 1000, shelfBytes}).Draw(t, "payload")) },
			"read": func(t *rapid.T) {
				i := rapid.IntRange(0, len(at)-1).Draw(t, "reader")
				if int(at[i]) == len(log.events) {
					t.Skip("nothing to read")
				}
				head := runlog.EventSeq(rapid.IntRange(int(at[i])+1, len(log.events)).Draw(t, "head"))
				known = max(known, head)
				got, err := page.Events(t.Context(), log, at[i], head)
				if err != nil || len(got.Events) == 0 || got.Last < head || got.Last > known {
					t.Fatalf("read after %d up to %d: %d events, last %d, %v", at[i], head, len(got.Events), got.Last, err)
				}
				for _, e := range got.Events {
					if at[i]++; e.Seq != at[i] || e.Seq > known {
						t.Fatalf("event %d came at %d, known is %d", e.Seq, at[i], known)
					}
				}
			},
		})
	})
}

func TestReadersAtTheSamePlaceCostOneRead(t *testing.T) {
	shelf, log, run := newShelf(), &growing{}, id.NewRun()
	readers := []*shelved{shelf.take(run), shelf.take(run), shelf.take(run)}
	for head := range runlog.EventSeq(50) {
		log.grow(100)
		for _, r := range readers {
			if page, err := r.Events(t.Context(), log, head, head+1); err != nil || len(page.Events) != 1 {
				t.Fatalf("after %d: %d events, %v", head, len(page.Events), err)
			}
		}
	}
	if log.reads != 50 {
		t.Errorf("%d reads for 50 events", log.reads)
	}
	for _, r := range readers {
		r.put()
	}
	if len(shelf.runs) != 0 {
		t.Error("a page is kept that nobody reads")
	}
}
