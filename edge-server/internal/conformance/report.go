package conformance

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/switchyard-dev/switchyard/edge-server/internal/profile"
)

// Status is what came out for a rule.
type Status string

// Statuses.
const (
	Passed        Status = "passed"
	Failed        Status = "failed"
	Warned        Status = "warned" // a SHOULD that is not kept
	NotApplicable Status = "not applicable"
)

// Finding is one row of a report.
type Finding struct {
	Rule   Rule
	Status Status
	Reason string // "" when passed
}

// Report is what came out for an agent.
type Report struct {
	Runtime  profile.Runtime
	Command  []string
	Findings []Finding // in the order of Rules
}

// Count returns how many rules came out so.
func (r Report) Count(s Status) int {
	n := 0
	for _, f := range r.Findings {
		if f.Status == s {
			n++
		}
	}
	return n
}

// OK says whether the agent keeps the rules: all of them if strict, else those that it must keep.
func (r Report) OK(strict bool) bool {
	return r.Count(Failed) == 0 && (!strict || r.Count(Warned) == 0)
}

// Print writes the report as a table for people.
func (r Report) Print(w io.Writer) error {
	width := 0
	for _, f := range r.Findings {
		width = max(width, len(f.Rule.ID))
	}
	for _, f := range r.Findings {
		if _, err := fmt.Fprintf(w, "%-*s  %-14s  %s\n", width, f.Rule.ID, f.Status, f.Reason); err != nil {
			return err
		}
		if f.Status == Failed || f.Status == Warned {
			if _, err := fmt.Fprintf(w, "%-*s  %-14s  %s (%s)\n", width, "", f.Rule.Severity, f.Rule.Sentence, f.Rule.Source); err != nil {
				return err
			}
		}
	}
	_, err := fmt.Fprintf(w, "\n%d rules of the %s runtime: %d passed, %d failed, %d warned, %d not applicable\n",
		len(r.Findings), r.Runtime, r.Count(Passed), r.Count(Failed), r.Count(Warned), r.Count(NotApplicable))
	return err
}

// WriteJSON writes the report for programs.
func (r Report) WriteJSON(w io.Writer, strict bool) error {
	type row struct {
		ID       RuleID   `json:"id"`
		Severity Severity `json:"severity"`
		Status   Status   `json:"status"`
		Reason   string   `json:"reason,omitempty"`
		Sentence string   `json:"sentence"`
		Source   string   `json:"source"`
	}
	rows := make([]row, len(r.Findings))
	for i, f := range r.Findings {
		rows[i] = row{f.Rule.ID, f.Rule.Severity, f.Status, f.Reason, f.Rule.Sentence, f.Rule.Source}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(struct {
		OK      bool            `json:"ok"`
		Runtime profile.Runtime `json:"runtime"`
		Command []string        `json:"command"`
		Passed  int             `json:"passed"`
		Failed  int             `json:"failed"`
		Warned  int             `json:"warned"`
		Rules   []row           `json:"rules"`
	}{r.OK(strict), r.Runtime, r.Command, r.Count(Passed), r.Count(Failed), r.Count(Warned), rows})
}
