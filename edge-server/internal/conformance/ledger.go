package conformance

import (
	"cmp"
	"fmt"
)

// ledger collects what the probes show of each rule. The first breach counts. Owned by one goroutine at a time.
type ledger struct {
	probe    string // that is played now
	breaches map[RuleID]string
	kept     map[RuleID]bool
}

func newLedger() *ledger { return &ledger{breaches: map[RuleID]string{}, kept: map[RuleID]bool{}} }

// check records one sight of a rule; the text says what is wrong if it is not kept.
func (l *ledger) check(rule RuleID, kept bool, format string, args ...any) {
	if kept {
		l.kept[rule] = true
		return
	}
	if _, known := l.breaches[rule]; !known {
		l.breaches[rule] = l.probe + ": " + fmt.Sprintf(format, args...)
	}
}

func (l *ledger) breach(rule RuleID, format string, args ...any) {
	l.check(rule, false, format, args...)
}

func (l *ledger) keep(rules ...RuleID) {
	for _, rule := range rules {
		l.kept[rule] = true
	}
}

func (l *ledger) broken(rule RuleID) bool {
	_, broken := l.breaches[rule]
	return broken
}

// finding is what came out for one rule. unplayed is why some probes were not played; "" if all were.
func (l *ledger) finding(r Rule, unplayed string) Finding {
	f := Finding{Rule: r}
	breach, broken := l.breaches[r.ID]
	switch {
	case broken && r.Severity == Must:
		f.Status, f.Reason = Failed, breach
	case broken:
		f.Status, f.Reason = Warned, breach
	case l.kept[r.ID]:
		f.Status = Passed
	default:
		f.Status, f.Reason = NotApplicable, cmp.Or(unplayed, r.Otherwise, "not tried")
	}
	return f
}
