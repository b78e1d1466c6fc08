package httpapi_test

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// damaged is a store that may have lost one event of every run.
type damaged struct {
	runlog.Store
	lost atomic.Uint64 // its number; 0: none
}

// Events implements runlog.EventStore.
func (d *damaged) Events(
	ctx context.Context, run id.Run, after runlog.EventSeq, limit int,
) ([]runlog.StoredEvent, runlog.EventSeq, error) {
	events, last, err := d.Store.Events(ctx, run, after, limit)
	return d.without(events), last, err
}

// EventsUpTo implements runlog.EventStore.
func (d *damaged) EventsUpTo(ctx context.Context, run id.Run, after, upTo runlog.EventSeq) ([]runlog.StoredEvent, error) {
	events, err := d.Store.EventsUpTo(ctx, run, after, upTo)
	return d.without(events), err
}

func (d *damaged) without(events []runlog.StoredEvent) []runlog.StoredEvent {
	return slices.DeleteFunc(events, func(e runlog.StoredEvent) bool { return uint64(e.Seq) == d.lost.Load() })
}

func TestAHoleInTheStoreEndsStreamsAndPagesBeforeIt(t *testing.T) {
	p := newPlace(t)
	edge := p.reporter()
	edge.say(event.RunStarted, event.RunStartedPayload{StartedAt: time.Now()})
	live := p.ada.follow(p.stream())
	live.must()
	p.record.lost.Store(3)
	edge.delta("two")
	edge.delta("three")
	edge.delta("four")
	edge.say(event.RunCompleted, event.RunCompletedPayload{})

	for name, s := range map[string]*follower{"live": live, "replay": p.ada.with("Last-Event-ID", "1").follow(p.stream())} {
		frames, err := s.rest()
		if err == nil || len(frames) != 1 || frames[0].id != "2" {
			t.Errorf("%s: got %v, %v; want event 2, then a cut", name, frames, err)
		}
	}
	p.ada.with("Last-Event-ID", "2").get(p.stream()).is(500, "internal")
	if !strings.Contains(string(p.anonymous().get("/metrics").body), `http_event_streams_ended_total{why="hole in the log"} 2`) {
		t.Error("the metric does not count both streams")
	}
	for _, path := range []string{p.stream(), "/web/agent-tasks/" + p.task + "/events"} {
		pages := p.ada.with("Accept", "application/json")
		var first struct {
			Items []struct{} `json:"items"`
			Next  int        `json:"next"`
		}
		pages.get(path).is(200, "").into(&first)
		if len(first.Items) != 2 || first.Next != 2 {
			t.Errorf("%s: %d events, next %d; want the two before the hole", path, len(first.Items), first.Next)
		}
		pages.get(path+"?after_seq=2").is(500, "internal")
		pages.get(path+"?after_seq=3").is(200, "") // whoever names what lies behind it may have it
	}
	p.record.lost.Store(0) // repaired
	if frames, err := p.ada.with("Last-Event-ID", "2").follow(p.stream()).rest(); err != nil || len(frames) != 3 {
		t.Errorf("after the repair: %v, %v", frames, err)
	}
}
