// Package faults strikes real processes at the worst moments, many times, and counts what they started, lost, repeated and left. Where a
// test needs a hub that delivers again and again, which an honest one does rarely, the hub is spoken by hand.
package faults

import (
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/nemesis"
	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/hubtest"
)

var (
	seed = flag.Uint64("seed", 0, "what goes wrong and when; 0: something new, which is printed")
	span = flag.Duration("time", nemesis.Full/15, "about how long to strike; the figures of docs/guarantees.md take 10m")
)

// atOnce is how many tests run at the same time: they wait more than they work.
const atOnce = "3"

func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", atOnce); err != nil {
		panic(err)
	}
	flag.Parse()
	if *seed == 0 {
		*seed = uint64(time.Now().UnixNano())
	}
	goleak.VerifyTestMain(hubtest.Main(m), goleak.Cleanup(func(code int) {
		rig.RemovePrograms()
		os.Exit(code)
	}))
}

// figure says what was tried of a promise and how to try the same again. The report of `make test` shows it though the test passed.
func figure(t *testing.T, promise, format string, args ...any) {
	t.Helper()
	t.Logf("figure: %s: %s (SEED=%d TIME=%s)", promise, fmt.Sprintf(format, args...), *seed, *span)
}

// effortOf returns how much a test does, and prints how to do the same again. All tests of a process have one seed.
func effortOf(t *testing.T) nemesis.Effort {
	t.Helper()
	t.Logf("again with: make faults SEED=%d TIME=%s", *seed, *span)
	return nemesis.Effort{Seed: *seed, Time: *span}
}
