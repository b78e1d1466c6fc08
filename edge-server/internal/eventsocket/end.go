package eventsocket

import "fmt"

// Code says why a connection was closed, and whether coming back is of use.
type Code int

// The codes. Those from 4000 on mean what they mean on the hub's socket for devices.
const (
	Gone     Code = 1006 // the other side closed or lost the connection; never sent
	Unwanted Code = 1008 // the other side said something
	Restart  Code = 1012 // this process stops; connect again soon
	TryLater Code = 1013 // something here is broken; connect again with patience
	Silent   Code = 4408 // a ping was not answered; connect again and go on
	Slow     Code = 4409 // a message was not taken in time; never sent, as nothing is taken
	Reset    Code = 4411 // the numbers began anew; take a snapshot before connecting again
)

// End is why a connection ended.
type End struct {
	Code   Code
	Reason string // at most 123 bytes
}

func (e *End) Error() string { return fmt.Sprintf("connection closed with %d: %s", e.Code, e.Reason) }
