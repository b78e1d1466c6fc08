package scout

import (
	"cmp"
	"maps"
	"slices"
)

// count is how often something was seen.
type count struct {
	name string
	n    int
}

// most returns the highest counts, equal ones by name.
func most(counts map[string]int, limit int) []count {
	var all []count
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		all = append(all, count{name, counts[name]})
	}
	slices.SortStableFunc(all, func(a, b count) int { return cmp.Compare(b.n, a.n) })
	return all[:min(limit, len(all))]
}

// activity sums up commits.
type activity struct {
	authors, areas, files map[string]int // commits each
	added, removed        int            // lines
	first, last           string         // dates of the oldest and the newest
}

func summarise(commits []commit) activity {
	a := activity{authors: map[string]int{}, areas: map[string]int{}, files: map[string]int{}}
	for _, c := range commits {
		a.authors[c.Author]++
		a.added += c.Added
		a.removed += c.Removed
		touched := map[string]bool{}
		for _, file := range c.Files {
			a.files[file]++
			touched[area(file)] = true
		}
		for name := range touched {
			a.areas[name]++
		}
	}
	if len(commits) > 0 {
		a.last, a.first = commits[0].Date, commits[len(commits)-1].Date
	}
	return a
}
