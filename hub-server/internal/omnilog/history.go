package omnilog

import (
	"context"
	"slices"

	"github.com/switchyard-dev/switchyard/shared/id"
	message "github.com/switchyard-dev/switchyard/shared/omni"
)

// Position is where a message stands: the place of its fact, and which of the messages of that fact it is, from 0.
type Position struct {
	Place int64
	N     int
}

func (p Position) before(q Position) bool {
	return p.Place < q.Place || p.Place == q.Place && p.N < q.N
}

// AtTheEnd is behind all messages.
var AtTheEnd = Position{Place: toTheEnd}

// Item is a message of the history. Fragments are none: the complete message has what they say.
type Item struct {
	Position
	Edge    id.Edge // whose machine has the paths in a session_meta, "" where that is not known and for all else
	Message message.Message
}

// History is a part of what was said in a conversation.
type History struct {
	Items []Item
	UpTo  int64 // everything up to this place was read that lies behind where it begins
	More  bool
	View  View // how the conversation stood when it was read
}

const (
	// historyBytes is about how many bytes of messages a part has.
	historyBytes = 4 << 20
	// historyPlaces is about how many places are read for a part that has a message: a message may be of many fragments.
	historyPlaces = 20_000
)

// After returns the messages behind a place, the oldest first: about limit of them, as the messages of one fact stay together, and fewer where much
// has to be read for them. Errors as for Follow.
func (l *Logs) After(ctx context.Context, session id.Session, after int64, limit int) (History, error) {
	for {
		h, err := l.partAfter(ctx, session, after, limit)
		if after != FromTheBeginning || !trimmed(err) {
			return h, err
		} // it begins later by now
	}
}

func (l *Logs) partAfter(ctx context.Context, session id.Session, after int64, limit int) (h History, err error) {
	r := Reader{line: l.take(session)}
	defer l.leave(r.line)
	if h.View, err = r.begin(ctx, after); err != nil {
		return h, err
	}
	size, began := 0, r.after
	for more := true; more; {
		var entries []Entry
		if entries, more, err = r.Read(ctx, historyBytes-size); err != nil {
			return h, err
		}
		for _, e := range entries {
			if len(h.Items) >= limit || size >= historyBytes {
				h.More = true
				return h, nil
			}
			h.Items = append(h.Items, itemsOf(e)...)
			size += e.bytes()
			h.UpTo = e.Place
		}
		h.UpTo = r.after
		if h.More = more; more && len(h.Items) > 0 && h.UpTo-began >= l.places {
			return h, nil
		}
	}
	return h, nil
}

func itemsOf(e Entry) (items []Item) {
	for n, m := range e.Messages {
		if !m.IsPartial() {
			items = append(items, Item{Position{e.Place, n}, e.Edges[n], m})
		}
	}
	return items
}

// Before returns the last messages before a position, at most limit of them, the oldest first, and fewer where much has to be read for them. Errors as for Follow, but that a position at or
// before the floor has nothing before it.
func (l *Logs) Before(ctx context.Context, session id.Session, before Position, limit int) (h History, err error) {
	r := Reader{line: l.take(session)}
	defer l.leave(r.line)
	if h.View, err = r.line.view(ctx); err != nil {
		return h, err
	}
	if before != AtTheEnd && before.Place > h.View.Place {
		return h, ErrAhead
	}
	h.UpTo = min(before.Place, h.View.Place)
	room := historyBytes
	for end := h.UpTo; end > h.View.Floor; {
		t := tally{limit: limit - len(h.Items), room: room}
		begin, err := r.stretch(ctx, end, before, &t)
		if trimmed(err) {
			return h, nil // it has left meanwhile
		}
		if err != nil {
			return h, err
		}
		h.Items = append(t.last, h.Items...)
		full := len(h.Items) >= limit || t.bytes >= room || len(h.Items) > 0 && h.UpTo-begin >= l.places
		if h.More = t.some || full && begin > h.View.Floor; h.More || full {
			return h, nil
		}
		end, room = begin, room-t.bytes
	}
	return h, nil
}

// stretch tallies the messages between a place and the checkpoint before it, and where that is.
func (r *Reader) stretch(ctx context.Context, end int64, before Position, t *tally) (from int64, err error) {
	begin, err := r.line.logs.store.Checkpoint(ctx, r.line.session, end-1, Rules)
	if err != nil {
		return 0, err
	}
	f, err := foldAt(begin)
	if err != nil {
		return 0, err
	}
	for f.state.Place() < end {
		page, err := r.facts(ctx, f.state.Place(), end)
		if err != nil {
			return 0, err
		}
		for _, e := range f.all(page) {
			for _, item := range itemsOf(e) {
				if item.before(before) {
					t.add(item)
				}
			}
		}
	}
	return begin.Place, nil
}

// tally keeps the last messages that it gets: at most limit, of at most so many bytes, but one.
type tally struct {
	limit int
	room  int
	last  []Item
	bytes int
	some  bool // there were more
}

func (t *tally) add(item Item) {
	t.last, t.bytes = append(t.last, item), t.bytes+len(item.Message.Bytes())
	drop := 0
	for left := t.bytes; len(t.last)-drop > 1 && (len(t.last)-drop > t.limit || left > t.room); drop++ {
		left -= len(t.last[drop].Message.Bytes())
		t.bytes = left
	}
	if drop > 0 {
		t.last, t.some = slices.Delete(t.last, 0, drop), true
	}
}
