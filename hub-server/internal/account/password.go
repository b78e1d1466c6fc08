package account

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/alexedwards/argon2id"

	"github.com/switchyard-dev/switchyard/shared/fault"
)

// Limits of a password.
const (
	MinPasswordChars = 10
	MaxPasswordBytes = 128
)

// HashCost is what one password hash takes. The zero value is the cost for production.
type HashCost struct {
	MemoryKiB  uint32 // 19 MiB by default: two of them fit beside everything else a hub holds
	Iterations uint32
	Parallel   int // hashes at the same time
	MaxWaiting int // callers that queue for a turn; beyond it they are told that the hub is busy
}

func (c HashCost) orDefault() HashCost {
	if c == (HashCost{}) {
		return HashCost{MemoryKiB: 19 << 10, Iterations: 2, Parallel: 2, MaxWaiting: 256}
	}
	return c
}

// Hasher runs argon2id with a bound on memory and processors. It is safe for concurrent use.
type Hasher struct {
	params  *argon2id.Params
	turns   chan struct{} // held by whoever hashes, until the hash is done
	waiting atomic.Int64
	max     int64
	dummy   string // hash of a password that nobody has
}

// NewHasher makes the hasher and the hash that unknown users are compared with.
func NewHasher(cost HashCost) (*Hasher, error) {
	cost = cost.orDefault()
	params := &argon2id.Params{Memory: cost.MemoryKiB, Iterations: cost.Iterations, Parallelism: 1, SaltLength: 16, KeyLength: 32}
	dummy, err := argon2id.CreateHash(string(NewToken("")), params)
	if err != nil {
		return nil, fmt.Errorf("make dummy hash: %w", err)
	}
	return &Hasher{params: params, turns: make(chan struct{}, cost.Parallel), max: int64(cost.MaxWaiting), dummy: dummy}, nil
}

// Hash returns the PHC string of a password that passed checkNewPassword.
func (h *Hasher) Hash(ctx context.Context, password string) (hash string, err error) {
	turnErr := h.turn(ctx, func() { hash, err = argon2id.CreateHash(password, h.params) })
	return hash, errors.Join(turnErr, err)
}

// Verify says whether password belongs to hash. An empty hash stands for an unknown user: the answer is no, after the same work.
func (h *Hasher) Verify(ctx context.Context, password, hash string) (match bool, err error) {
	if len(password) > MaxPasswordBytes {
		return false, tooLongPassword()
	}
	against := hash
	if hash == "" {
		against = h.dummy
	}
	turnErr := h.turn(ctx, func() { match, err = argon2id.ComparePasswordAndHash(password, against) })
	return match && hash != "", errors.Join(turnErr, err)
}

// turn runs work on the caller's own goroutine, which holds the turn until work ends: a caller who has gone away can never leave a
// hash running that nobody counts. Full queue: refused as busy.
func (h *Hasher) turn(ctx context.Context, work func()) error {
	if h.waiting.Add(1) > h.max {
		h.waiting.Add(-1)
		return fault.New(fault.Busy, "Too many people are logging in right now. Try again in a few seconds.")
	}
	defer h.waiting.Add(-1)
	select {
	case h.turns <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-h.turns }()
	if ctx.Err() != nil { // both were possible: nobody waits for this hash
		return context.Cause(ctx)
	}
	work()
	return nil
}

func checkNewPassword(password, userName string) error {
	switch {
	case len(password) > MaxPasswordBytes:
		return tooLongPassword()
	case !utf8.ValidString(password):
		return fault.New(fault.InvalidRequest, "The password is not valid UTF-8 text.")
	case utf8.RuneCountInString(password) < MinPasswordChars:
		return fault.New(fault.InvalidRequest, "The password is too short: use at least %d characters.", MinPasswordChars)
	case strings.EqualFold(password, userName):
		return fault.New(fault.InvalidRequest, "The password must not be the user name.")
	}
	return nil
}

func tooLongPassword() error {
	return fault.New(fault.InvalidRequest, "The password is too long: at most %d bytes.", MaxPasswordBytes)
}
