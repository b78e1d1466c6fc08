// Package cards plays the scenarios of the card protocol (S0 §13) and its recovery (S0 §2.4.2) with the real binaries: what is said on /v1/ws must be
// what testdata has, with hubs killed and without.
package cards

import (
	"flag"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/hubtest"
)

var update = flag.Bool("update", false, "write the transcripts in testdata, and docs/protocols/cards-transcripts.md, again")

// atOnce is how many tests run at the same time: they wait more than they work.
const atOnce = "4"

func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", atOnce); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(hubtest.Main(m), goleak.Cleanup(func(code int) {
		rig.RemovePrograms()
		os.Exit(code)
	}))
}
