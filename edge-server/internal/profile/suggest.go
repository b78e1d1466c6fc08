package profile

import "strings"

// maxTypos is how far a name may be from a known one to be taken for a slip: letters added, left out or replaced.
const maxTypos = 2

// suggest returns the known name that a wrong one is most like, "" if it is like none.
func suggest(wrong string, known []string) string {
	best, least := "", maxTypos+1
	wrong = strings.ReplaceAll(strings.ToLower(wrong), "-", "_")
	for _, name := range known {
		if wrong != "" && strings.HasPrefix(name, wrong+"_") {
			return name // timeout for timeout_secs
		}
		// Short names may change less, or every name of three letters would be like every other.
		if n := typos(wrong, name); n < least && 3*n < len(name) {
			best, least = name, n
		}
	}
	return best
}

// typos counts the least letters to add, leave out or replace that make b of a.
func typos(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
