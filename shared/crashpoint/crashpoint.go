// Package crashpoint lets a test end a process at a named place in its code, the n-th time that it comes there, with SIGKILL: as the system's
// memory killer would, and with nothing written, flushed or said on the way out.
//
// A program has these places only if it was built with the tag `crashpoints`. In any other build Reach is empty and inlined to nothing: the
// program holds neither the names nor the variable, so nobody can trigger one by accident or on purpose.
//
// It is in shared, though it is no protocol, because it is an agreement between processes all the same: a test tells a hub or an edge through
// its environment where to end, and a name that the two spell differently would make a test that proves nothing.
package crashpoint

import (
	"fmt"
	"strconv"
	"strings"
)

// Tag is the build tag that puts the places in.
const Tag = "crashpoints"

// Point is a place in the code.
type Point string

// Places on the way of a run from its admission to its process.
const (
	RunAdmitted Point = "run-admitted" // its command is in the journal; the hub has no receipt yet
	RunIntended Point = "run-intended" // the intent is in the journal; nothing was spawned
	RunSpawned  Point = "run-spawned"  // the process exists; the journal does not say so
	RunRecorded Point = "run-recorded" // the journal says so
)

// OrderRecorded is behind a control command: the journal has it and its receipt, and the agent has heard nothing of it.
const OrderRecorded Point = "order-recorded"

// RunPoints are the places on the way of a run, in their order.
func RunPoints() []Point { return []Point{RunAdmitted, RunIntended, RunSpawned, RunRecorded} }

// variable names the place, as <point>:<n>.
const variable = "SWITCHYARD_CRASH_AT"

// Setting is the environment variable that ends a process when it reaches p for the n-th time, from 1.
func Setting(p Point, n int) string { return fmt.Sprintf("%s=%s:%d", variable, p, n) }

// parse reads what Setting wrote behind the =. n is 0 if value names no place.
func parse(value string) (p Point, n int) {
	name, count, _ := strings.Cut(value, ":")
	n, err := strconv.Atoi(count)
	if err != nil {
		return "", 0
	}
	return Point(name), n
}
