package uplink

import (
	"errors"
	"time"

	"github.com/switchyard-dev/switchyard/shared/fault"
)

// State says in one word how the uplink is.
type State string

// States of an uplink.
const (
	Connecting State = "connecting"
	Connected  State = "connected"
	Refused    State = "refused" // the hub does not take this edge
)

// Status is what health shows of the uplink.
type Status struct {
	State  State
	Code   fault.Code // why the hub or this edge ended the last connection; empty while connected or when the network did it
	Detail string     // the same as a sentence
	Since  time.Time  // of State
}

// Status returns how the uplink is now.
func (u *Uplink) Status() Status {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.status
}

func (u *Uplink) setStatus(s State, cause error) {
	next := Status{State: s, Since: time.Now()}
	if cause != nil {
		next.Detail = "The hub cannot be reached."
		var f *fault.Fault
		if errors.As(cause, &f) {
			next.Code, next.Detail = f.Code, f.Detail
		}
	}
	connected := 0.0
	if s == Connected {
		connected = 1
	}
	u.metrics.connected.Set(connected)
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.status.State == s {
		next.Since = u.status.Since
	}
	u.status = next
}
