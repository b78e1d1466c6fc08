//go:build race

package sqlstore

// share is the part of a figure (P10, P11, the longest log) that is tried with the race detector: under it SQLite takes twenty times as long.
const share = 10
