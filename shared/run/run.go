// Package run holds what hub and edge must agree on about the life of a run: the Normaliser, which turns what an agent says into events of
// the log; the closings that any writer of a terminal commits first; the state machine; and the names of outcomes on every surface. All
// of it is pure: no clock, no goroutine, no randomness of its own.
package run
