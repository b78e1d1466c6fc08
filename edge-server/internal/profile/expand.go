package profile

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// expander replaces placeholders and variables in one pass: what a value brings in is never looked at again, so that a session named
// "${SECRET}" stays a name.
type expander struct {
	pattern      *regexp.Regexp
	placeholders map[string]string
	variable     func(name string) string // nil where ${VAR} means nothing
}

func newExpander(placeholders map[string]string) expander {
	return expander{pattern: regexp.MustCompile(`\{\{[A-Z_]+\}\}|\$\{[A-Za-z_][A-Za-z0-9_]*\}`), placeholders: placeholders}
}

func (e expander) text(s string) string {
	return e.pattern.ReplaceAllStringFunc(s, func(found string) string {
		if name, ok := strings.CutPrefix(found, "${"); ok {
			if e.variable == nil {
				return found
			}
			return e.variable(strings.TrimSuffix(name, "}"))
		}
		if value, ok := e.placeholders[found]; ok {
			return value
		}
		return found
	})
}

// Placeholders of S4.
const (
	sessionID   = "{{SESSION_ID}}"
	sessionName = "{{SESSION_NAME}}"
	profileDir  = "{{PROFILE_DIR}}"
)

// unknownPlaceholders returns what looks like a placeholder and is none, such as {{MESSAGE}} of protocol 0.2.
func unknownPlaceholders(s string) []string {
	known := []string{sessionID, sessionName, profileDir}
	return slices.DeleteFunc(regexp.MustCompile(`\{\{[A-Z_]+\}\}`).FindAllString(s, -1), func(found string) bool {
		return slices.Contains(known, found)
	})
}

// expandHome replaces a leading ~, as a shell would; without a home it stays.
func expandHome(s, home string) string {
	if home == "" || (s != "~" && !strings.HasPrefix(s, "~/")) {
		return s
	}
	return filepath.Join(home, strings.TrimPrefix(s, "~"))
}
