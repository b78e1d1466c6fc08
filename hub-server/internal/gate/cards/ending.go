package cards

import (
	"errors"
	"fmt"

	"github.com/coder/websocket"
	"github.com/switchyard-dev/switchyard/hub-server/internal/gate"
)

// Close codes that a client can act on. After all but closeEnded and closeLeft it may connect again and resume.
const (
	closeRestart  = websocket.StatusServiceRestart          // 1012: the hub stops; the reason says how long to wait
	closeTryLater = websocket.StatusTryAgainLater           // 1013: the socket took nothing for 15 s (R7), or the hub cannot serve now
	closeSilent   = websocket.StatusCode(4408)              // nothing was heard of the client for 60 s (R31)
	closeEnded    = websocket.StatusCode(4401)              // the login ended; log in again before connecting
	closeLeft     = websocket.StatusPolicyViolation         // 1008: the person is not in the conversation any more
	closeNotText  = websocket.StatusInvalidFramePayloadData // 1007: a text message of the client was not UTF-8
	closeEndless  = websocket.StatusMessageTooBig           // 1009: a message was longer than maxFrame and maxEndless together
)

// ending is why a connection ends, as the cause of its context.
type ending struct {
	code   websocket.StatusCode
	reason string // at most 123 bytes
}

func (e *ending) Error() string { return fmt.Sprintf("closing %d: %s", e.code, e.reason) }

// errGone ends a connection that the other side closed or lost.
var errGone = errors.New("client is gone")

func restart() *ending    { return &ending{closeRestart, gate.RestartReason()} }
func tryLater() *ending   { return &ending{closeTryLater, "try again later"} }
func slow() *ending       { return &ending{closeTryLater, "slow, resume"} }
func silent() *ending     { return &ending{closeSilent, "silent, resume"} }
func loginEnded() *ending { return &ending{closeEnded, "login ended"} }
func left() *ending       { return &ending{closeLeft, "not in the conversation any more"} }

func notText() *ending {
	return &ending{closeNotText, "text is not UTF-8"}
}

func endless() *ending {
	return &ending{closeEndless, fmt.Sprintf("a message has at most %d bytes", maxFrame)}
}
