package frames

import (
	"errors"
	"slices"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// A row that cannot be read holds up what comes behind it, and nothing that comes before.
func TestWhatComesBeforeARowThatCannotBeReadIsExpanded(t *testing.T) {
	r := &fakeRecord{
		message: chat.Message{ID: id.NewMessage(), Session: header.Session, Sender: chat.OfAgent(header.Agent), Content: []byte(`{}`)},
		events:  []runlog.StoredEvent{committed(1, event.Thinking, `{}`), committed(2, event.RunFailed, `[]`), committed(3, event.Thinking, `{}`)},
	}
	said := delivery.Row{Kind: delivery.KindMessage, Message: r.message.ID}
	for name, bad := range map[string]delivery.Row{"of an event that is none": runRow(2, 2), "of a newer format": {Kind: "of tomorrow"}} {
		got, err := NewExpander(r).Expand(t.Context(), []delivery.Row{said, runRow(1, 1), bad, runRow(3, 3)})
		if err == nil || len(got) != 2 || len(got[0].Bodies) != 1 || len(got[1].Bodies) != 1 {
			t.Errorf("a row %s: %+v, error %v, want the two rows before it", name, got, err)
		}
	}
	r.spoilt = r.message.ID
	got, err := NewExpander(r).Expand(t.Context(), []delivery.Row{runRow(1, 1), runRow(3, 3), said, runRow(3, 3)})
	if !errors.Is(err, errSpoilt) || len(got) != 2 || len(got[0].Bodies) != 1 || len(got[1].Bodies) != 1 {
		t.Errorf("a message that cannot be read: %+v, error %v, want the two rows before it", got, err)
	}
}

// However many rows there are, what they are about is asked for once.
func TestRowsAreReadTogether(t *testing.T) {
	r := &fakeRecord{message: chat.Message{ID: id.NewMessage(), Content: []byte(`{}`)}}
	var rows []delivery.Row
	for seq := range uint64(20) {
		r.events = append(r.events, committed(runlog.EventSeq(seq+1), event.Thinking, `{}`))
		rows = append(rows, runRow(seq+1, seq+1), delivery.Row{Kind: delivery.KindMessage, Message: r.message.ID})
	}
	got, err := NewExpander(r).Expand(t.Context(), rows)
	if err != nil || len(got) != len(rows) {
		t.Fatalf("%d rows of %d, error %v", len(got), len(rows), err)
	}
	if r.reads != 3 {
		t.Errorf("the record was read %d times, want once each for runs, events and messages", r.reads)
	}
	if want := []Stretch{{header.Run, 1, 20}}; !slices.Equal(r.stretches, want) {
		t.Errorf("asked for %v, want %v", r.stretches, want)
	}
}
