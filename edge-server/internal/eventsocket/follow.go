package eventsocket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/coder/websocket"
)

const (
	followLimit  = 1 << 20 // bytes of a message
	refusalLimit = 4 << 10
)

// Refused is an answer that is no upgrade.
type Refused struct {
	Status int
	Body   []byte
}

func (r *Refused) Error() string { return fmt.Sprintf("refused with %d: %.300s", r.Status, r.Body) }

// Follow connects to a Socket at url and calls each with every message, in order, until ctx ends. It fails with *Refused, with what each
// returned, or with the *End that the other side gave. The bytes are each's.
func Follow(ctx context.Context, url string, header http.Header, each func(message []byte) error) error {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // no proxy: it is this machine
	//nolint:bodyclose // the library closes it, or replaces it by a buffer
	conn, answer, err := websocket.Dial(ctx, url, &websocket.DialOptions{
		HTTPClient: client, HTTPHeader: header, CompressionMode: websocket.CompressionDisabled,
	})
	switch {
	case err != nil && answer != nil:
		body, readErr := io.ReadAll(io.LimitReader(answer.Body, refusalLimit))
		return errors.Join(&Refused{answer.StatusCode, body}, readErr)
	case err != nil:
		return fmt.Errorf("connect: %w", err)
	}
	defer conn.CloseNow() //nolint:errcheck // nothing is lost: this side only read
	conn.SetReadLimit(followLimit)
	for {
		_, message, err := conn.Read(ctx)
		if err != nil {
			return ending(ctx, err)
		}
		if err := each(message); err != nil {
			return err
		}
	}
}

// ending is how a connection ended as the one who only reads sees it.
func ending(ctx context.Context, err error) error {
	var closed websocket.CloseError
	switch {
	case ctx.Err() != nil:
		return nil //nolint:nilerr // the end of ctx is how one stops to follow
	case errors.As(err, &closed):
		return &End{Code(closed.Code), closed.Reason}
	}
	return &End{Gone, "connection lost"}
}
