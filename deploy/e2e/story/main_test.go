// Package story plays the main job with the real binaries: an agent on an edge, followed live from two devices, while things break.
package story

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
