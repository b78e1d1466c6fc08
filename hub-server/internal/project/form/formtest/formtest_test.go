package formtest_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/project/form"
	"github.com/switchyard-dev/switchyard/hub-server/internal/project/form/formtest"
	"github.com/switchyard-dev/switchyard/shared/event"
)

// heard is a test that keeps what it is told instead of failing.
type heard struct {
	testing.TB
	told []string
}

func (h *heard) Helper() {}

func (h *heard) Errorf(format string, args ...any) {
	h.told = append(h.told, fmt.Sprintf(format, args...))
}

func TestWhatTheRulesLackIsTold(t *testing.T) {
	var all []form.Text
	for _, row := range event.Rows() {
		all = append(all, form.Text{Event: row.Stored, Why: "For the test."})
	}
	silent := slices.Clone(all)
	silent[0].Why = ""
	for _, tt := range []struct {
		name  string
		rules []form.Text
		told  []string
	}{
		{"all are decided", all, nil},
		{"one is missing", all[1:], []string{string(all[0].Event) + " has no decided form, and no decided none: say in Rules what it becomes"}},
		{"one is there twice", append(slices.Clone(all), all[0]), []string{string(all[0].Event) + " has two decisions"}},
		{"one has no reason", silent, []string{string(all[0].Event) + ": no word about why"}},
		{"one is of no catalogue", append(slices.Clone(all), form.Text{Event: "run.strange", Why: "?"}), []string{"run.strange is not in the catalogue"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := &heard{TB: t}
			formtest.Complete(h, tt.rules)
			if !slices.Equal(h.told, tt.told) {
				t.Errorf("told %q, want %q", h.told, tt.told)
			}
		})
	}
}
