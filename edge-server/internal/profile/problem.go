package profile

import (
	"fmt"
	"slices"
	"strings"
)

// Problem is something about a profile's file that its author should know.
type Problem struct {
	Line    int // from 1; 0 is the file as a whole
	Warning bool
	Text    string
}

func (p Problem) String() string {
	kind := "error"
	if p.Warning {
		kind = "warning"
	}
	if p.Line == 0 {
		return kind + ": " + p.Text
	}
	return fmt.Sprintf("line %d: %s: %s", p.Line, kind, p.Text)
}

// Problems are all there is to say about one file, in the order of its lines.
type Problems []Problem

// Faulty says whether the profile cannot be used: warnings alone do not prevent that.
func (p Problems) Faulty() bool {
	return slices.ContainsFunc(p, func(one Problem) bool { return !one.Warning })
}

func (p Problems) String() string {
	lines := make([]string, len(p))
	for i, one := range p {
		lines[i] = one.String()
	}
	return strings.Join(lines, "; ")
}

func (p *Problems) fault(line int, format string, args ...any) {
	*p = append(*p, Problem{Line: line, Text: fmt.Sprintf(format, args...)})
}

func (p *Problems) warn(line int, format string, args ...any) {
	*p = append(*p, Problem{Line: line, Warning: true, Text: fmt.Sprintf(format, args...)})
}
