package sqlstore

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/switchyard-dev/switchyard/hub-server/internal/cardlog"
	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/hub-server/internal/project/cards"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Facts implements cardlog.Store.
func (c *Cards) Facts(ctx context.Context, session id.Session, after int64, page cardlog.Page) (cardlog.Facts, error) {
	r := factReader{store: c.store, session: session, room: page.Bytes, found: cardlog.Facts{UpTo: after}}
	// The head first: everything up to it can be seen by whoever reads now.
	const head = `SELECT last_place, last_change FROM conversation_counters WHERE session_id = $1`
	if err := c.store.queryRowPrepared(ctx, head, string(session)).Scan(&r.found.Head, &r.found.Changes); err != nil {
		return r.found, fmt.Errorf("read head of %s: %w", session, err)
	}
	upTo := min(r.found.Head, after+int64(page.Facts))
	if upTo <= after {
		return r.found, nil
	}
	order, err := c.store.order(ctx, c.writer, session, after, upTo, page.Facts+1)
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
	if err := r.fetch(ctx); err != nil {
		return r.found, err
	}
	return r.found, r.name(ctx)
}

// factReader gathers the facts of one page.
type factReader struct {
	store   *Store
	session id.Session
	room    int // bytes
	found   cardlog.Facts
}

// read adds what is left of a stretch, as far as there is room. At least its first row has it.
func (r *factReader) read(ctx context.Context, s stretch) error {
	switch {
	case s.seq == 0:
		r.found.UpTo = s.end()
		return nil
	case s.run == "":
		return r.messages(ctx, s)
	}
	return r.events(ctx, s)
}

// maxTexts is about how many bytes of texts beside the log one page has.
const maxTexts = 1 << 20

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
		r.found.UpTo = s.end()
	}
	return err
}

const selectFacts = `
SELECT event_seq, event_type, occurred_at, recorded_at, payload, late, schema_version FROM run_events
WHERE run_id = $1 AND event_seq >= $2 AND event_seq <= $3 ORDER BY event_seq`

func (r *factReader) events(ctx context.Context, s stretch) error {
	next, missing := s.seq, int64(0)
	err := r.each(ctx, s, selectFacts, string(s.run), func(row Scanner) (int, error) {
		f := cards.Fact{Run: cards.Run{ID: s.run}}
		var seq, occurred, recorded int64
		var schema int
		err := row.Scan(&seq, &f.Event, &occurred, &recorded, (*[]byte)(&f.Payload), &f.Late, &schema)
		if err == nil && schema > runlog.SchemaVersion {
			err = fmt.Errorf("event %d of %s has format %d, this hub reads up to %d", seq, s.run, schema, runlog.SchemaVersion)
		}
		if seq > next {
			missing = seq - 1
		}
		next = seq + 1
		f.Place, f.At, f.Recorded = s.place+seq-s.seq, fromMicros(occurred), fromMicros(recorded)
		r.add(f)
		return len(f.Payload), err
	})
	if err == nil && r.found.UpTo == s.end() && next < s.seq+s.places {
		missing = s.seq + s.places - 1
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
			r.found.UpTo = max(r.found.UpTo, place)
			return 0, err
		}
		_, byUser := m.Sender.User()
		r.add(cards.Fact{Place: place, At: m.CreatedAt, Recorded: m.CreatedAt, Message: &cards.Message{
			ID: m.ID, ByAgent: !byUser, Triggers: len(m.Tasks) > 0, Text: plain(m),
		}})
		return len(m.Content), nil
	})
}

func (r *factReader) add(f cards.Fact) {
	r.found.Facts, r.found.UpTo = append(r.found.Facts, f), f.Place
}

// plain is what a message says, as a text.
func plain(m chat.Message) string { return strings.TrimSuffix(m.Said(), "\n") }

// fetch reads the texts that are kept beside the log, and ends the page where they fill it. What the hub does not have is not told.
func (r *factReader) fetch(ctx context.Context) error {
	blobs, room := Runlog{store: r.store}, maxTexts
	for i := range r.found.Facts {
		f := &r.found.Facts[i]
		hash := blobOf(*f)
		if hash == "" {
			continue
		}
		text, err := runlog.TextOf(ctx, blobs.OpenBlob, hash)
		if err != nil && fault.CodeOf(err) != fault.NotFound {
			return fmt.Errorf("read text of event at place %d: %w", f.Place, err)
		}
		f.Whole = text
		if room -= len(text); room <= 0 && i+1 < len(r.found.Facts) {
			r.found.Facts, r.found.UpTo = r.found.Facts[:i+1], f.Place
			return nil
		}
	}
	return nil
}

// blobOf is where the text of a message is that its event does not have; "" for all other facts.
func blobOf(f cards.Fact) runlog.BlobHash {
	var p event.MessageCompletedPayload
	if f.Event != event.MessageDone || !bytes.Contains(f.Payload, []byte("content_blob")) || json.Unmarshal(f.Payload, &p) != nil || p.ContentBlob == nil {
		return ""
	}
	hash, err := runlog.ParseBlobHash(p.ContentBlob.SHA256)
	if err != nil {
		return ""
	}
	return hash
}

// name adds what cards tell of the runs.
func (r *factReader) name(ctx context.Context) error {
	named := map[id.Run]cards.Run{}
	for i, f := range r.found.Facts {
		if f.Message != nil {
			continue
		}
		run, known := named[f.Run.ID]
		if !known {
			var err error
			if run, err = r.store.cardRun(ctx, f.Run.ID); err != nil {
				return fmt.Errorf("read %s: %w", f.Run.ID, err)
			}
			named[run.ID] = run
		}
		r.found.Facts[i].Run = run
	}
	return nil
}

func (s *Store) cardRun(ctx context.Context, of id.Run) (run cards.Run, err error) {
	const query = `
SELECT r.run_id, r.parent_run_id, r.agent_name, r.trigger_id, COALESCE(m.content_type, ''), COALESCE(m.content, $2), COALESCE(m.recalled_at, 0)
FROM runs r LEFT JOIN messages m ON m.id = r.trigger_id AND m.session_id = r.session_id WHERE r.run_id = $1`
	var asked chat.Message
	var recalled int64
	err = s.queryRowPrepared(ctx, query, string(of), []byte(`{}`)).Scan(&run.ID, &run.Parent, &run.Agent, &run.Trigger, &asked.ContentType,
		(*[]byte)(&asked.Content), &recalled)
	asked.Recalled = recalled > 0
	run.Asked = plain(asked)
	return run, err
}
