package fleet

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Limits of what people and edges may write, in characters.
const (
	maxLabel       = 100
	maxDescription = 500
	maxHostname    = 253
	maxName        = 64
	maxRuntime     = 32
)

func checkText(field, s string, least, most int) error {
	n := utf8.RuneCountInString(s)
	if n < least || n > most || !utf8.ValidString(s) || strings.ContainsRune(s, 0) {
		return fault.New(fault.InvalidRequest, "%s must have %d to %d characters.", field, least, most)
	}
	return nil
}

const (
	lower  = "abcdefghijklmnopqrstuvwxyz"
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits = "0123456789"
)

// isName says whether s begins with a character of first and goes on with those or characters of more.
func isName(s, first, more string, most int) bool {
	return s != "" && len(s) <= most && strings.Contains(first, s[:1]) && strings.Trim(s, first+more) == ""
}

// validName accepts names of agents and profiles: what can stand behind an @ in a message.
func validName(s string) bool { return isName(s, lower+upper+digits, "._-", maxName) }

func validRuntime(s string) bool { return isName(s, lower, digits+"_-", maxRuntime) }

func validMode(s string) bool { return isName(s, lower+upper, digits+"_-", maxRuntime) }

// acceptable cuts what an edge announces down to what the hub stores: well-formed profiles, each name once, a bounded number.
func acceptable(profiles []wire.Profile) []wire.Profile {
	var kept []wire.Profile
	seen := map[string]bool{}
	for _, p := range profiles {
		if len(kept) == wire.MaxProfiles || seen[p.Name] || !validName(p.Name) || !validRuntime(p.Runtime) {
			continue
		}
		seen[p.Name] = true
		p.Description, p.Controls = shorten(p.Description, maxDescription), known(p.Controls)
		kept = append(kept, p)
	}
	return kept
}

// known keeps what this hub can ask for, each once.
func known(controls []string) (kept []string) {
	for _, c := range wire.Controls() {
		if slices.Contains(controls, c) {
			kept = append(kept, c)
		}
	}
	return kept
}

// shorten cuts to a number of characters and drops what is not text.
func shorten(s string, most int) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, ""), "\x00", "")
	if utf8.RuneCountInString(s) > most {
		s = string([]rune(s)[:most])
	}
	return s
}
