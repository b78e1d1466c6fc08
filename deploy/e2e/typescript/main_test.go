// Package typescript tries the TypeScript SDK as its users have it: packed, installed by npm, in Node and in a browser, against a real hub.
package typescript

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/npm"
	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/hubtest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(hubtest.Main(m), goleak.Cleanup(func(code int) {
		npm.Remove()
		rig.RemovePrograms()
		os.Exit(code)
	}))
}
