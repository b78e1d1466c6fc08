package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/switchyard-dev/switchyard/shared/id"
)

// fillRows is how many rows of the order are entered at once afterwards.
const fillRows = 2000

// insertOrder enters what a transaction has given places to: conversation, first place, how many, run, first number.
var insertOrder = bulk{
	begin: `INSERT INTO conversation_order (session_id, place, places, run_id, seq) VALUES `,
	width: 5,
}

// stretch is neighbours in a conversation's order: events of one run, messages, or what has left the store.
type stretch struct {
	place, places int64
	run           id.Run // "" for messages and for what has left
	seq           int64  // of the first, 0 for what has left
}

func (s stretch) end() int64 { return s.place + s.places - 1 }

// cut is the part of s behind after and up to upTo; places is not positive where there is none.
func (s stretch) cut(after, upTo int64) stretch {
	if before := after + 1 - s.place; before > 0 {
		s.place, s.places = s.place+before, s.places-before
		if s.seq > 0 {
			s.seq += before
		}
	}
	s.places = min(s.places, upTo-s.place+1)
	return s
}

// joins says whether next goes on where s ends, so that both can be read at once.
func (s stretch) joins(next stretch) bool {
	return s.run == next.run && (s.seq > 0) == (next.seq > 0) && s.end()+1 == next.place && (s.seq == 0 || s.seq+s.places == next.seq)
}

// joined are stretches in as few parts as possible.
func joined(all []stretch) (few []stretch) {
	for _, s := range all {
		if last := len(few) - 1; last >= 0 && few[last].joins(s) {
			few[last].places += s.places
			continue
		}
		few = append(few, s)
	}
	return few
}

// order returns a conversation's order behind a place, from the very next one on and without a hole, up to a place that is committed and at
// most so many rows. Places are taken in the transaction that commits them, under the conversation's counter, so none below a committed one is
// still to come.
func (s *Store) order(ctx context.Context, w *Writer, session id.Session, after, upTo int64, limit int) ([]stretch, error) {
	for {
		found, hole, err := s.readOrder(ctx, session, after, upTo, limit)
		if err != nil || len(found) > 0 || hole.places == 0 {
			return found, err
		}
		if err := s.fillOrder(ctx, w, session, hole); err != nil {
			return nil, fmt.Errorf("enter places %d to %d: %w", hole.place, hole.end(), err)
		}
	}
}

// readOrder is order as far as it was entered; without a row, hole says what was not.
func (s *Store) readOrder(ctx context.Context, session id.Session, after, upTo int64, limit int) (found []stretch, hole stretch, err error) {
	const query = `
SELECT place, places, run_id, seq FROM conversation_order
WHERE session_id = $1 AND place <= $3
  AND place >= COALESCE((SELECT MAX(place) FROM conversation_order WHERE session_id = $1 AND place <= $2 + 1), 0)
ORDER BY place LIMIT $4`
	rows, err := s.queryPrepared(ctx, query, string(session), after, upTo, limit)
	all, err := collect(rows, err, func(row Scanner) (one stretch, err error) {
		err = row.Scan(&one.place, &one.places, &one.run, &one.seq)
		return one, err
	})
	if err != nil {
		return nil, hole, fmt.Errorf("read order: %w", err)
	}
	next, entered := after+1, int64(0)
	for _, one := range all {
		if one.place > next {
			return found, stretch{place: entered + 1, places: one.place - entered - 1}, nil
		}
		entered = one.end()
		if one = one.cut(after, upTo); one.places > 0 {
			found, next = append(found, one), one.end()+1
		}
	}
	return found, stretch{place: entered + 1, places: upTo - entered}, nil
}

// fillOrder enters the beginning of a hole, or all of it, from what the store has at these places.
func (s *Store) fillOrder(ctx context.Context, w *Writer, session id.Session, hole stretch) error {
	all, err := s.standingOrder(ctx, session, hole)
	if err != nil {
		return err
	}
	var args []any
	for _, one := range all {
		args = append(args, string(session), one.place, one.places, string(one.run), one.seq)
	}
	return w.Do(ctx, []Lock{LockConversation(string(session))}, func(ctx context.Context, tx *Tx) error {
		const look = `SELECT 1 FROM conversation_order WHERE session_id = $1 AND place >= $2 AND place <= $3`
		entered, err := hasRow(tx.QueryRow(ctx, look+` LIMIT 1`, string(session), hole.place, hole.end()))
		if err != nil || entered { // by another hub, meanwhile
			return err
		}
		return tx.execRows(ctx, insertOrder, args)
	})
}

// standingOrder makes the order of a stretch of places from events and messages themselves. It may end before the stretch does. Events that have left
// between two that are there keep their names: of the same distance between place and number, nothing else can have been in between.
func (s *Store) standingOrder(ctx context.Context, session id.Session, hole stretch) ([]stretch, error) {
	const events = `
SELECT MIN(e.place), MAX(e.place) - MIN(e.place) + 1, e.run_id, MIN(e.event_seq) FROM runs r JOIN run_events e ON e.run_id = r.run_id
WHERE r.session_id = $1 AND e.place >= $2 AND e.place <= $3 GROUP BY e.run_id, e.place - e.event_seq ORDER BY 1 LIMIT $4`
	const messages = `
SELECT place, 1, '', seq FROM messages WHERE session_id = $1 AND place >= $2 AND place <= $3 ORDER BY place LIMIT $4`
	reach := hole.end()
	var all []stretch
	for _, query := range []string{events, messages} {
		rows, err := s.readDB.QueryContext(ctx, query, string(session), hole.place, hole.end(), fillRows)
		some, err := collect(rows, err, func(row Scanner) (one stretch, err error) {
			err = row.Scan(&one.place, &one.places, &one.run, &one.seq)
			return one, err
		})
		if err != nil {
			return nil, fmt.Errorf("look for what is there: %w", err)
		}
		if len(some) == fillRows {
			reach = min(reach, some[fillRows-1].end())
		}
		all = append(all, some...)
	}
	slices.SortFunc(all, func(a, b stretch) int { return cmp.Compare(a.place, b.place) })
	return joined(withGone(all, hole.place, reach)), nil
}

// withGone puts stretches of what has left between those that are there, up to reach.
func withGone(all []stretch, from, reach int64) (dense []stretch) {
	next := from
	for _, one := range all {
		if one = one.cut(next-1, reach); one.places <= 0 {
			continue
		}
		if one.place > next {
			dense = append(dense, stretch{place: next, places: one.place - next})
		}
		dense, next = append(dense, one), one.end()+1
	}
	if next <= reach {
		dense = append(dense, stretch{place: next, places: reach - next + 1})
	}
	return dense
}
