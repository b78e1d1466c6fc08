//go:build !race

package sqlstore

// share is the part of a figure of P10 and P11 that is tried: all of it.
const share = 1
