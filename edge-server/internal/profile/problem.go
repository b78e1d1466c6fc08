package profile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Problem is something about a profile's file that its author should know.
type Problem struct {
	Line    int // from 1; 0 is the file as a whole
	Column  int // from 1; 0 if Line is
	Warning bool
	Text    string
}

func (p Problem) String() string {
	if p.Line == 0 {
		return p.kind() + ": " + p.Text
	}
	return fmt.Sprintf("line %d: %s: %s", p.Line, p.kind(), p.Text)
}

// At is the problem with its place in the file of that name, as compilers write it: editors and terminals can jump there.
func (p Problem) At(file string) string {
	if p.Line == 0 {
		return fmt.Sprintf("%s: %s: %s", file, p.kind(), p.Text)
	}
	return fmt.Sprintf("%s:%d:%d: %s: %s", file, p.Line, p.Column, p.kind(), p.Text)
}

func (p Problem) kind() string {
	if p.Warning {
		return "warning"
	}
	return "error"
}

// Problems are all there is to say about one file, in the order of its lines.
type Problems []Problem

// Faulty says whether the profile cannot be used: warnings alone do not prevent that.
func (p Problems) Faulty() bool { return p.Errors() > 0 }

// Errors counts what keeps the profile from being used. The others are warnings.
func (p Problems) Errors() int {
	n := 0
	for _, one := range p {
		if !one.Warning {
			n++
		}
	}
	return n
}

// Strings has one line per problem.
func (p Problems) Strings() []string {
	lines := make([]string, len(p))
	for i, one := range p {
		lines[i] = one.String()
	}
	return lines
}

func (p Problems) String() string { return strings.Join(p.Strings(), "; ") }

func (p Problems) sort() {
	slices.SortStableFunc(p, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// place is where in a file something stands; the zero value is the file as a whole.
type place struct{ line, column int }

func (p *Problems) fault(at place, format string, args ...any) {
	*p = append(*p, Problem{Line: at.line, Column: at.column, Text: fmt.Sprintf(format, args...)})
}

func (p *Problems) warn(at place, format string, args ...any) {
	*p = append(*p, Problem{Line: at.line, Column: at.column, Warning: true, Text: fmt.Sprintf(format, args...)})
}
