package httpapi

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"strings"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
)

// call is what is known about a request once it has passed the guard. Handlers get it through their context.
type call struct {
	pattern string // of the route
	path    string
	peer    string
	browser origin // "" for a program that is no browser
	person  account.Principal
	edge    fleet.Edge
}

type callKey struct{}

func withCall(ctx context.Context, c *call) context.Context {
	return context.WithValue(ctx, callKey{}, c)
}

// callOf returns the call of a request's context. Every request is observed, so there always is one; the guard fills it.
func callOf(ctx context.Context) *call { return ctx.Value(callKey{}).(*call) }

// who names the caller in the log.
func (c *call) who() slog.Attr {
	if c.edge.ID != "" {
		return slog.Any("edge", c.edge.ID)
	}
	return slog.Any("user", c.person.User)
}

// caller is the person behind a handler's context.
func caller(ctx context.Context) account.Principal { return callOf(ctx).person }

// traceOf is the trace id of the request: 32 hex.
func traceOf(ctx context.Context) string {
	trace, _ := telemetry.TraceFrom(ctx)
	return string(trace.TraceID)
}

const (
	minAttemptKey   = 8
	maxAttemptKey   = 128
	attemptKeyChars = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:-"
)

// attemptOf names the attempt that a creating request makes. What was asked is the address with the body, byte for byte.
func attemptOf(ctx context.Context, key IdempotencyKey) (account.Attempt, error) {
	if len(key) < minAttemptKey || len(key) > maxAttemptKey || strings.Trim(key, attemptKeyChars) != "" {
		return account.Attempt{}, fault.New(fault.InvalidRequest,
			"Idempotency-Key must have %d to %d letters, digits, dots, dashes, colons or underscores. A UUID does.", minAttemptKey, maxAttemptKey)
	}
	c := callOf(ctx)
	body, _ := ctx.Value(bodyKey{}).([]byte)
	request := sha256.Sum256(append([]byte(c.path+"\n"), body...))
	return account.Attempt{User: c.person.User, Route: c.pattern, Key: key, Request: request}, nil
}
