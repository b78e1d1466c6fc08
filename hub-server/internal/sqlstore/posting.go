package sqlstore

import (
	"context"
	"fmt"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Post implements chat.MessageStore.
func (c *Chat) Post(ctx context.Context, p chat.Posting) (stored chat.Message, again bool, err error) {
	err = c.writer.Do(ctx, postingLocks(p), func(ctx context.Context, tx *Tx) (err error) {
		row := tx.QueryRow(ctx, selectSent, string(p.Message.Session), string(p.Message.ClientMsgID))
		if stored, again, err = sent(row); err != nil || again {
			return err
		}
		stored, err = tx.post(ctx, p)
		return err
	})
	return stored, again, err
}

// PostOnce implements chat.MessageStore.
func (c *Chat) PostOnce(ctx context.Context, p chat.Posting, claim account.Claim) error {
	locks := append(postingLocks(p), lockAttempt(claim.Attempt))
	return c.writer.Do(ctx, locks, func(ctx context.Context, tx *Tx) error {
		if err := tx.claim(ctx, claim); err != nil {
			return err
		}
		_, err := tx.post(ctx, p)
		return err
	})
}

// StartOnce implements chat.MessageStore.
func (c *Chat) StartOnce(ctx context.Context, by id.User, run runlog.NewRun, claim account.Claim) error {
	locks := append(runLocks(run), lockAttempt(claim.Attempt))
	return c.writer.Do(ctx, locks, func(ctx context.Context, tx *Tx) error {
		if err := tx.claim(ctx, claim); err != nil {
			return err
		}
		return tx.start(ctx, by, run)
	})
}

// Start implements chat.MessageStore.
func (c *Chat) Start(ctx context.Context, by id.User, run runlog.NewRun) error {
	return c.writer.Do(ctx, runLocks(run), func(ctx context.Context, tx *Tx) error { return tx.start(ctx, by, run) })
}

func (t *Tx) start(ctx context.Context, by id.User, run runlog.NewRun) error {
	if err := t.mayPost(ctx, run.Session, by); err != nil {
		return err
	}
	if err := t.stands(ctx, run.Trigger); err != nil {
		return err
	}
	return t.startRun(ctx, by, run)
}

func postingLocks(p chat.Posting) []Lock {
	locks := []Lock{LockConversation(string(p.Message.Session))}
	if len(chat.Uploads(p.Message.Attachments)) > 0 {
		locks = append(locks, lockFiles(p.By))
	}
	for _, run := range p.Runs {
		locks = append(locks, runLocks(run)...)
	}
	return locks
}

// post stores the message, then its runs: everybody sees the question before what comes of it.
func (t *Tx) post(ctx context.Context, p chat.Posting) (chat.Message, error) {
	m := p.Message
	if err := t.mayPost(ctx, m.Session, p.By); err != nil {
		return m, err
	}
	if err := t.knowsReply(ctx, m); err != nil {
		return m, err
	}
	var err error
	if m.Seq, err = t.insertMessage(ctx, m); err != nil {
		return m, err
	}
	for _, run := range p.Runs {
		if err := t.startRun(ctx, p.By, run); err != nil {
			return m, err
		}
	}
	return m, t.notify(ctx, p.Notices...)
}

func (t *Tx) mayPost(ctx context.Context, s id.Session, by id.User) error {
	in, err := t.memberNow(ctx, s, chat.OfUser(by))
	if err == nil && !in {
		err = sessionNotFound()
	}
	if err != nil {
		return err
	}
	return t.mayChange(ctx, s)
}

// mayChange refuses what would say or start something in a conversation that is there to be read.
func (t *Tx) mayChange(ctx context.Context, s id.Session) error {
	closed, err := hasRow(t.QueryRow(ctx, `SELECT 1 FROM sessions WHERE id = $1 AND read_only`, string(s)))
	if err == nil && closed {
		err = chat.ReadOnlyError()
	}
	return err
}

func (t *Tx) knowsReply(ctx context.Context, m chat.Message) error {
	if m.ReplyTo == "" {
		return nil
	}
	const query = `SELECT 1 FROM messages WHERE id = $1 AND session_id = $2`
	known, err := hasRow(t.QueryRow(ctx, query, string(m.ReplyTo), string(m.Session)))
	if err != nil {
		return fmt.Errorf("look for message: %w", err)
	}
	if !known {
		return messageNotFound()
	}
	return nil
}

// stands says that a message was not recalled.
func (t *Tx) stands(ctx context.Context, m id.Message) error {
	gone, err := hasRow(t.QueryRow(ctx, `SELECT 1 FROM messages WHERE id = $1 AND recalled_at > 0`, string(m)))
	if err == nil && gone {
		err = fault.New(fault.Conflict, "The message was taken back.")
	}
	return err
}

// startRun stores a run if its agent is still in the conversation and the person may still operate it; chat.ErrMoved if they have chosen another
// approval mode since it was prepared.
func (t *Tx) startRun(ctx context.Context, by id.User, run runlog.NewRun) error {
	in, err := t.memberNow(ctx, run.Session, chat.OfAgent(run.Agent))
	if err != nil {
		return err
	}
	if !in {
		return fault.New(fault.AgentUnknown, "The agent %s is not in this conversation. Add it first.", run.AgentName)
	}
	may, err := hasRow(t.QueryRow(ctx, `SELECT 1 FROM agents a WHERE a.id = $2 AND `+operatedBy, string(by), string(run.Agent)))
	if err != nil {
		return fmt.Errorf("check right to operate: %w", err)
	}
	if !may {
		return fleet.OperateRequired(run.AgentName)
	}
	mode, err := approvalMode(t.QueryRow(ctx, selectMode, string(run.Session), string(by)))
	switch {
	case err != nil:
		return err
	case mode != run.Placement.Mode:
		return chat.ErrMoved
	}
	if run.Alone {
		if err := t.idle(ctx, run.Session); err != nil {
			return err
		}
	}
	return t.insertRun(ctx, run)
}
