package configdoc

import (
	"fmt"
	"strings"
)

// Program is a section of the page.
type Program struct {
	Name     string
	About    string   // sentences under the heading
	Folders  []string // of its source, from the root, in the order in which its settings are listed
	Settings []Setting
}

// Programs lists what is documented, in the order of the page.
func Programs() []Program {
	return []Program{
		{
			Name:    "hub-server",
			About:   "`hub-server --check` prints the effective values, secrets masked, and exits; it exits with an error that names every fault.",
			Folders: []string{"hub-server/hub"},
		},
		{
			Name: "edge-server",
			About: "`edge-server serve --check` does the same. Enrolment writes the hub's address, the edge's id and its credential to `edge.json` in\n" +
				"the home folder, so a running edge needs none of these. The `OPENAI_` variables are those of the agent that ships as `chat`.",
			Folders: []string{"edge-server/edge", "edge-server/internal", "edge-server/cmd"},
		},
		{
			Name:    "yard",
			About:   "Flags win over variables.",
			Folders: []string{"hub-server/cmd/yard", "hub-server/internal/yard"},
		},
	}
}

const preamble = `<!-- Generated from the programs' source. Change the comments there, then: cd deploy/e2e && go test ./internal/configdoc -update -->
# Configuration

By environment variables only. All faults are reported together, at start, before anything is opened. Durations are written like ` + "`90s`" + `,
` + "`15m` or `24h`" + `. Variables marked *secret* are masked wherever configuration is printed or logged.
`

// Page renders the sections.
func Page(programs []Program) string {
	var b strings.Builder
	b.WriteString(preamble)
	for _, p := range programs {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n| variable | default | meaning |\n|---|---|---|\n", p.Name, p.About)
		for _, s := range p.Settings {
			b.WriteString(row(s))
		}
	}
	return b.String()
}

func row(s Setting) string {
	fallback := "–"
	if s.Default != "" {
		fallback = code(s.Default)
	}
	meaning := mention.ReplaceAllStringFunc(s.Meaning, func(name string) string { return code(strings.Trim(name, "`")) })
	if s.Secret {
		meaning += " *Secret.*"
	}
	return fmt.Sprintf("| %s | %s | %s |\n", code(s.Variable), fallback, strings.ReplaceAll(meaning, "|", `\|`))
}

func code(s string) string { return "`" + s + "`" }
