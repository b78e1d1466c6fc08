package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

const (
	slowest  = 5
	slow     = 2 * time.Second
	optional = "optional:"
	figure   = "figure: " // begins what a test says that it has tried: shown though it passed
)

// event is one line of `go test -json` (go doc test2json).
type event struct {
	Action  string
	Package string
	Test    string
	Output  string
	Elapsed float64 // seconds
}

// testID names a test; a package as a whole has no Test.
type testID struct{ Package, Test string }

func (id testID) String() string {
	return strings.TrimPrefix(id.Package, "github.com/switchyard-dev/switchyard/") + " " + id.Test
}

// result is an ended test with what the end was about: its reason if skipped, its time otherwise.
type result struct {
	id      testID
	reason  string
	elapsed time.Duration
}

// report gathers the events of one `go test -json`. Owned by one goroutine.
type report struct {
	out      io.Writer
	progress bool                // a line for each test as it ends
	output   map[testID][]string // of tests that still run
	packages int
	tests    int
	failed   []testID // tests, and packages that failed outside a test
	figures  []string
	skipped  []result
	timed    []result
}

func newReport(out io.Writer) *report { return &report{out: out, output: map[testID][]string{}} }

// read takes events until in ends. A line that is no event (a build error of an older Go) is passed through.
func (r *report) read(in io.Reader) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			r.line(line)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read test events: %w", err)
		}
	}
}

func (r *report) line(line string) {
	var e event
	if json.Unmarshal([]byte(line), &e) != nil || e.Action == "" {
		fmt.Fprint(r.out, line)
		return
	}
	id := testID{e.Package, e.Test}
	switch e.Action {
	case "build-output":
		fmt.Fprint(r.out, e.Output)
	case "output":
		r.addOutput(id, e.Output)
	case "pass", "fail", "skip":
		r.end(id, e)
	}
}

// addOutput keeps what a test prints, and the seed of its package's order, until the end is known; a package's other words
// are shown at once.
func (r *report) addOutput(id testID, text string) {
	switch {
	case id.Test != "", strings.HasPrefix(text, "-test.shuffle "):
		r.output[id] = append(r.output[id], text)
	case text != "PASS\n" && text != "FAIL\n" && !strings.Contains(text, "[no test files]"):
		fmt.Fprint(r.out, text)
	}
}

func (r *report) end(id testID, e event) {
	output := r.output[id]
	delete(r.output, id)
	if id.Test == "" {
		r.endPackage(id, e.Action, output)
		return
	}
	r.tests++
	for _, line := range output {
		if _, words, found := strings.Cut(line, figure); found {
			r.figures = append(r.figures, strings.TrimSpace(words))
		}
	}
	took := time.Duration(e.Elapsed * float64(time.Second))
	r.timed = append(r.timed, result{id: id, elapsed: took})
	if r.progress && (took >= slow || !strings.Contains(id.Test, "/")) {
		fmt.Fprintf(r.out, "%s: %s after %.1f s\n", e.Action, id, took.Seconds())
	}
	switch e.Action {
	case "fail":
		r.failed = append(r.failed, id)
		fmt.Fprint(r.out, strings.Join(output, ""))
	case "skip":
		r.skipped = append(r.skipped, result{id: id, reason: reason(output)})
	}
}

// endPackage shows the order in which a failed package ran its tests, and what tests printed that never came to an end:
// they are where a panic or a time limit struck.
func (r *report) endPackage(id testID, action string, order []string) {
	r.packages++
	if action != "fail" {
		return
	}
	fmt.Fprint(r.out, strings.Join(order, ""))
	if !slices.ContainsFunc(r.failed, func(failed testID) bool { return failed.Package == id.Package }) {
		r.failed = append(r.failed, id)
	}
	for test, output := range r.output {
		if test.Package == id.Package {
			fmt.Fprint(r.out, strings.Join(output, ""))
			delete(r.output, test)
		}
	}
}

// reason finds what a test said when it skipped: its last line that is not the framework's, without the position.
func reason(output []string) string {
	for _, line := range slices.Backward(output) {
		text := strings.TrimSpace(line)
		if text == "" || strings.HasPrefix(text, "--- ") || strings.HasPrefix(text, "=== ") {
			continue
		}
		if _, after, found := strings.Cut(text, ".go:"); found {
			if _, words, found := strings.Cut(after, ": "); found {
				return words
			}
		}
		return text
	}
	return "no reason given"
}

func (r *report) passed(strict bool) bool {
	mandatory := slices.ContainsFunc(r.skipped, func(s result) bool { return !strings.HasPrefix(s.reason, optional) })
	return r.packages > 0 && len(r.failed) == 0 && (!strict || !mandatory)
}

func (r *report) summarise() {
	slices.Sort(r.figures)
	for _, f := range r.figures {
		fmt.Fprintln(r.out, figure+f)
	}
	for _, s := range r.skipped {
		fmt.Fprintf(r.out, "skipped: %s: %s\n", s.id, s.reason)
	}
	slices.SortFunc(r.timed, func(a, b result) int { return cmp.Compare(b.elapsed, a.elapsed) })
	for _, t := range r.timed[:min(slowest, len(r.timed))] {
		if t.elapsed >= slow {
			fmt.Fprintf(r.out, "slow: %s: %.1f s\n", t.id, t.elapsed.Seconds())
		}
	}
	for _, id := range r.failed {
		fmt.Fprintf(r.out, "failed: %s\n", id)
	}
	fmt.Fprintf(r.out, "%d tests in %d packages, %d failed, %d skipped\n", r.tests, r.packages, len(r.failed), len(r.skipped))
}
