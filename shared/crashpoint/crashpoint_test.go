package crashpoint

import (
	"strings"
	"testing"
)

func TestSettingNamesAPlaceAndACount(t *testing.T) {
	for _, p := range RunPoints() {
		value, ok := strings.CutPrefix(Setting(p, 7), variable+"=")
		if got, n := parse(value); !ok || got != p || n != 7 {
			t.Errorf("%s was read as %s, %d", Setting(p, 7), got, n)
		}
	}
	for _, value := range []string{"", "run-intended", "run-intended:", "run-intended:x", ":"} {
		if p, n := parse(value); n != 0 {
			t.Errorf("%q names %s, %d", value, p, n)
		}
	}
}

// This test is itself a program without the tag: it would not live to fail.
func TestProgramWithoutTheTagNeverEnds(t *testing.T) {
	for _, p := range RunPoints() {
		name, value, _ := strings.Cut(Setting(p, 1), "=")
		t.Setenv(name, value)
		Reach(p)
	}
}
