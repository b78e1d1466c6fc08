package cards_test

import (
	"fmt"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/switchyard-dev/switchyard/shared/id"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// theRun is the only run of tests that need no more.
const theRun = id.Run("run_0000000000000001")

// runOf is the id of a run that a test calls name.
func runOf(name string) id.Run {
	return id.Run("run_" + strings.Repeat("0", 16-len(idOf(name))) + idOf(name))
}

// idOf keeps what can stand in an id.
func idOf(name string) string { return fmt.Sprintf("%.16s", strings.Trim(name, "_ ")) }
