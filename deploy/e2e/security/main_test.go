// Package security attacks the running system: as a stranger, as a logged-in user, as a malicious edge. The numbers are those of the rules
// in docs/guarantees.md.
package security

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
