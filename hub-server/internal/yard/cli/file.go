package cli

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/screen"
	"github.com/switchyard-dev/switchyard/shared/supervise"
)

type fileCmd struct {
	Get fileGetCmd `cmd:"" help:"Fetch a file that somebody has sent, and check that it is whole."`
}

type fileGetCmd struct {
	File string `arg:"" help:"The file: its id, as the attachment of a message has it."`
	place
}

// Help is shown below the usage.
func (fileGetCmd) Help() string {
	return `Examples:
  yard --json messages demo | jq -r '.attachments[]?.url'
  yard file get attachment:att_01912f5c-7a10-7000-8000-000000000001 -o plan.pdf`
}

// Run fetches a file, and goes on by itself where that breaks off.
func (c fileGetCmd) Run(s *session) error {
	return s.with(func(h *hub) error {
		id := fileID(c.File)
		found, err := client.Decode[client.UploadedFile](h.API().GetAttachment(s.ctx, id))
		if err != nil {
			return err
		}
		body, w := io.Pipe()
		fetching := supervise.NewGroup(s.ctx)
		fetching.Go(func(ctx context.Context) error {
			w.CloseWithError(h.Download(ctx, id, w)) //nolint:errcheck // never fails
			return nil
		})
		var name string
		if c.Output == "-" {
			err = whole(s.Out, body, found.Filename, found.Sha256)
		} else {
			name, err = c.save(body, found.Filename, found.Sha256)
		}
		body.Close() //nolint:errcheck // never fails
		if err := errors.Join(err, fetching.Wait()); err != nil || name == "" {
			return err
		}
		return s.print(struct {
			client.UploadedFile
			File string `json:"file"`
		}{found, name}, func() error { return s.say("%s, %s", screen.Clean(name), screen.Size(found.Size)) })
	})
}

// fileID takes an id, or the address by which a message has the file.
func fileID(ref string) client.AttachmentID { return strings.TrimPrefix(ref, "attachment:") }
