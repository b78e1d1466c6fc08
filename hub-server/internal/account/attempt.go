package account

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// AttemptLifetime is how long the answer to a creating request is kept for repeats.
const AttemptLifetime = 48 * time.Hour

// Attempt is one creating request under its Idempotency-Key: who asked, where, under which key, and for what.
type Attempt struct {
	User    id.User
	Route   string
	Key     string
	Request [sha256.Size]byte // hash of everything that was asked
}

// Claim is an attempt together with the answer that its success will have. It commits with the effect, or not at all.
type Claim struct {
	Attempt
	Answer []byte // sealed
}

// Repeated is the error of a store whose effect was not applied because the attempt has been answered before.
type Repeated struct {
	Answer []byte // sealed
}

func (*Repeated) Error() string { return "attempt was answered before" }

// AttemptStore remembers answers.
type AttemptStore interface {
	// PriorAnswer returns the sealed answer to the same attempt not older than since, nil when there is none, and
	// IdempotencyConflict when the key was used for another request.
	PriorAnswer(ctx context.Context, a Attempt, since time.Time) ([]byte, error)
}

// Attempts makes creating requests repeatable. It is safe for concurrent use.
type Attempts struct {
	store AttemptStore
	keys  *Keyring
	now   Clock
}

// NewAttempts returns Attempts over store; answers are sealed with the ring's key for them.
func NewAttempts(store AttemptStore, keys *Keyring, now Clock) *Attempts {
	return &Attempts{store: store, keys: keys, now: now}
}

// Once runs do, or returns the result of the first success of the same attempt. do computes its whole result, wraps it with claim
// and hands the claim to the store call that has the effect; of two that run at the same time the store lets one through.
func Once[T any](ctx context.Context, a *Attempts, attempt Attempt, do func(claim func(T) (Claim, error)) (T, error)) (T, error) {
	prior, err := a.store.PriorAnswer(ctx, attempt, a.now.Moment().Add(-AttemptLifetime))
	if err != nil {
		return *new(T), err
	}
	if prior != nil {
		return unsealAnswer[T](a, attempt, prior)
	}
	result, err := do(func(result T) (Claim, error) { return sealAnswer(a, attempt, result) })
	var repeated *Repeated
	if errors.As(err, &repeated) {
		return unsealAnswer[T](a, attempt, repeated.Answer)
	}
	return result, err
}

func sealAnswer[T any](a *Attempts, attempt Attempt, result T) (Claim, error) {
	plain, err := json.Marshal(result)
	if err != nil {
		return Claim{}, fmt.Errorf("encode answer: %w", err)
	}
	sealed, err := seal(a.keys.Current().Answers, plain, attempt.context())
	return Claim{Attempt: attempt, Answer: sealed}, err
}

func unsealAnswer[T any](a *Attempts, attempt Attempt, sealed []byte) (result T, err error) {
	plain, err := open(a.keys.Current().Answers, sealed, attempt.context())
	if err != nil {
		return result, fmt.Errorf("read stored answer: %w", err)
	}
	if err := json.Unmarshal(plain, &result); err != nil {
		return result, fmt.Errorf("read stored answer: %w", err)
	}
	return result, nil
}

func (a Attempt) context() []byte { return []byte(string(a.User) + "\n" + a.Route + "\n" + a.Key) }

// SameRequest returns IdempotencyConflict unless stored is the request that a makes. Stores call it.
func (a Attempt) SameRequest(stored []byte) error {
	if string(stored) == string(a.Request[:]) {
		return nil
	}
	return fault.New(fault.IdempotencyConflict, "This Idempotency-Key was used for another request. Use a new key for a new request.")
}
