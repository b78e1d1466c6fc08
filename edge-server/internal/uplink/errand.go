package uplink

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/switchyard-dev/switchyard/shared/event"
)

// receive takes commands one after the other.
func (c *connection) receive(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case command := <-c.commands:
			receipt, err := c.opts.Commands.Receive(ctx, command)
			if err != nil {
				return fmt.Errorf("receive command: %w", err)
			}
			select {
			case c.receipts <- receipt:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}
}

// ask replaces what the uploading goroutine was asked for: after a rewind the sender asks anew.
func (c *connection) ask(blobs []event.BlobRef) {
	select {
	case <-c.blobs:
	default: // nothing waits
	}
	c.blobs <- blobs
}

// upload brings blobs to the hub, as often as it takes.
func (c *connection) upload(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case refs := <-c.blobs:
			var b backoff
			for _, ref := range refs {
				for err := c.uploadOne(ctx, ref); err != nil; err = c.uploadOne(ctx, ref) {
					if ctx.Err() != nil {
						return context.Cause(ctx)
					}
					c.opts.Log.Warn("blob not uploaded yet", "sha256", ref.SHA256, "error", err)
					b.wait(ctx)
				}
			}
			select {
			case c.uploads <- struct{}{}:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}
}

func (c *connection) uploadOne(ctx context.Context, ref event.BlobRef) error {
	file, err := c.opts.Journal.OpenBlob(ref)
	if errors.Is(err, fs.ErrNotExist) {
		// Lost with the disk. The row goes out all the same: the hub may have the bytes, and if not it is the hub that says so.
		c.opts.Log.Error("blob is lost", "sha256", ref.SHA256)
		return c.opts.Journal.MarkUploaded(ctx, ref.SHA256, true)
	}
	if err != nil {
		return fmt.Errorf("open blob: %w", err)
	}
	defer file.Close() //nolint:errcheck // it was only read
	if err := c.hub.upload(ctx, ref, file); err != nil {
		return err
	}
	c.metrics.uploads.Inc()
	return c.opts.Journal.MarkUploaded(ctx, ref.SHA256, true)
}
