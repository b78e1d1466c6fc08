package sqlstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/hub-server/internal/omnilog"
	"github.com/switchyard-dev/switchyard/hub-server/internal/project/omni"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	message "github.com/switchyard-dev/switchyard/shared/omni"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// maxBlobs is about how many bytes of blobs one page of facts has. A larger one has a page of its own.
const maxBlobs = 4 << 20

// Facts implements omnilog.Store.
func (o *Omni) Facts(ctx context.Context, session id.Session, after, upTo int64, page omnilog.Page) (found omnilog.Facts, err error) {
	p, err := o.store.passage(ctx, o.writer, session, after, upTo, page.Facts, page.Bytes)
	if errors.Is(err, errNoConversation) {
		return found, omnilog.ErrUnknown
	}
	if err != nil {
		return found, err
	}
	blobs, err := o.store.blobsOf(ctx, &p)
	if err != nil {
		return found, err
	}
	found = omnilog.Facts{UpTo: p.upTo, Gone: p.gone(), Head: p.head, Changes: p.changes}
	runs := map[id.Run]omni.Run{}
	for i, f := range p.facts {
		fact := omni.Fact{Place: f.place, At: f.at, Event: f.event, Payload: f.payload, Blobs: blobs[i], Late: f.late}
		if m := f.message; m != nil {
			said := saidIn(*m)
			fact.Message = &said
		} else if fact.Run, err = o.store.runAt(ctx, runs, f.run); err != nil {
			return found, err
		}
		found.Facts = append(found.Facts, fact)
	}
	return found, nil
}

// saidIn is a message as the fold takes it: what was written in it, and what was sent with it.
func saidIn(m chat.Message) omni.Message {
	said := omni.Message{ByAgent: !byUser(m)}
	for _, a := range m.Attachments {
		said.Files = append(said.Files, omni.File{Image: a.Kind == "image", Name: a.Filename, Type: a.MIMEType, URL: a.URL})
	}
	m.Attachments = nil
	said.Text = strings.TrimSuffix(m.Said(), "\n")
	return said
}

// runAt is a run with who works on it and where, and what it was told if it goes on for another.
func (s *Store) runAt(ctx context.Context, known map[id.Run]omni.Run, of id.Run) (run omni.Run, err error) {
	if run, ok := known[of]; ok {
		return run, nil
	}
	const query = `
SELECT run_id, parent_run_id, edge_id, agent_id, CASE WHEN continues_run_id <> '' THEN dispatch END FROM runs WHERE run_id = $1`
	var dispatch []byte
	if err := s.queryRowPrepared(ctx, query, string(of)).Scan(&run.ID, &run.Parent, &run.Edge, &run.Agent, &dispatch); err != nil {
		return run, fmt.Errorf("read %s: %w", of, err)
	}
	if dispatch != nil {
		var d wire.Dispatch
		if err := json.Unmarshal(dispatch, &d); err != nil {
			return run, fmt.Errorf("read what %s was told: %w", of, err)
		}
		run.Told = d.Prompt
	}
	known[of] = run
	return run, nil
}

// blobsOf reads what the facts of a passage point at, by the facts, and ends the passage where it fills a page. What is not here, or larger than
// a message may be, is not told.
func (s *Store) blobsOf(ctx context.Context, p *passage) (found map[int]map[string]string, err error) {
	found = map[int]map[string]string{}
	room := maxBlobs
	for i, f := range p.facts {
		for _, ref := range event.BlobRefs(f.payload) {
			text, have, err := s.wholeBlob(ctx, ref.SHA256, message.MaxBytes)
			if err != nil {
				return nil, fmt.Errorf("read blob of event at place %d: %w", f.place, err)
			}
			if !have {
				continue
			}
			if found[i] == nil {
				found[i] = map[string]string{}
			}
			found[i][ref.SHA256] = text
			room -= len(text)
		}
		if room <= 0 {
			p.end(i + 1)
			break
		}
	}
	return found, nil
}
