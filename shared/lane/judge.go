package lane

import (
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Known is what an edge has on disk about a run that it has taken.
type Known struct {
	Lease     wire.Lease // the highest that was seen
	Cancelled bool       // a cancel was taken
	Ended     bool       // the edge has nothing more to tell of it
}

// Judge says why an edge cannot take a command, given what it knows of the command's run: nil if it never took that run. A start of a run that
// was taken before is taken again, and starts nothing. A delivery that has its receipt is not judged again: it gets the recorded one. What the
// hub makes of these codes is in runlog.
func Judge(c wire.Command, run *Known) *fault.Fault {
	switch {
	case run == nil && c.Kind == wire.Start:
		return nil
	case run == nil:
		return fault.New(fault.NotFound, "This edge has never taken the run.")
	case c.Lease < run.Lease:
		return fault.New(fault.LeaseStale, "A newer dispatch of the run has been seen.")
	case c.Kind == wire.Start && run.Ended:
		return fault.New(fault.RunEnded, "The run has ended on this edge; its end is in the journal.")
	case c.Kind == wire.Cancel && run.Ended:
		return fault.New(fault.TooLate, "The run ended before the cancel came.")
	case c.Kind == wire.AnswerPrompt && (run.Cancelled || run.Ended):
		return fault.New(fault.TooLate, "The process that asked has ended, or is being stopped.")
	case c.Kind == wire.Control && (run.Cancelled || run.Ended):
		return fault.New(fault.TooLate, "The run has ended, or is being stopped.")
	}
	return nil
}
