package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// row is one line of the table.
type row struct {
	what string
	goal string
	got  string
	met  bool
}

// table is what the bench prints: Markdown.
type table struct {
	machine string
	quick   bool
	date    time.Time
	rows    []row
}

func (t table) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Measured on %s, %s.", t.date.UTC().Format(time.DateOnly), t.machine)
	if t.quick {
		b.WriteString(" A quick look, not for the record.")
	}
	b.WriteString("\n\n| what | goal | measured | |\n|---|---|---|---|\n")
	for _, r := range t.rows {
		b.WriteString(r.String())
	}
	return b.String()
}

// String is the row as a line of the table.
func (r row) String() string {
	verdict := "met"
	switch {
	case r.goal == "":
		verdict = ""
	case !r.met:
		verdict = "**missed**"
	}
	return fmt.Sprintf("| %s | %s | %s | %s |\n", r.what, r.goal, r.got, verdict)
}

// missed is an error if a goal was missed.
func (t table) missed() error {
	missed := 0
	for _, r := range t.rows {
		if !r.met {
			missed++
		}
	}
	if missed > 0 {
		return fmt.Errorf("%d of %d goals were missed: see the table, and whether the machine did anything else", missed, len(t.rows))
	}
	return nil
}

// into replaces the table in a document, or only the rows that it has too. It stands between two comments that name its suite.
func (t table) into(path, suite string, rowsOnly bool) error {
	begins, ends := "<!-- "+suite+" -->\n", "<!-- /"+suite+" -->"
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	before, rest, found := bytes.Cut(text, []byte(begins))
	old, after, ended := bytes.Cut(rest, []byte(ends))
	if !found || !ended {
		return fmt.Errorf("write table: %s lacks the marks %q and %q", path, begins, ends)
	}
	now := t.String()
	if rowsOnly {
		now = t.within(string(old))
	}
	text = slices.Concat(before, []byte(begins+now+ends), after)
	return os.WriteFile(path, text, 0o600)
}

// within is a table that was written before, with the rows of this one in the place of those of the same name, and new ones at its end.
func (t table) within(old string) string {
	lines := strings.SplitAfter(old, "\n")
	lines = lines[:len(lines)-1] // what is behind the last line end: nothing
	for _, r := range t.rows {
		named := func(line string) bool { return strings.HasPrefix(line, "| "+r.what+" |") }
		if i := slices.IndexFunc(lines, named); i >= 0 {
			lines[i] = r.String()
		} else {
			lines = append(lines, r.String())
		}
	}
	return strings.Join(lines, "")
}

// machine describes where this runs, in one line.
func machine() string {
	memory := ""
	if kib, err := field("/proc/meminfo", "MemTotal:"); err == nil {
		memory = fmt.Sprintf(", %d GiB memory", (kib+1<<19)>>20)
	}
	return fmt.Sprintf("%s/%s, %d cores (%s)%s, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), processor(), memory, runtime.Version())
}

func processor() string {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown processor"
	}
	for line := range strings.Lines(string(info)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown processor"
}

// field reads a number of KiB out of a file of /proc.
func field(path, name string) (int64, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, name); ok && len(strings.Fields(value)) > 0 {
			return strconv.ParseInt(strings.Fields(value)[0], 10, 64)
		}
	}
	return 0, errors.New(path + " has no " + name)
}

// spread is the distribution of what was measured several times.
type spread []time.Duration

// at returns a quantile: at(0.5) is the median.
func (s spread) at(q float64) time.Duration {
	if len(s) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s))
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

// show rounds to what can be told apart.
func show(d time.Duration) string {
	if d < 10*time.Millisecond {
		return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
	}
	if d < time.Second {
		return fmt.Sprintf("%d ms", d.Round(time.Millisecond).Milliseconds())
	}
	return fmt.Sprintf("%.2f s", d.Seconds())
}
