// Package devices tries what the devices of people show: each frame that there is, to whom it comes and what is made of it, and whole days, after
// which all devices of a person must show the same.
package devices

import (
	"flag"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/npm"
	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/hubtest"
)

var (
	seed = flag.Uint64("seed", 1, "of the first day that is played")
	days = flag.Int("days", 3, "how many days are played, of this seed and the next ones")
)

func TestMain(m *testing.M) {
	flag.Parse()
	goleak.VerifyTestMain(hubtest.Main(m), goleak.Cleanup(func(code int) {
		npm.Remove()
		rig.RemovePrograms()
		os.Exit(code)
	}))
}
