package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// Upload gives the hub a file to send: a message has it as an attachment with the URL of the answer. file is read from its beginning, and once more
// if the hub wants another token. The same file once more is the same attachment, so a call that failed may be repeated.
func (c *Client) Upload(ctx context.Context, name, media string, file io.ReadSeeker) (UploadedFile, error) {
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return UploadedFile{}, fmt.Errorf("measure %s: %w", name, err)
	}
	asked := UploadAttachmentParams{Filename: name}
	if media != "" {
		asked.MimeType = &media
	}
	fromStart := func() (io.ReadCloser, error) {
		_, err := file.Seek(0, io.SeekStart)
		return io.NopCloser(file), err
	}
	body, err := fromStart()
	if err != nil {
		return UploadedFile{}, fmt.Errorf("read %s: %w", name, err)
	}
	return Decode[UploadedFile](c.api.UploadAttachmentWithBody(ctx, &asked, "application/octet-stream", body, func(_ context.Context, r *http.Request) error {
		r.ContentLength, r.GetBody = size, fromStart
		return nil
	}))
}

// downloadTries is how often in a row a download may break off without having brought anything.
const downloadTries = 5

// Download writes the bytes of an uploaded file. Where the connection breaks off it goes on, as long as that brings something.
func (c *Client) Download(ctx context.Context, file AttachmentID, w io.Writer) error {
	have, tag := int64(0), ""
	for tries := 0; ; tries++ {
		resp, err := c.api.GetAttachmentContent(ctx, file, rest(have, tag))
		if err == nil && have > 0 && resp.StatusCode == http.StatusOK {
			resp.Body.Close()
			return errors.New("the hub cannot go on with the file where it broke off")
		}
		body, err := Content(resp, err)
		if err == nil {
			tag = resp.Header.Get("ETag")
			var n int64
			n, err = io.Copy(w, body)
			body.Close()
			if have += n; err == nil {
				return nil
			}
			if n > 0 {
				tries = 0
			}
			err = unreachable(err)
		}
		if tries >= downloadTries || !busy(err) {
			return err
		}
		if err := pause(ctx, max(jitter(firstAskAgain), later(askedPause(err)))); err != nil {
			return err
		}
	}
}

// rest asks for what comes after the bytes that are there, of the same version.
func rest(have int64, tag string) *GetAttachmentContentParams {
	if have == 0 {
		return &GetAttachmentContentParams{}
	}
	from := fmt.Sprintf("bytes=%d-", have)
	return &GetAttachmentContentParams{Range: from, IfRange: tag}
}
