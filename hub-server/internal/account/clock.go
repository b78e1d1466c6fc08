package account

import "time"

// Clock is where a service gets the time from: time.Now, but in tests.
type Clock func() time.Time

// Moment is the time as the record keeps it and people see it: UTC, cut to microseconds. What is answered now equals what is read later.
func (c Clock) Moment() time.Time { return c().UTC().Truncate(time.Microsecond) }
