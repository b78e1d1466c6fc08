package sqlstore

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"

	"github.com/switchyard-dev/switchyard/hub-server/internal/cardlog"
	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/hub-server/internal/project/cards"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// maxTexts is about how many bytes of texts beside the log one page has.
const maxTexts = 1 << 20

// Facts implements cardlog.Store.
func (c *Cards) Facts(ctx context.Context, session id.Session, after int64, page cardlog.Page) (found cardlog.Facts, err error) {
	p, err := c.store.passage(ctx, c.writer, session, after, math.MaxInt64, page.Facts, page.Bytes)
	if err != nil {
		return found, err
	}
	texts, err := c.store.saidTexts(ctx, &p)
	if err != nil {
		return found, err
	}
	found = cardlog.Facts{UpTo: p.upTo, Head: p.head, Changes: p.changes}
	named := map[id.Run]cards.Run{}
	for i, f := range p.facts {
		fact := cards.Fact{Place: f.place, At: f.at, Recorded: f.recorded, Event: f.event, Payload: f.payload, Late: f.late, Whole: texts[i]}
		if m := f.message; m != nil {
			fact.Message = &cards.Message{ID: m.ID, ByAgent: !byUser(*m), Triggers: len(m.Tasks) > 0, Text: plain(*m)}
		} else if fact.Run, err = c.store.namedRun(ctx, named, f.run); err != nil {
			return found, err
		}
		found.Facts = append(found.Facts, fact)
	}
	return found, nil
}

// saidTexts reads the texts that are kept beside the log, by the facts that they are of, and ends the passage where they fill it. What the hub does not
// have is not told.
func (s *Store) saidTexts(ctx context.Context, p *passage) (texts map[int]string, err error) {
	texts = map[int]string{}
	blobs, room := Runlog{store: s}, maxTexts
	for i, f := range p.facts {
		hash := blobOf(f)
		if hash == "" {
			continue
		}
		text, err := runlog.TextOf(ctx, blobs.OpenBlob, hash)
		if err != nil && fault.CodeOf(err) != fault.NotFound {
			return nil, fmt.Errorf("read text of event at place %d: %w", f.place, err)
		}
		texts[i] = text
		if room -= len(text); room <= 0 {
			p.end(i + 1)
			break
		}
	}
	return texts, nil
}

// blobOf is where the text of a message is that its event does not have; "" for all other facts.
func blobOf(f placed) runlog.BlobHash {
	var p event.MessageCompletedPayload
	if f.event != event.MessageDone || !bytes.Contains(f.payload, []byte("content_blob")) || json.Unmarshal(f.payload, &p) != nil || p.ContentBlob == nil {
		return ""
	}
	hash, err := runlog.ParseBlobHash(p.ContentBlob.SHA256)
	if err != nil {
		return ""
	}
	return hash
}

// namedRun is what cards tell of a run.
func (s *Store) namedRun(ctx context.Context, named map[id.Run]cards.Run, of id.Run) (run cards.Run, err error) {
	run, known := named[of]
	if known {
		return run, nil
	}
	if run, err = s.cardRun(ctx, of); err != nil {
		return run, fmt.Errorf("read %s: %w", of, err)
	}
	named[of] = run
	return run, nil
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
