package client

import (
	"time"

	"github.com/switchyard-dev/switchyard/shared/card"
)

const (
	firstRetry = time.Second
	lastRetry  = 5 // failures in a row after which nothing is tried again by itself
)

// CardRetry is the retry table of S0 §15: how long to wait before something that has failed so many times in a row, the last time with this error, is
// tried again. false: not by itself, the person decides. With retry_after_ms it is never tried before that; without, the first time at once; then the
// wait doubles from one second, and up to a quarter more, so that many clients do not come back together.
func CardRetry(e card.ErrorInfo, failures int) (wait time.Duration, again bool) {
	if !e.Retryable || failures < 1 || failures > lastRetry {
		return 0, false
	}
	if e.RetryAfterMS > 0 {
		return later(max(time.Duration(e.RetryAfterMS)*time.Millisecond, firstRetry<<(failures-1))), true
	}
	if failures == 1 {
		return 0, true
	}
	return later(firstRetry << (failures - 2)), true
}
