package scout

import (
	"context"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/shared/agentline"
)

// pieceSize is about how many bytes of text are said at once: a few words.
const pieceSize = 24

// voice streams text in pieces, each written at once.
type voice struct {
	w    *agentline.Writer
	pace time.Duration
}

func (v voice) say(ctx context.Context, text string) error { return v.stream(ctx, text, v.w.Delta) }

func (v voice) think(ctx context.Context, text string) error { return v.stream(ctx, text, v.w.Think) }

// stream ends early with an error when nobody listens any more, or ctx ends.
func (v voice) stream(ctx context.Context, text string, write func(string)) error {
	for text != "" {
		piece := nextPiece(text)
		text = text[len(piece):]
		write(piece)
		if err := v.wait(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (v voice) wait(ctx context.Context) error {
	if err := v.w.Err(); err != nil {
		return err
	}
	if v.pace <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(v.pace)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// nextPiece cuts behind a space or a line end, so that no word and no character is cut in two.
func nextPiece(text string) string {
	if len(text) <= pieceSize {
		return text
	}
	if i := strings.IndexAny(text[pieceSize-1:], " \n"); i >= 0 {
		return text[:pieceSize+i]
	}
	return text
}
