package scout

import (
	"fmt"
	"strings"
)

// report is the artifact: everything that scout saw, as Markdown.
func (s *session) report(summary string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Scout report\n\n> %s\n\n## Summary\n\n%s\n", quoted(s.asked.quote()), strings.TrimSuffix(summary, "The whole picture is in "+reportName+".\n"))
	s.reportCommits(&b)
	s.reportDetails(&b)
	s.reportFiles(&b)
	s.reportSearches(&b)
	s.reportLayout(&b)
	return b.String()
}

func (s *session) reportCommits(b *strings.Builder) {
	if len(s.found.commits) == 0 {
		return
	}
	b.WriteString("## Commits\n\n| commit | date | author | lines | files | subject |\n|---|---|---|---|---|---|\n")
	for _, c := range s.found.commits {
		fmt.Fprintf(b, "| `%s` | %s | %s | +%d −%d | %d | %s |\n", c.Hash, c.Date, cell(c.Author), c.Added, c.Removed, len(c.Files), cell(c.Subject))
	}
	a := summarise(s.found.commits)
	b.WriteString("\n## Where the work was\n\n| area | commits |\n|---|---|\n")
	const areas = 15
	for _, c := range most(a.areas, areas) {
		fmt.Fprintf(b, "| %s | %d |\n", cell(c.name), c.n)
	}
	b.WriteString("\n")
}

func (s *session) reportDetails(b *strings.Builder) {
	for _, d := range s.found.biggest {
		fmt.Fprintf(b, "## %s %s\n\n%s\n", d.commit.Hash, quoted(d.commit.Subject), fenced(d.text))
	}
}

func (s *session) reportFiles(b *strings.Builder) {
	for _, f := range s.found.files {
		fmt.Fprintf(b, "## File %s\n\n%s, %d bytes.\n\n", quoted(f.name), plural(f.text.Lines, "line"), f.text.Bytes)
		for _, c := range f.history {
			fmt.Fprintf(b, "- `%s` %s %s: %s\n", c.Hash, c.Date, quoted(c.Author), quoted(c.Subject))
		}
		fmt.Fprintf(b, "\n%s\n", fenced(f.text.Head))
	}
}

func (s *session) reportSearches(b *strings.Builder) {
	for _, h := range s.found.searches {
		fmt.Fprintf(b, "## Search for “%s”\n\n%s in %s.\n\n", quoted(h.Word), plural(h.Total, "match"), plural(h.Files, "file"))
		for _, m := range h.Matches {
			fmt.Fprintf(b, "- %s:%d `%s`\n", quoted(m.File), m.Line, strings.ReplaceAll(m.Text, "`", "'"))
		}
		b.WriteString("\n")
	}
}

func (s *session) reportLayout(b *strings.Builder) {
	const extensions = 20
	l := s.found.listing
	fmt.Fprintf(b, "## Files\n\n%s.\n\n", plural(l.Files, "file"))
	for _, c := range most(l.Extensions, extensions) {
		fmt.Fprintf(b, "- %s: %d\n", quoted(c.name), c.n)
	}
	if len(l.Top) > 0 {
		fmt.Fprintf(b, "\nTop level: %s\n", quoted(strings.Join(l.Top, ", ")))
	}
}

// quoted keeps foreign text from being Markdown or HTML.
func quoted(s string) string {
	return strings.NewReplacer("<", "&lt;", "\n", " ", "\r", " ", "[", `\[`, "*", `\*`, "_", `\_`).Replace(s)
}

func cell(s string) string { return strings.ReplaceAll(quoted(s), "|", `\|`) }

// fenced puts foreign text into a block that it cannot end.
func fenced(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "text\n" + strings.TrimRight(text, "\n") + "\n" + fence + "\n"
}
