package chat

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Attachment is a file that somebody has uploaded. A message has it by its URL.
type Attachment struct {
	ID        id.Attachment
	Owner     id.User
	Filename  string // a label, never a path to open
	MIMEType  string // as the owner gave it: a label, never what it is served as
	Size      int64  // bytes
	Hash      runlog.BlobHash
	Upload    runlog.Upload
	CreatedAt time.Time
}

const attachmentScheme = "attachment:"

// URL is what a message calls it.
func (a Attachment) URL() string { return attachmentScheme + string(a.ID) }

// uploaded reads what URL makes; false for other addresses.
func uploaded(url string) (id.Attachment, bool) {
	text, ok := strings.CutPrefix(url, attachmentScheme)
	return id.Attachment(text), ok
}

// Uploads are the files that attachments name by their URL, each once.
func Uploads(all []wire.Attachment) (ids []id.Attachment) {
	seen := map[id.Attachment]bool{}
	for _, a := range all {
		if file, ok := uploaded(a.URL); ok && !seen[file] {
			seen[file] = true
			ids = append(ids, file)
		}
	}
	return ids
}

// AttachmentStore keeps what is known of files. Safe for concurrent use.
type AttachmentStore interface {
	// KeepAttachment makes a file of an upload, or drops the upload and returns the file that its owner has already of the same bytes, name and type.
	// fault.TooLarge when the owner's files would have more than quota bytes; fault.Conflict when the upload was swept.
	KeepAttachment(ctx context.Context, a Attachment, quota int64) (Attachment, error)
	// AttachmentFor returns a file that is the user's, or that a message has which they may read now; fault.NotFound.
	AttachmentFor(ctx context.Context, user id.User, file id.Attachment) (Attachment, error)
	// SweepAttachments drops files that were uploaded before a time and that no message has had.
	SweepAttachments(ctx context.Context, before time.Time) error
}

// Attachments keeps the files that people send to one another. Safe for concurrent use.
type Attachments struct {
	Store AttachmentStore
	Shelf *runlog.Blobs // of the bytes
	Most  int64         // bytes of one file
	Quota int64         // bytes of all files of one person
	Now   account.Clock
	Log   *slog.Logger
}

// unsentLife is how long a file waits for a message that has it, by the hub's wall clock.
const unsentLife = 24 * time.Hour

// Keep stores a file as it comes. The same file once more is the same attachment. Errors: fault.InvalidRequest, fault.BodyTooLarge,
// fault.TooLarge beyond the quota.
func (a *Attachments) Keep(ctx context.Context, by id.User, name, media string, body io.Reader) (Attachment, error) {
	if media == "" {
		media = "application/octet-stream"
	}
	label := wire.Attachment{Kind: "file", URL: "data:,", Filename: name, MIMEType: media}
	if err := wire.CheckAttachments([]wire.Attachment{label}); err != nil || name == "" {
		return Attachment{}, fault.Wrap(err, fault.InvalidRequest, "Give filename, a name of at most 255 bytes and no path, and a mime_type such as image/png.")
	}
	upload, hash, size, err := a.Shelf.Receive(ctx, body, a.Most)
	if err != nil {
		return Attachment{}, err
	}
	kept, err := a.Store.KeepAttachment(ctx, Attachment{
		ID: id.NewAttachment(), Owner: by, Filename: name, MIMEType: media, Size: size, Hash: hash, Upload: upload, CreatedAt: a.Now.Moment(),
	}, a.Quota)
	if err != nil {
		return Attachment{}, errors.Join(err, a.Shelf.Drop(ctx, upload))
	}
	return kept, nil
}

// OverQuota is the refusal of a file or trace that its owner has no room for.
func OverQuota(quota int64) error {
	return fault.New(fault.TooLarge, "This hub keeps %d bytes of files and traces for you, and this one does not fit into what is left.", quota)
}

// Get returns what is known of a file that the user may read; fault.NotFound.
func (a *Attachments) Get(ctx context.Context, user id.User, file id.Attachment) (Attachment, error) {
	return a.Store.AttachmentFor(ctx, user, file)
}

// Open returns the bytes of a file, good until ctx ends.
func (a *Attachments) Open(ctx context.Context, file Attachment) io.ReadSeeker {
	return a.Shelf.Parts(ctx, file.Upload, file.Size)
}

// sweepEvery is how often a hub looks for files that nobody sent. Several hubs do the same work; each file goes once.
const sweepEvery = time.Hour

// Run sweeps until ctx ends.
func (a *Attachments) Run(ctx context.Context) error {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		if err := a.Sweep(ctx); err != nil && ctx.Err() == nil {
			a.Log.Error("files that nobody sent are not dropped, will retry", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Sweep drops files that were uploaded and never sent.
func (a *Attachments) Sweep(ctx context.Context) error {
	return a.Store.SweepAttachments(ctx, a.Now().Add(-unsentLife))
}

// checkAttachments is wire.CheckAttachments for messages, whose attachments may be files of the hub's own.
func checkAttachments(all []wire.Attachment) error {
	checked := make([]wire.Attachment, len(all))
	for i, a := range all {
		checked[i] = a
		if file, ok := uploaded(a.URL); ok {
			if _, err := id.ParseAttachment(string(file)); err != nil {
				return fault.Wrap(err, fault.InvalidRequest, "Attachment %d: its url names no file of this hub.", i+1)
			}
			checked[i].URL = "data:,"
		}
	}
	return wire.CheckAttachments(checked)
}

// labelled returns attachments with what is known of files: nobody can send one under another name (SEC12). fault.NotFound for a file that the user
// may not read.
func (a *Attachments) labelled(ctx context.Context, user id.User, all []wire.Attachment) ([]wire.Attachment, error) {
	if len(Uploads(all)) == 0 {
		return all, nil
	}
	labelled := make([]wire.Attachment, len(all))
	for i, one := range all {
		if id, ok := uploaded(one.URL); ok {
			file, err := a.Get(ctx, user, id)
			if err != nil {
				return nil, err
			}
			one.Filename, one.MIMEType, one.Size = file.Filename, file.MIMEType, file.Size
		}
		labelled[i] = one
	}
	return labelled, nil
}

// maxForAgent is how many bytes of a file fit into a data URL that an edge takes.
const maxForAgent = wire.MaxAttachmentData/4*3 - 512

// forAgent returns attachments as an agent gets them: it has no login here, so small files go along. fault.TooLarge for one that is not.
func (a *Attachments) forAgent(ctx context.Context, user id.User, all []wire.Attachment) ([]wire.Attachment, error) {
	if len(Uploads(all)) == 0 {
		return all, nil
	}
	given := make([]wire.Attachment, len(all))
	for i, one := range all {
		if id, ok := uploaded(one.URL); ok {
			file, err := a.Get(ctx, user, id)
			if err != nil {
				return nil, err
			}
			if one.URL, err = a.inline(ctx, file); err != nil {
				return nil, err
			}
		}
		given[i] = one
	}
	return given, wire.CheckAttachments(given)
}

func (a *Attachments) inline(ctx context.Context, file Attachment) (string, error) {
	if file.Size > maxForAgent {
		return "", fault.New(fault.TooLarge, "An agent can be given files of at most %d bytes; %q has %d. Give it an address instead.", maxForAgent,
			file.Filename, file.Size)
	}
	data, err := io.ReadAll(a.Open(ctx, file))
	if err != nil {
		return "", fmt.Errorf("read %s: %w", file.ID, err)
	}
	media, _, _ := strings.Cut(file.MIMEType, ";")
	return "data:" + media + ";base64," + base64.StdEncoding.EncodeToString(data), nil
}
