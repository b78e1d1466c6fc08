//go:build race

package sqlstore

// share is the part of a figure of P10 and P11 that is tried with the race detector: under it SQLite takes twenty times as long.
const share = 10
