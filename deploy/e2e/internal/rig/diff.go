package rig

import (
	"fmt"
	"strings"
)

// Diff shows where two lists part.
func Diff(a, b []string) string {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	return fmt.Sprintf("%d and %d entries, equal up to %d, then\n  %s\nagainst\n  %s", len(a), len(b), i, around(a, i), around(b, i))
}

func around(list []string, i int) string {
	return strings.Join(list[min(max(0, i-2), len(list)):min(len(list), i+4)], "\n  ")
}
