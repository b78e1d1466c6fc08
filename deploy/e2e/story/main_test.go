// Package story plays the main job with the real binaries: an agent on an edge, followed live from two devices, while things break.
package story

import (
	"flag"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/hubtest"
)

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
