//go:build !race

package rig

// raceEnabled says that this test has the race detector.
const raceEnabled = false
