// Package faults kills real edges at the worst moments, many times, and counts what they started and what they left. The hub is spoken by
// hand: it delivers again and again, which an honest one does rarely, and it costs no second process.
package faults

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		rig.RemovePrograms()
		os.Exit(code)
	}))
}
