package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/coder/websocket"

	"github.com/switchyard-dev/switchyard/shared/supervise"
)

const (
	maxFrame   = 4 << 20  // bytes
	maxProblem = 64 << 10 // bytes
)

// once connects and hands on frames until the connection ends; the error says why.
func (s *stream) once(ctx context.Context) error {
	s.heard, s.fruitful = false, false
	socket, err := s.dial(ctx)
	if err != nil {
		return err
	}
	defer socket.CloseNow() //nolint:errcheck // closed by the other side, or not needed any more
	socket.SetReadLimit(maxFrame)
	s.client.live.Store(socket)
	defer s.client.live.CompareAndSwap(socket, nil)
	awake, cancel := context.WithCancelCause(ctx)
	frames, parts := newAhead[greeted](), supervise.NewGroup(awake)
	parts.Go(func(ctx context.Context) error {
		if noticeSleep(ctx, s.client.now) {
			cancel(errSlept)
		}
		return nil
	})
	parts.Go(func(ctx context.Context) error {
		frames.fill(ctx, reader(socket))
		return nil
	})
	err = s.follow(ctx, frames)
	cancel(nil)
	return s.ended(errors.Join(err, parts.Wait()))
}

// follow hands on frames and counts them. A number that is no news is dropped; one that skips others means that a frame was lost.
func (s *stream) follow(ctx context.Context, frames *ahead[greeted]) error {
	for last := int64(0); ; {
		got, err := frames.next(ctx)
		if err != nil {
			return err
		}
		frame := got.frame
		switch {
		case frame.SeqID == 0 && isGap(frame.Type): // it stands outside of the count
		case frame.SeqID <= last:
			continue
		case frame.SeqID > last+1:
			return fmt.Errorf("lost a frame: got number %d, want %d", frame.SeqID, last+1)
		default:
			last = frame.SeqID
		}
		if frame.hello != nil {
			s.client.tokens.settle(ctx)
		}
		if err := s.take(frame.HubWebSocketFrame, frame.hello); err != nil || s.stopped {
			return err
		}
	}
}

// isGap says whether a frame stands for others that are missing (S3: system.gap, error). It carries nothing to apply.
func isGap(t HubWebSocketFrameType) bool { return t == "system.gap" || t == "error" }

func (s *stream) dial(ctx context.Context) (*websocket.Conn, error) {
	cursor, err := s.at.resume()
	if err != nil {
		return nil, err
	}
	s.placeless = cursor == ""
	path := "/client/ws"
	if cursor != "" {
		path += "?cursor=" + url.QueryEscape(cursor)
	}
	socket, token, err := s.client.dial(ctx, path, s.refused)
	s.token = token
	return socket, err
}

// dial opens the socket of a path with a token that is not the refused one, and says which it was. One that the hub turns down is renewed once.
func (c *Client) dial(ctx context.Context, path, refused string) (socket *websocket.Conn, token string, err error) {
	if token, err = c.tokens.token(ctx, refused); err != nil {
		return nil, "", err
	}
	socket, err = c.connect(ctx, token, path)
	var problem *ProblemError
	if errors.As(err, &problem) && problem.Status == http.StatusUnauthorized {
		if token, err = c.tokens.token(ctx, token); err != nil {
			return nil, "", err
		}
		socket, err = c.connect(ctx, token, path)
	}
	return socket, token, err
}

// connect opens the socket. A refusal of the hub is a *ProblemError, anything else wraps ErrUnreachable.
func (c *Client) connect(ctx context.Context, token, path string) (*websocket.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	address := "ws" + strings.TrimPrefix(c.hub, "http") + path
	socket, resp, err := websocket.Dial(ctx, address, &websocket.DialOptions{ //nolint:bodyclose // Dial has closed it
		HTTPClient:      c.plain,
		HTTPHeader:      http.Header{"Authorization": {"Bearer " + token}},
		CompressionMode: websocket.CompressionDisabled,
	})
	if err == nil {
		return socket, nil
	}
	if resp == nil || resp.StatusCode == http.StatusSwitchingProtocols {
		return nil, fmt.Errorf("connect: %w", unreachable(err))
	}
	body, readErr := io.ReadAll(io.LimitReader(resp.Body, maxProblem)) // Dial keeps the beginning of it
	if readErr != nil {
		return nil, fmt.Errorf("connect: %w", unreachable(readErr))
	}
	return nil, fmt.Errorf("connect: %w", problemOf(resp, body))
}

func kickReason(frame *HubWebSocketFrame) string {
	var kicked DeviceKickedPayload
	if json.Unmarshal(frame.Payload, &kicked) != nil || kicked.Reason == "" {
		return "no reason given"
	}
	return kicked.Reason
}
