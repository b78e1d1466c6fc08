//go:build !race

package gate

// raceFactor is how much less is tried while the race detector is on.
const raceFactor = 1
