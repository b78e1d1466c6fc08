package gate

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/coder/websocket"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Close codes that a client can act on. 1012 and 1013: connect again. From 4400 on the second half says more.
const (
	closeRestart  = websocket.StatusServiceRestart // 1012: the hub stops; the reason says how long to wait
	closeTryLater = websocket.StatusTryAgainLater  // 1013: the hub cannot serve now; connect again with patience
	closeEnded    = websocket.StatusCode(4401)     // the login ended; log in again before connecting
	closeSilent   = websocket.StatusCode(4408)     // no answer to a ping; connect again and resume
	closeSlow     = websocket.StatusCode(4409)     // the socket took nothing for 15 s; connect again and resume
	closeReplaced = websocket.StatusCode(4410)     // another connection of the same device came; stay away
)

// restartSpread is the time over which clients are asked to come back: with what connecting takes, all are back within 3 s (P19).
const restartSpread = 1500 * time.Millisecond

// ending is why a connection ends, as the cause of its context.
type ending struct {
	code   websocket.StatusCode
	reason string     // at most 123 bytes
	kicked *kickedOut // said in a last frame
}

func (e *ending) Error() string { return fmt.Sprintf("closing %d: %s", e.code, e.reason) }

// kickedOut is the payload of device.kicked (S3).
type kickedOut struct {
	Reason     string        `json:"reason"`
	Connection id.Connection `json:"connection_id"`
}

// errGone ends a connection that the other side closed or lost.
var errGone = errors.New("client is gone")

// RestartReason is the reason of a close with 1012: in how many milliseconds the client is to come back, each at another time.
func RestartReason() string {
	return fmt.Sprintf("restart, retry_ms=%d", rand.N(restartSpread).Round(time.Millisecond).Milliseconds())
}

func restart() *ending { return &ending{code: closeRestart, reason: RestartReason()} }

func tryLater() *ending { return &ending{code: closeTryLater, reason: "try again later"} }

func loginEnded() *ending { return &ending{code: closeEnded, reason: "login ended"} }

func silent() *ending { return &ending{code: closeSilent, reason: "silent, resume"} }

func notText() *ending {
	return &ending{code: websocket.StatusInvalidFramePayloadData, reason: "text is not UTF-8"}
}

func slow() *ending { return &ending{code: closeSlow, reason: "slow, resume"} }

func replaced(c id.Connection) *ending {
	return &ending{code: closeReplaced, reason: "logged in elsewhere", kicked: &kickedOut{"logged_in_elsewhere", c}}
}
