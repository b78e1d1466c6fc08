package doctest

import (
	"regexp"
	"slices"
	"strings"
)

var numberPattern = regexp.MustCompile(`\b(?:P|SEC)\d+\b`)

// Uncontrolled returns those of promises that have no positive control: no row of the table under the heading names them in its first column,
// and a test after it.
func Uncontrolled(text, heading string, promises []string) []string {
	_, table, _ := strings.Cut(text, "## "+heading+"\n")
	table, _, _ = strings.Cut(table, "\n## ")
	controlled := map[string]bool{}
	for line := range strings.Lines(table) {
		first, rest, _ := strings.Cut(strings.TrimPrefix(line, "|"), "|")
		if len(proofsOf("", 0, rest)) == 0 {
			continue
		}
		for _, number := range numberPattern.FindAllString(first, -1) {
			controlled[number] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(promises), func(number string) bool { return controlled[number] })
}
