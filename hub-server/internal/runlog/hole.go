package runlog

import (
	"errors"
	"fmt"
)

// ErrHole means that an event is missing from a log whose later events are there: the store is damaged. Whoever reads stops before it.
var ErrHole = errors.New("hole in the log")

// upToHole returns the events, which come after a number, as far as their numbers follow on one another. Nothing at all, where the newest event
// says that there must be something, is ErrHole.
func upToHole(events []StoredEvent, after, last EventSeq) ([]StoredEvent, error) {
	dense := 0
	for dense < len(events) && events[dense].Seq == after+EventSeq(dense)+1 {
		dense++
	}
	if dense == 0 && after < last {
		return nil, fmt.Errorf("%w: %d, the newest is %d", ErrHole, after+1, last)
	}
	return events[:dense], nil
}
