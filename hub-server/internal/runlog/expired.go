package runlog

import (
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Expired is the refusal to read events that are in an archive. It wraps fault.EventsExpired.
type Expired struct {
	*fault.Fault
	Floor EventSeq // reading goes on behind it
}

// Unwrap gives the fault.
func (e *Expired) Unwrap() error { return e.Fault }

// NewExpired refuses to read below the floor of a run's log.
func NewExpired(run id.Run, floor EventSeq) error {
	return &Expired{fault.New(fault.EventsExpired,
		"The events of this run up to %d were archived; after_seq=%d reads what came behind them. Whoever runs the hub can read them with `hub-server archive show %s`.",
		floor, floor, run), floor}
}
