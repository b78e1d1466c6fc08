package conformance_test

import (
	"log/slog"
	"testing"

	"go.uber.org/goleak"

	"github.com/switchyard-dev/switchyard/edge-server/internal/process"
)

// host is one for all tests, as in an edge.
var host = process.NewHost(slog.New(slog.DiscardHandler), process.DefaultLimits())

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
