package client

import (
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/shared/card"
)

func TestRetryScenarios(t *testing.T) {
	_, retries := readCardScenarios(t)
	for _, s := range retries {
		t.Run(s.Rule, func(t *testing.T) {
			for range 100 { // some of it is chance
				wait, again := CardRetry(s.Error, s.Failures)
				if again != (s.WaitMS != nil) {
					t.Fatalf("again: %v", again)
				}
				if again && (wait < time.Duration(s.WaitMS[0])*time.Millisecond || wait > time.Duration(s.WaitMS[1])*time.Millisecond) {
					t.Fatalf("waits %v", wait)
				}
			}
		})
	}
}

func TestNothingIsTriedAgainThatHasNotFailed(t *testing.T) {
	if wait, again := CardRetry(card.ErrorInfo{Retryable: true}, 0); again {
		t.Errorf("again after %v", wait)
	}
}
