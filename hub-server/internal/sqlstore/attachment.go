package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

var _ chat.AttachmentStore = (*Chat)(nil)

const attachmentColumns = `a.id, a.owner_id, a.filename, a.mime_type, a.size, a.sha256, a.upload_id, a.created_at`

func scanAttachment(row Scanner) (a chat.Attachment, err error) {
	var upload, created int64
	err = row.Scan(&a.ID, &a.Owner, &a.Filename, &a.MIMEType, &a.Size, &a.Hash, &upload, &created)
	a.Upload, a.CreatedAt = uploadOf(upload), fromMicros(created)
	if errors.Is(err, sql.ErrNoRows) {
		err = attachmentNotFound()
	}
	return a, err
}

func attachmentNotFound() error {
	return fault.New(fault.NotFound, "There is no such file, or it is not yours to see.")
}

// KeepAttachment implements chat.AttachmentStore.
func (c *Chat) KeepAttachment(ctx context.Context, a chat.Attachment, quota int64) (kept chat.Attachment, err error) {
	locks := []Lock{lockFiles(a.Owner)}
	err = c.writer.Do(ctx, locks, func(ctx context.Context, tx *Tx) (err error) {
		const same = `UPDATE attachments SET created_at = $5 WHERE owner_id = $1 AND sha256 = $2 AND filename = $3 AND mime_type = $4
RETURNING id, owner_id, filename, mime_type, size, sha256, upload_id, created_at`
		kept, err = scanAttachment(tx.QueryRow(ctx, same, string(a.Owner), string(a.Hash), a.Filename, a.MIMEType, micros(a.CreatedAt)))
		if fault.CodeOf(err) != fault.NotFound {
			if err == nil {
				err = tx.dropParts(ctx, int64(a.Upload)) //nolint:gosec // as it was stored
			}
			return errors.Join(err, tx.endUpload(ctx, a))
		}
		kept = a
		return tx.keepAttachment(ctx, a, quota)
	})
	return kept, err
}

func (t *Tx) keepAttachment(ctx context.Context, a chat.Attachment, quota int64) error {
	if err := t.roomInFiles(ctx, a.Owner, a.Size, quota); err != nil {
		return err
	}
	const insert = `
INSERT INTO attachments (id, owner_id, upload_id, sha256, size, filename, mime_type, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`
	_, err := t.Exec(ctx, insert, string(a.ID), string(a.Owner), int64(a.Upload), string(a.Hash), a.Size, a.Filename, a.MIMEType, //nolint:gosec // see above
		micros(a.CreatedAt))
	if err != nil {
		return fmt.Errorf("insert attachment: %w", err)
	}
	return t.endUpload(ctx, a)
}

// roomInFiles refuses bytes that the files and imported traces of a person leave no room for. It needs lockFiles.
func (t *Tx) roomInFiles(ctx context.Context, owner id.User, more, quota int64) error {
	var held int64
	const all = `SELECT CAST(COALESCE((SELECT SUM(size) FROM attachments WHERE owner_id = $1), 0) +
    COALESCE((SELECT SUM(bytes) FROM imports WHERE user_id = $1), 0) AS BIGINT)`
	if err := t.QueryRow(ctx, all, string(owner)).Scan(&held); err != nil {
		return fmt.Errorf("measure files: %w", err)
	}
	if held+more > quota {
		return chat.OverQuota(quota)
	}
	return nil
}

// endUpload keeps the sweep from the parts. fault.Conflict if it was there before.
func (t *Tx) endUpload(ctx context.Context, a chat.Attachment) error {
	open, err := t.Exec(ctx, `DELETE FROM blob_uploads WHERE upload_id = $1`, int64(a.Upload)) //nolint:gosec // see above
	if err != nil {
		return fmt.Errorf("end upload: %w", err)
	}
	if open == 0 {
		return fault.New(fault.Conflict, "The upload took more than a day. Upload the file again.")
	}
	return nil
}

// lockFiles is for what changes which files somebody keeps.
func lockFiles(owner id.User) Lock { return LockAccount("files " + string(owner)) }

func uploadOf(stored int64) runlog.Upload { return runlog.Upload(stored) } //nolint:gosec // as it was stored

// readableFile says that a file is the user's, or that a message has it now which they may read now: one that was taken back has it no more. No label
// can look like the address: in JSON its quotes would be escaped. $1 the file, $2 the user.
const readableFile = `a.id = $1 AND (a.owner_id = $2 OR EXISTS (
    SELECT 1 FROM attachment_messages r
      JOIN messages m ON m.id = r.message_id
      JOIN session_members s ON s.session_id = m.session_id AND s.member_id = $2 AND s.left_at IS NULL
     WHERE r.attachment_id = a.id AND m.attachments LIKE '%"url":"attachment:' || a.id || '"%'))`

// AttachmentFor implements chat.AttachmentStore.
func (c *Chat) AttachmentFor(ctx context.Context, user id.User, file id.Attachment) (chat.Attachment, error) {
	const query = `SELECT ` + attachmentColumns + ` FROM attachments a WHERE ` + readableFile
	return scanAttachment(c.store.queryRowPrepared(ctx, query, string(file), string(user)))
}

// referAttachments notes which files a message is about to have. Its sender must be able to read them without it. A file that was never sent is its
// owner's alone: that needs lockFiles.
func (t *Tx) referAttachments(ctx context.Context, m chat.Message) error {
	for _, file := range chat.Uploads(m.Attachments) {
		const use = `UPDATE attachments SET sent = 1 WHERE id = $1 AND owner_id = $2 AND sent = 0`
		if _, err := t.Exec(ctx, use, string(file), string(m.Sender)); err != nil {
			return fmt.Errorf("use attachment: %w", err)
		}
		readable, err := hasRow(t.QueryRow(ctx, `SELECT 1 FROM attachments a WHERE `+readableFile, string(file), string(m.Sender)))
		if err != nil {
			return fmt.Errorf("look for attachment: %w", err)
		}
		if !readable {
			return attachmentNotFound()
		}
		const insert = `INSERT INTO attachment_messages (attachment_id, message_id) VALUES ($1, $2) ON CONFLICT (attachment_id, message_id) DO NOTHING`
		if _, err := t.Exec(ctx, insert, string(file), string(m.ID)); err != nil {
			return fmt.Errorf("note attachment: %w", err)
		}
	}
	return nil
}

// SweepAttachments implements chat.AttachmentStore. It drops one file per transaction, so that no commit waits long for it.
func (c *Chat) SweepAttachments(ctx context.Context, before time.Time) error {
	const oldest = `SELECT ` + attachmentColumns + ` FROM attachments a WHERE a.sent = 0 AND a.created_at < $1 ORDER BY a.created_at LIMIT 1`
	for {
		file, err := scanAttachment(c.store.queryRowPrepared(ctx, oldest, micros(before)))
		if fault.CodeOf(err) == fault.NotFound {
			return nil
		}
		if err != nil {
			return fmt.Errorf("look for files that nobody sent: %w", err)
		}
		err = c.writer.Do(ctx, []Lock{lockFiles(file.Owner)}, func(ctx context.Context, tx *Tx) error {
			gone, err := tx.Exec(ctx, `DELETE FROM attachments WHERE id = $1 AND sent = 0 AND created_at < $2`, string(file.ID), micros(before))
			if err != nil || gone == 0 {
				return err // it was sent meanwhile, or uploaded again
			}
			return tx.dropParts(ctx, int64(file.Upload)) //nolint:gosec // as it was stored
		})
		if err != nil {
			return fmt.Errorf("sweep attachment: %w", err)
		}
	}
}
