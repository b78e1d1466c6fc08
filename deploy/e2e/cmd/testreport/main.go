// Command testreport reads the events of `go test -json` from standard input and writes what a person wants to see: a line
// per package, all output of a failed test, and at the end what tests say they have tried (lines with "figure: "), every skipped test with its
// reason and the slowest ones. It ends with 1 if a test failed or, with -strict, if one was skipped: a test that skips on the build machine tests nothing.
// With -progress there is a line for each test as it ends, too. A skip whose reason begins with "optional:" is always fine.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	strict := flag.Bool("strict", false, "a skipped test counts as a failed one")
	progress := flag.Bool("progress", false, "say of each test that it has ended, and of each part of one that took long")
	flag.Parse()
	r := newReport(os.Stdout)
	r.progress = *progress
	if err := r.read(os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "testreport:", err)
		os.Exit(1)
	}
	r.summarise()
	if !r.passed(*strict) {
		os.Exit(1)
	}
}
