package client

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/coder/websocket"
)

// Close codes of a hub that ask for more than to connect again (docs/protocols/client-ws.md).
const (
	closeRestart   = websocket.StatusServiceRestart // 1012: the reason has retry_ms
	closeTryLater  = websocket.StatusTryAgainLater  // 1013: the hub cannot serve now
	closeLoggedOut = websocket.StatusCode(4401)     // the login ended: a renewal says whether for good
	closeReplaced  = websocket.StatusCode(4410)     // device.kicked was the last frame
)

// patient is how long a hub that cannot serve is left alone.
const patient = 5 * time.Second

// ended draws the consequences of the way in which a connection was closed.
func (s *stream) ended(err error) error {
	switch websocket.CloseStatus(err) {
	case closeLoggedOut:
		s.refused = s.token
	case closeReplaced:
		if !errors.Is(err, ErrKicked) { // its frame was lost
			return errors.Join(fmt.Errorf("%w: %w", ErrKicked, err), s.client.tokens.drop())
		}
	}
	return err
}

// askedPause is for how long the hub asks to be left alone; 0 if it does not.
func askedPause(err error) time.Duration {
	var problem *ProblemError
	if errors.As(err, &problem) {
		return problem.RetryAfter
	}
	var refused *cardRefusal
	if errors.As(err, &refused) {
		return min(time.Duration(refused.info.RetryAfterMS)*time.Millisecond, maxRetryIn)
	}
	var closed websocket.CloseError
	if !errors.As(err, &closed) {
		return 0
	}
	switch closed.Code {
	case closeRestart:
		return retryIn(closed.Reason)
	case closeTryLater:
		return patient
	}
	return 0
}

// maxRetryIn bounds what a reason may ask for: a hub that restarts asks for seconds.
const maxRetryIn = 5 * time.Minute

// retryIn reads the number in "restart, retry_ms=1500"; 0 if there is none.
func retryIn(reason string) time.Duration {
	_, number, _ := strings.Cut(reason, "retry_ms=")
	ms, err := strconv.ParseUint(number, 10, 32)
	if err != nil {
		return 0
	}
	return min(time.Duration(ms)*time.Millisecond, maxRetryIn)
}
