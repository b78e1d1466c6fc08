package repolint

import (
	"fmt"
	"maps"
	"slices"
)

// The longest a file may be. Most are a quarter of it.
const (
	maxLines     = 400
	maxTestLines = 600
)

// Sizes reports files that have grown past what one can keep in mind. Generated code has no reader.
func Sizes(files []File) []Problem {
	var problems []Problem
	for _, f := range files {
		limit := maxLines
		if f.IsTest() {
			limit = maxTestLines
		}
		if !f.Generated && f.Lines > limit {
			problems = append(problems, f.problem(f.Lines, "%d lines, the limit is %d: split it by what it is about", f.Lines, limit))
		}
	}
	return problems
}

// Census describes the sizes per module, one line each.
func Census(files []File) []string {
	code, tests := map[string][]int{}, map[string][]int{}
	for _, f := range files {
		switch {
		case f.Generated:
		case f.IsTest():
			tests[f.Module] = append(tests[f.Module], f.Lines)
		default:
			code[f.Module] = append(code[f.Module], f.Lines)
		}
	}
	var lines []string
	for kind, modules := range map[string]map[string][]int{"code": code, "tests": tests} {
		for module, counts := range maps.All(modules) {
			slices.Sort(counts)
			lines = append(lines, fmt.Sprintf("%-18s %-5s %4d files %6d lines, median %3d, longest %3d",
				module, kind, len(counts), sum(counts), counts[len(counts)/2], counts[len(counts)-1]))
		}
	}
	slices.Sort(lines)
	return lines
}

func sum(counts []int) (total int) {
	for _, n := range counts {
		total += n
	}
	return total
}
