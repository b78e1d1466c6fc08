// Package security attacks the running system: as a stranger, as a logged-in user, as a malicious edge. The numbers are those of the rules
// in docs/guarantees.md.
package security

import (
	"flag"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
)

// atOnce is how many tests run at the same time: they wait more than they work.
const atOnce = "4"

func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", atOnce); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		rig.RemovePrograms()
		os.Exit(code)
	}))
}
