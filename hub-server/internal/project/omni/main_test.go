package omni_test

import (
	"flag"
	"testing"

	"go.uber.org/goleak"
)

var update = flag.Bool("update", false, "write the golden files and the table of the page")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
