package runlog

import (
	"time"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/run"
)

// CardOrphaned is the fact that nothing was heard of a card of a run for longer than its kind may be silent (S0 watchdog).
func CardOrphaned(card, kind string, timeout time.Duration, now time.Time) (Entry, error) {
	return own(run.Candidate{
		Type: event.RunCardOrphaned, Payload: event.CardOrphanedPayload{CardID: card, CardKind: kind, TimeoutMS: timeout.Milliseconds()},
	}, now)
}
