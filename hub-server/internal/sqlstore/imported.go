package sqlstore

import (
	"context"
	"fmt"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Import implements chat.ImportStore. The owner becomes a member last: all that was said is there then, and is no news.
func (c *Chat) Import(ctx context.Context, i chat.Import, claim account.Claim) error {
	if err := c.writer.needs(ctx, FormatControls); err != nil { // a hub from before would let people write there
		return err
	}
	s := i.Session
	locks := append(lockSetOf(s.ID, i.Run.ID), lockAttempt(claim.Attempt), lockAgents(i.Agent.Owner), lockFiles(s.Owner))
	return c.writer.Do(ctx, locks, func(ctx context.Context, tx *Tx) error {
		if err := tx.claim(ctx, claim); err != nil {
			return err
		}
		if err := tx.roomInGroups(ctx, i.Limits, s.Owner, s.Members...); err != nil {
			return err
		}
		if err := tx.chargeImport(ctx, i); err != nil {
			return err
		}
		if err := tx.insertSession(ctx, s); err != nil {
			return err
		}
		if _, err := tx.insertAgent(ctx, i.Agent, `TRUE`); err != nil {
			return err
		}
		if err := tx.insertRun(ctx, i.Run); err != nil {
			return err
		}
		if err := tx.relive(ctx, i); err != nil {
			return err
		}
		for _, m := range s.Members {
			if err := tx.putMember(ctx, s.ID, m); err != nil {
				return err
			}
			tx.emitJoined(s.ID, m.ID, i.Created)
		}
		return nil
	})
}

// chargeImport counts the lines among the files of who brings them.
func (t *Tx) chargeImport(ctx context.Context, i chat.Import) error {
	if err := t.roomInFiles(ctx, i.Session.Owner, i.Bytes, i.Quota); err != nil {
		return err
	}
	const charge = `INSERT INTO imports (session_id, user_id, bytes) VALUES ($1, $2, $3)`
	if _, err := t.Exec(ctx, charge, string(i.Session.ID), string(i.Session.Owner), i.Bytes); err != nil {
		return fmt.Errorf("charge an import: %w", err)
	}
	return nil
}

// relive stores what has happened in an imported conversation, of which nothing else is there yet: all at once.
func (t *Tx) relive(ctx context.Context, i chat.Import) error {
	head, err := t.head(ctx, i.Run.ID)
	if err != nil {
		return fmt.Errorf("read head of the imported run: %w", err)
	}
	life := relived{tx: t, session: i.Session.ID, log: head.Grow()}
	for _, step := range i.Steps {
		life.happen(step)
	}
	const count = `UPDATE conversation_counters SET last_seq = $2, last_place = $3, updated_at = $4 WHERE session_id = $1`
	if _, err := t.Exec(ctx, count, string(i.Session.ID), int64(life.said), life.place, micros(t.now)); err != nil { //nolint:gosec // a few thousand
		return fmt.Errorf("count what has happened: %w", err)
	}
	for _, rows := range []struct {
		of   bulk
		args []any
	}{{insertOrder, life.order}, {insertEvents, life.events}, {insertMessages, life.messages}} {
		if err := t.execRows(ctx, rows.of, rows.args); err != nil {
			return fmt.Errorf("store what has happened: %w", err)
		}
	}
	if err := t.updateRuns(ctx, []*runlog.Growth{life.log}); err != nil {
		return fmt.Errorf("update the imported run: %w", err)
	}
	return t.saveConsequences(ctx, life.log)
}

// relived gathers the rows of a conversation from its beginning.
type relived struct {
	tx      *Tx
	session id.Session
	log     *runlog.Growth
	place   int64
	said    chat.Seq

	order, events, messages []any
}

func (l *relived) happen(step chat.ImportStep) {
	from := len(l.log.Events)
	for _, e := range step.Events {
		l.log.Append(e)
	}
	if placed := l.log.Events[from:]; len(placed) > 0 {
		l.order = append(l.order, string(l.session), l.place+1, len(placed), string(l.log.Run), int64(placed[0].Seq)) //nolint:gosec // a few thousand
		for _, e := range placed {
			l.place++
			l.events = l.tx.appendEvent(l.events, l.log.Run, e, l.place, noLane)
		}
	}
	if step.Message == nil {
		return
	}
	l.place++
	l.said++
	m := *step.Message
	m.Seq = l.said
	l.order = append(l.order, string(l.session), l.place, 1, "", int64(m.Seq)) //nolint:gosec // a few thousand
	l.messages = appendMessage(l.messages, m, l.place, "", "")
	l.tx.emitMessage(m, 0)
}

var _ chat.ImportStore = (*Chat)(nil)
