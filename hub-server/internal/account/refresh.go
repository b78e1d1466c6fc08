package account

import (
	"time"

	"github.com/switchyard-dev/switchyard/shared/fault"
)

// Life of refresh tokens.
const (
	FamilyIdle    = 30 * 24 * time.Hour // a device that does not come back for so long has to log in again
	ReplayWindow  = 30 * time.Second    // in which a replaced token answers with its successor again
	successorMark = "switchyard refresh successor"
)

// TokenState is what the store knows about a presented refresh token.
type TokenState struct {
	ReplacedAt    time.Time // zero: it is the family's newest
	FamilyEnded   bool
	FamilyExpires time.Time
}

// Verdict says what a presented refresh token leads to.
type Verdict uint8

// Verdicts. Theft means that two holders use the same chain: the family ends, whoever of them is honest.
const (
	Refuse Verdict = iota
	Rotate
	Replay
	Theft
)

// JudgeRefresh is the rule of SEC7. A lost answer may be asked for again within ReplayWindow; later, somebody else has the token. So too if the
// token was replaced at a time that is still to come: a clock that goes back makes the window no longer.
func JudgeRefresh(t TokenState, now time.Time) Verdict {
	switch {
	case t.FamilyEnded || !now.Before(t.FamilyExpires):
		return Refuse
	case t.ReplacedAt.IsZero():
		return Rotate
	case now.Sub(t.ReplacedAt).Abs() < ReplayWindow:
		return Replay
	}
	return Theft
}

// Rotation is one attempt to trade a refresh token for its successor.
type Rotation struct {
	Presented TokenHash
	Next      TokenHash
	Sealed    []byte // Next's token, sealed under the presented one
	Now       time.Time
}

// Rotated is what came of a Rotation.
type Rotated struct {
	Verdict Verdict
	User    User
	Device  Device
	Sealed  []byte // Replay: the successor that was given out first
}

func sealSuccessor(presented, next Token) ([]byte, error) {
	return seal([]byte(presented), []byte(next), []byte(successorMark))
}

func openSuccessor(presented Token, sealed []byte) (Token, error) {
	next, err := open([]byte(presented), sealed, []byte(successorMark))
	return Token(next), err
}

func refreshRefused() error {
	return fault.New(fault.Unauthenticated, "Log in again: this refresh token is no longer valid.")
}
