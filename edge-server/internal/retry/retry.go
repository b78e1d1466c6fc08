// Package retry decides whether a request of a model is made again, and when (S1, stop_reason and request_end). It has no clock and asks nobody:
// who makes requests says how one ended, and does the waiting.
package retry

import (
	"time"

	"github.com/switchyard-dev/switchyard/shared/omni"
)

// MaxAsked is how long a provider's own wish may delay a request. A longer one ends the sequence: nobody is kept waiting for an hour.
const MaxAsked = time.Minute

// Waits are those before the second, third, … request (S1).
func Waits() []time.Duration {
	return []time.Duration{2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, 30 * time.Second}
}

// Ending is how a request ended.
type Ending struct {
	Reason    omni.StopReason
	Permanent bool          // the same request can never succeed, so it is not made again whatever the reason
	Asked     time.Duration // how long the provider wants to be left alone (Retry-After); 0 if it does not say
}

// Decision is what becomes of a request that has ended. The zero Decision is that it is not made again.
type Decision struct {
	Again bool
	Wait  time.Duration // until it is made again
}

// Step decides about the attempt-th request of a sequence, the first is 1. Requests that failed, found no answer in time or got one that could not
// be read are made again, five times at most; one whose credentials were refused never is. A provider's wish counts where it is the longer wait.
func Step(attempt int, ending Ending) Decision {
	waits := Waits()
	if !ending.Reason.Retried() || ending.Permanent || attempt < 1 || attempt > len(waits) || ending.Asked > MaxAsked {
		return Decision{}
	}
	return Decision{Again: true, Wait: max(waits[attempt-1], ending.Asked)}
}
