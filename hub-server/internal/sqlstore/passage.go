package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// errNoConversation means that a conversation is not there.
var errNoConversation = errors.New("there is no such conversation")

// placed is what stands at a place of a conversation: an event of a run, or a message.
type placed struct {
	place        int64
	at, recorded time.Time

	run     id.Run
	event   event.Type
	payload json.RawMessage
	late    bool

	message *chat.Message // nil for an event
}

// passage is what happened in a conversation behind a place, in its order; nothing is among it that has left the store or was taken back.
type passage struct {
	facts   []placed
	upTo    int64   // everything up to this place is among them
	holes   []int64 // the last place of each stretch of events that have left the store, ascending
	head    int64   // the newest place when it was read
	changes int64   // done to messages of the conversation before that
}

// gone is the newest place up to which an event has left, 0 for none.
func (p *passage) gone() (place int64) {
	for _, hole := range p.holes {
		if hole <= p.upTo {
			place = hole
		}
	}
	return place
}

// end ends the passage with the last of so many facts.
func (p *passage) end(facts int) { p.facts, p.upTo = p.facts[:facts], p.facts[facts-1].place }

// passage reads what happened behind a place and up to another: at most so many facts of about so many bytes, but one where there is any.
func (s *Store) passage(ctx context.Context, w *Writer, session id.Session, after, upTo int64, facts, bytes int) (passage, error) {
	r := factReader{store: s, session: session, room: bytes, found: passage{upTo: after}}
	// The head first: everything up to it can be seen by whoever reads now.
	const head = `SELECT last_place, last_change FROM conversation_counters WHERE session_id = $1`
	err := s.queryRowPrepared(ctx, head, string(session)).Scan(&r.found.head, &r.found.changes)
	if errors.Is(err, sql.ErrNoRows) {
		err = errNoConversation
	}
	if err != nil {
		return r.found, fmt.Errorf("read head of %s: %w", session, err)
	}
	upTo = min(r.found.head, upTo, after+int64(facts))
	if upTo <= after {
		return r.found, nil
	}
	order, err := s.order(ctx, w, session, after, upTo, facts+1)
	if err != nil {
		return r.found, err
	}
	for _, s := range joined(order) {
		if r.room <= 0 {
			break
		}
		if err := r.read(ctx, s); err != nil {
			return r.found, fmt.Errorf("read places %d to %d of %s: %w", s.place, s.end(), session, err)
		}
	}
	return r.found, nil
}

// factReader gathers a passage.
type factReader struct {
	store   *Store
	session id.Session
	room    int // bytes
	found   passage
}

// read adds what is left of a stretch, as far as there is room. At least its first row has it.
func (r *factReader) read(ctx context.Context, s stretch) error {
	switch {
	case s.seq == 0:
		r.found.upTo = s.end()
		r.found.holes = append(r.found.holes, s.end())
		return nil
	case s.run == "":
		return r.messages(ctx, s)
	}
	return r.events(ctx, s)
}

// errFull ends the reading of rows for which there is no room.
var errFull = errors.New("the page is full")

// each reads rows of a stretch while there is room for them.
func (r *factReader) each(ctx context.Context, s stretch, query string, of any, scan func(Scanner) (int, error)) error {
	rows, err := r.store.queryPrepared(ctx, query, of, s.seq, s.seq+s.places-1)
	err = scanAll(rows, err, func(row Scanner) error {
		if r.room <= 0 {
			return errFull
		}
		bytes, err := scan(row)
		r.room -= bytes
		return err
	})
	if errors.Is(err, errFull) {
		return nil
	}
	if err == nil {
		r.found.upTo = s.end()
	}
	return err
}

const selectFacts = `
SELECT event_seq, event_type, occurred_at, recorded_at, payload, late, schema_version FROM run_events
WHERE run_id = $1 AND event_seq >= $2 AND event_seq <= $3 ORDER BY event_seq`

func (r *factReader) events(ctx context.Context, s stretch) error {
	next, missing := s.seq, int64(0)
	miss := func(upTo int64) {
		missing = upTo
		r.found.holes = append(r.found.holes, s.place+upTo-s.seq)
	}
	err := r.each(ctx, s, selectFacts, string(s.run), func(row Scanner) (int, error) {
		f := placed{run: s.run}
		var seq, occurred, recorded int64
		var schema int
		err := row.Scan(&seq, &f.event, &occurred, &recorded, (*[]byte)(&f.payload), &f.late, &schema)
		if err == nil && schema > runlog.SchemaVersion {
			err = fmt.Errorf("event %d of %s has format %d, this hub reads up to %d", seq, s.run, schema, runlog.SchemaVersion)
		}
		if seq > next {
			miss(seq - 1)
		}
		next = seq + 1
		f.place, f.at, f.recorded = s.place+seq-s.seq, fromMicros(occurred), fromMicros(recorded)
		r.add(f)
		return len(f.payload), err
	})
	if err == nil && r.found.upTo == s.end() && next < s.seq+s.places {
		miss(s.seq + s.places - 1)
	}
	if err != nil || missing == 0 {
		return err
	}
	return r.store.haveLeft(ctx, s.run, missing)
}

// haveLeft fails unless all events of a run up to that one may have left. The floor moves before the first of them goes.
func (s *Store) haveLeft(ctx context.Context, run id.Run, upTo int64) error {
	var floor int64
	if err := s.queryRowPrepared(ctx, `SELECT floor_seq FROM runs WHERE run_id = $1`, string(run)).Scan(&floor); err != nil {
		return fmt.Errorf("read floor of %s: %w", run, err)
	}
	if upTo > floor {
		return fmt.Errorf("the log of %s has a hole before event %d", run, upTo+1)
	}
	return nil
}

// messages leaves out those that were taken back.
func (r *factReader) messages(ctx context.Context, s stretch) error {
	const query = `SELECT ` + messageColumns + ` FROM messages WHERE session_id = $1 AND seq >= $2 AND seq <= $3 ORDER BY seq`
	return r.each(ctx, s, query, string(r.session), func(row Scanner) (int, error) {
		m, err := scanMessage(row)
		place := s.place + int64(m.Seq) - s.seq //nolint:gosec // the store gave it
		if err != nil || m.Recalled {
			r.found.upTo = max(r.found.upTo, place)
			return 0, err
		}
		r.add(placed{place: place, at: m.CreatedAt, recorded: m.CreatedAt, message: &m})
		return len(m.Content), nil
	})
}

func (r *factReader) add(f placed) {
	r.found.facts, r.found.upTo = append(r.found.facts, f), f.place
}

// plain is what a message says, as a text.
func plain(m chat.Message) string { return strings.TrimSuffix(m.Said(), "\n") }

// byUser says whether a person has sent a message.
func byUser(m chat.Message) bool {
	_, is := m.Sender.User()
	return is
}

// wholeBlob reads a blob of at most so many bytes: false for one that is larger, or not here.
func (s *Store) wholeBlob(ctx context.Context, sha256 string, most int64) (text string, have bool, err error) {
	hash, err := runlog.ParseBlobHash(sha256)
	if err != nil {
		return "", false, nil //nolint:nilerr // it names no blob
	}
	blobs := Runlog{store: s}
	size, part, err := blobs.OpenBlob(ctx, hash)
	if fault.CodeOf(err) == fault.NotFound || err == nil && size > most {
		return "", false, nil
	}
	var b strings.Builder
	for n := 0; err == nil && int64(b.Len()) < size; n++ {
		var data []byte
		data, err = part(ctx, n)
		b.Write(data)
	}
	return b.String(), err == nil, err
}
