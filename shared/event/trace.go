package event

import (
	"errors"
	"fmt"
	"strings"
)

// A trace id is the run's 32 hex digits everywhere but in S3 envelopes and frames, where `trace_` stands before it (R29).
const (
	tracePrefix = "trace_"
	traceDigits = 32
	spanDigits  = 16
)

// ErrTraceID is wrapped by FormatTraceID and ParseTraceID.
var ErrTraceID = errors.New("malformed trace id")

// FormatTraceID puts the S3 prefix before 32 lower-case hex digits.
func FormatTraceID(hex string) (string, error) {
	if !isHex(hex, traceDigits) {
		return "", fmt.Errorf("%w: want %d hex digits", ErrTraceID, traceDigits)
	}
	return tracePrefix + hex, nil
}

// ParseTraceID takes the S3 prefix off again and returns the 32 hex digits.
func ParseTraceID(s string) (string, error) {
	hex, ok := strings.CutPrefix(s, tracePrefix)
	if !ok || !isHex(hex, traceDigits) {
		return "", fmt.Errorf("%w: want %s and %d hex digits", ErrTraceID, tracePrefix, traceDigits)
	}
	return hex, nil
}

// isHex refuses the all-zero id as well: OpenTelemetry means "none" by it.
func isHex(s string, digits int) bool {
	return len(s) == digits && strings.Trim(s, "0123456789abcdef") == "" && strings.Trim(s, "0") != ""
}
