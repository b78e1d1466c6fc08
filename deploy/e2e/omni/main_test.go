// Package omni follows conversations over all four protocols at once, with the real programs: whoever follows one is told the same story as everybody
// else, and messages come out of a process as they went in.
package omni

import (
	"flag"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/hubtest"
)

// parts is how many random parts TestRandomPartsAreOneStory has played, unless -rapid.checks says another number: each is a run of a process.
const parts = "12"

func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", parts); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(hubtest.Main(m), goleak.Cleanup(func(code int) {
		rig.RemovePrograms()
		os.Exit(code)
	}))
}
