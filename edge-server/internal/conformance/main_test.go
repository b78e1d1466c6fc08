package conformance_test

import (
	"flag"
	"log/slog"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/switchyard-dev/switchyard/edge-server/internal/process"
)

// host is one for all tests, as in an edge.
var host = process.NewHost(slog.New(slog.DiscardHandler), process.DefaultLimits())

func TestMain(m *testing.M) {
	flag.Parse()
	// Agents that are checked wait most of the time, so more of them fit beside each other than there are cores.
	if err := flag.Set("test.parallel", "8"); err != nil {
		os.Exit(2)
	}
	goleak.VerifyTestMain(m)
}
