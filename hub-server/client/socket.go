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
	"time"

	"github.com/coder/websocket"

	"github.com/switchyard-dev/switchyard/shared/supervise"
)

const (
	maxFrame   = 4 << 20          // bytes
	maxProblem = 64 << 10         // bytes
	silence    = 45 * time.Second // without a word from the hub a connection counts as dead; auth.ok may say otherwise
)

// once connects and hands on frames until the connection ends; the error says why.
func (s *stream) once(ctx context.Context) error {
	s.heard = false
	socket, err := s.dial(ctx)
	if err != nil {
		return err
	}
	defer socket.CloseNow() //nolint:errcheck // closed by the other side, or not needed any more
	socket.SetReadLimit(maxFrame)
	ctx, cancel := context.WithCancelCause(ctx)
	asleep := supervise.NewGroup(ctx)
	asleep.Go(func(ctx context.Context) error {
		if noticeSleep(ctx, s.client.now) {
			cancel(errSlept)
		}
		return nil
	})
	err = s.follow(ctx, socket)
	cancel(nil)
	return s.ended(errors.Join(err, asleep.Wait()))
}

// follow hands on frames and counts them. A number that is no news is dropped; one that skips others means that a frame was lost.
func (s *stream) follow(ctx context.Context, socket *websocket.Conn) error {
	patience := silence
	for last := int64(0); ; {
		frame, err := read(ctx, socket, patience)
		if err != nil {
			return err
		}
		switch {
		case frame.SeqID == 0 && isGap(frame.Type): // it stands outside of the count
		case frame.SeqID <= last:
			continue
		case frame.SeqID > last+1:
			return fmt.Errorf("lost a frame: got number %d, want %d", frame.SeqID, last+1)
		default:
			last = frame.SeqID
		}
		hello, err := readHello(frame)
		if err != nil {
			return err
		}
		if hello != nil {
			s.client.tokens.settle(ctx)
			patience = patienceOf(hello, patience)
		}
		if err := s.take(frame, hello); err != nil || s.stopped {
			return err
		}
	}
}

// patienceOf is how long the hub may be silent behind an auth.ok: twice its heartbeat and 5 s.
func patienceOf(hello *AuthOKPayload, before time.Duration) time.Duration {
	if hello.HeartbeatSecs <= 0 {
		return before
	}
	return 2*time.Duration(hello.HeartbeatSecs)*time.Second + 5*time.Second
}

// isGap says whether a frame stands for others that are missing (S3: system.gap, error). It carries nothing to apply.
func isGap(t HubWebSocketFrameType) bool { return t == "system.gap" || t == "error" }

func (s *stream) dial(ctx context.Context) (*websocket.Conn, error) {
	cursor, err := s.at.resume()
	if err != nil {
		return nil, err
	}
	token, err := s.client.tokens.token(ctx, s.refused)
	if err != nil {
		return nil, err
	}
	socket, err := s.client.connect(ctx, token, cursor)
	var problem *ProblemError
	if errors.As(err, &problem) && problem.Status == http.StatusUnauthorized {
		if token, err = s.client.tokens.token(ctx, token); err != nil {
			return nil, err
		}
		socket, err = s.client.connect(ctx, token, cursor)
	}
	s.token = token
	return socket, err
}

// connect opens the socket. A refusal of the hub is a *ProblemError, anything else wraps ErrUnreachable.
func (c *Client) connect(ctx context.Context, token, cursor string) (*websocket.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	address := "ws" + strings.TrimPrefix(c.hub, "http") + "/client/ws"
	if cursor != "" {
		address += "?cursor=" + url.QueryEscape(cursor)
	}
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

func read(ctx context.Context, socket *websocket.Conn, patience time.Duration) (*HubWebSocketFrame, error) {
	limited, cancel := context.WithTimeoutCause(ctx, patience, errSilent)
	defer cancel()
	_, data, err := socket.Read(limited)
	if cause := context.Cause(limited); err != nil && cause != nil {
		return nil, fmt.Errorf("connection given up: %w", cause)
	}
	if err != nil {
		return nil, fmt.Errorf("connection ended: %w", err)
	}
	var frame HubWebSocketFrame
	if err := json.Unmarshal(data, &frame); err != nil {
		return nil, fmt.Errorf("unreadable frame: %w", err)
	}
	return &frame, nil
}

// readHello returns the payload of an auth.ok, nil of any other frame. Its cursor may stand in the payload alone.
func readHello(frame *HubWebSocketFrame) (*AuthOKPayload, error) {
	if frame.Type != HubWebSocketFrameTypeAuthOk {
		return nil, nil
	}
	var hello AuthOKPayload
	if err := json.Unmarshal(frame.Payload, &hello); err != nil {
		return nil, fmt.Errorf("unreadable auth.ok: %w", err)
	}
	if frame.Cursor == "" {
		frame.Cursor = hello.Cursor
	}
	return &hello, nil
}

func kickReason(frame *HubWebSocketFrame) string {
	var kicked DeviceKickedPayload
	if json.Unmarshal(frame.Payload, &kicked) != nil || kicked.Reason == "" {
		return "no reason given"
	}
	return kicked.Reason
}
