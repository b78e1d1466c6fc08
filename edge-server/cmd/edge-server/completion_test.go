package main

import (
	"strings"
	"testing"
)

func TestCompletionOffersWhatMayComeNext(t *testing.T) {
	for line, want := range map[string]string{
		"br":                            "bridge",
		"bridge ":                       "run check",
		"bridge run --pol":              "--policy",
		"bridge run --policy allow":     "allow-readonly allow-all",
		"events check --str":            "--strict",
		"completion z":                  "zsh",
		"bridge run hello -- python3 -": "",
		"complete":                      "",
	} {
		code, out, errs := command(t, "", append([]string{"complete-words", "--"}, strings.Split(line, " ")...)...)
		if got := strings.Join(strings.Fields(out), " "); code != 0 || got != want {
			t.Errorf("%q: %q, want %q (exit code %d)\n%s", line, got, want, code, errs)
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		if code, out, _ := command(t, "", "completion", shell); code != 0 || !strings.Contains(out, "edge-server complete-words") {
			t.Errorf("%s: exit code %d\n%s", shell, code, out)
		}
	}
}
