package telemetry

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"strings"
)

// Ids of OpenTelemetry and W3C Trace Context in their text form: lower-case hex, never all zero.
type (
	TraceID string // 32 digits
	SpanID  string // 16 digits
)

const (
	traceDigits = 32
	spanDigits  = 16
)

// NewTraceID returns a fresh random trace id.
func NewTraceID() TraceID { return TraceID(randomHex(traceDigits)) }

// NewSpanID returns a fresh random span id.
func NewSpanID() SpanID { return SpanID(randomHex(spanDigits)) }

// Valid says whether the id has the right shape.
func (t TraceID) Valid() bool { return validHex(string(t), traceDigits) }

// Valid says whether the id has the right shape.
func (s SpanID) Valid() bool { return validHex(string(s), spanDigits) }

func randomHex(digits int) string {
	raw := make([]byte, digits/2)
	for {
		rand.Read(raw) //nolint:errcheck // crypto/rand.Read never fails since Go 1.24
		if text := hex.EncodeToString(raw); validHex(text, digits) {
			return text
		}
	}
}

func validHex(s string, digits int) bool {
	return len(s) == digits && strings.Trim(s, "0123456789abcdef") == "" && strings.Trim(s, "0") != ""
}

// Trace is the place of some work in a trace. SpanID may be empty.
type Trace struct {
	TraceID TraceID
	SpanID  SpanID
}

// NewTrace begins a trace.
func NewTrace() Trace { return Trace{NewTraceID(), NewSpanID()} }

type traceKey struct{}

// WithTrace returns a context that carries t to logs and callees.
func WithTrace(ctx context.Context, t Trace) context.Context {
	return context.WithValue(ctx, traceKey{}, t)
}

// TraceFrom returns the trace of ctx; false if it has none.
func TraceFrom(ctx context.Context) (Trace, bool) {
	t, ok := ctx.Value(traceKey{}).(Trace)
	return t, ok
}

// ParseTraceparent reads a W3C traceparent header; false for anything that is not exactly one of a known shape.
func ParseTraceparent(header string) (Trace, bool) {
	parts := strings.Split(header, "-")
	if len(header) > 128 || len(parts) < 4 || len(parts[0]) != 2 || parts[0] == "ff" || (parts[0] == "00" && len(parts) != 4) {
		return Trace{}, false
	}
	t := Trace{TraceID(parts[1]), SpanID(parts[2])}
	return t, t.TraceID.Valid() && t.SpanID.Valid() && len(parts[3]) == 2
}

// Traceparent returns the W3C header of t, sampled.
func (t Trace) Traceparent() string {
	return "00-" + string(t.TraceID) + "-" + string(t.SpanID) + "-01"
}
