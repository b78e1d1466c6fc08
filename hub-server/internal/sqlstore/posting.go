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
		if err := tx.mayPost(ctx, run.Session, by); err != nil {
			return err
		}
		return tx.startRun(ctx, by, run)
	})
}

func postingLocks(p chat.Posting) []Lock {
	locks := []Lock{LockConversation(string(p.Message.Session))}
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
	return m, nil
}

func (t *Tx) mayPost(ctx context.Context, s id.Session, by id.User) error {
	in, err := t.isMember(ctx, s, chat.OfUser(by))
	if err != nil {
		return fmt.Errorf("check membership: %w", err)
	}
	if !in {
		return sessionNotFound()
	}
	return nil
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

// startRun stores a run if its agent is still in the conversation and the person may still operate it.
func (t *Tx) startRun(ctx context.Context, by id.User, run runlog.NewRun) error {
	in, err := t.isMember(ctx, run.Session, chat.OfAgent(run.Agent))
	if err != nil {
		return fmt.Errorf("check membership of agent: %w", err)
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
	return t.insertRun(ctx, run)
}
