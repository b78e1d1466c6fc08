package main

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/shared/bridge"
)

// overhead measures what `edge-server bridge run` adds to a turn: the same agent started with its turn on stdin, and by the program, one after
// the other. Pairs keep the state of the machine out of the difference.
func (b bench) overhead(t *stage) []row {
	const message = "hello there"
	agent := filepath.Join(rig.Root(), "examples", "agents", "echo-sh.sh")
	turn, err := bridge.Turn{Message: message}.Encode()
	t.must(err)
	dir := t.TempDir()
	var bare, added spread
	for i := range b.times(200, 40) + 1 {
		alone := turnOf(t, dir, turn, "sh", agent)
		played := turnOf(t, dir, nil, filepath.Join(b.bin, "edge-server"), "bridge", "run", message, "--", "sh", agent)
		if i > 0 { // the first pair fills the caches
			bare, added = append(bare, alone), append(added, played-alone)
		}
	}
	const goal = 15 * time.Millisecond
	what := fmt.Sprintf("`edge-server bridge run` against the bare program (%s a turn), per turn", show(bare.at(0.5)))
	return []row{{what, "≤ 15 ms", inHalves(added), added.at(0.5) <= goal}}
}

// turnOf returns how long a program takes from its start to its end.
func turnOf(t *stage, dir string, stdin []byte, program string, args ...string) time.Duration {
	cmd := exec.CommandContext(t.ctx, program, args...)
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(stdin)
	start := time.Now()
	out, err := cmd.Output()
	taken := time.Since(start)
	t.must(err)
	if !bytes.Contains(out, []byte("You said: ")) {
		t.Fatalf("%s said %q", program, out)
	}
	return taken
}

// lines measures how many partial lines of 100 bytes the edge takes apart in a second on one core.
func (b bench) lines(t *stage) []row {
	rate := b.beside(t, "edge-server", "./internal/runtime", "BenchmarkPartialLinesOfAnAgent", "lines/s")
	const what = "an agent's partial lines of 100 bytes, read, parsed and judged on one core"
	return []row{{what, "≥ 200,000 lines/s", fmt.Sprintf("%.0f lines/s", rate), rate >= 200_000}}
}

// beside runs a Go benchmark that lies beside code which nobody outside of its module can call, on one core, and returns the median of what it
// reports in a unit.
func (b bench) beside(t *stage, module, pkg, name, unit string) float64 {
	return reported(t, b.benchmark(t, module, pkg, name, b.times(5, 1)), name, unit)
}

// benchmark runs such benchmarks so many times each, and returns what they print.
func (b bench) benchmark(t *stage, module, pkg, pattern string, times int) string {
	cmd := exec.CommandContext(t.ctx, "go", "test", "-run", "^$", "-bench", "^"+pattern+"$", "-cpu", "1", "-count", strconv.Itoa(times), pkg)
	cmd.Dir = filepath.Join(rig.Root(), module)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", pattern, err, out)
	}
	return string(out)
}

// reported is the median of what one of them reports in a unit.
func reported(t *stage, out, name, unit string) float64 {
	var rates []float64
	line := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + `\s.*\s([0-9.e+]+) ` + regexp.QuoteMeta(unit))
	for _, found := range line.FindAllStringSubmatch(out, -1) {
		rate, err := strconv.ParseFloat(found[1], 64)
		t.must(err)
		rates = append(rates, rate)
	}
	if len(rates) == 0 {
		t.Fatalf("%s reports no %s:\n%s", name, unit, out)
	}
	return median(rates)
}
