package scout

import (
	"fmt"
	"strings"
)

const (
	shownAreas   = 5
	shownFiles   = 5
	shownCommits = 8
	shownMatches = 5
)

// summary is the answer in a conversation: short, with the facts first.
func (s *session) summary() string {
	var b strings.Builder
	switch {
	case len(s.found.commits) > 0:
		s.writeHistory(&b)
	case s.found.noGit != "":
		fmt.Fprintf(&b, "%s\n\n", s.found.noGit)
	case s.asked.since != "":
		fmt.Fprintf(&b, "There are no commits since %s.\n\n", s.asked.since)
	default:
		b.WriteString("There are no commits here yet.\n\n")
	}
	s.writeListing(&b)
	s.writeFiles(&b)
	s.writeSearches(&b)
	b.WriteString("The whole picture is in " + reportName + ".\n")
	return b.String()
}

func (s *session) writeHistory(b *strings.Builder) {
	a := summarise(s.found.commits)
	span := "on " + a.last
	if a.first != a.last {
		span = "from " + a.first + " to " + a.last
	}
	fmt.Fprintf(b, "The last %s, %s, added %s and removed %s", plural(len(s.found.commits), "commit"), span, plural(a.added, "line"), plural(a.removed, "line"))
	fmt.Fprintf(b, "; by %s.\n\n", counts(most(a.authors, shownAreas)))
	fmt.Fprintf(b, "Most of the work was in %s.\n", counts(most(a.areas, shownAreas)))
	fmt.Fprintf(b, "Touched most often: %s.\n\n", counts(most(a.files, shownFiles)))
	b.WriteString("What happened, newest first:\n")
	for _, c := range s.found.commits[:min(shownCommits, len(s.found.commits))] {
		fmt.Fprintf(b, "- %s %s (%s, +%d −%d)\n", c.Hash, c.Subject, c.Author, c.Added, c.Removed)
	}
	if more := len(s.found.commits) - shownCommits; more > 0 {
		fmt.Fprintf(b, "- … and %d more\n", more)
	}
	b.WriteString("\n")
}

func (s *session) writeListing(b *strings.Builder) {
	l := s.found.listing
	if l.Files == 0 {
		b.WriteString("The folder is empty. Put a project into it, or start edge-server in a git repository (or set EDGE_REPOSITORY), and ask again.\n\n")
		return
	}
	fmt.Fprintf(b, "The folder has %s, mostly %s.\n\n", plural(l.Files, "file"), counts(most(l.Extensions, shownAreas)))
}

func (s *session) writeFiles(b *strings.Builder) {
	for _, f := range s.found.files {
		fmt.Fprintf(b, "%s has %s (%d bytes)", f.name, plural(f.text.Lines, "line"), f.text.Bytes)
		if len(f.history) > 0 {
			c := f.history[0]
			fmt.Fprintf(b, "; last changed %s by %s: %s", c.Date, c.Author, c.Subject)
		}
		b.WriteString(".\n")
	}
	for _, name := range s.found.unknown {
		fmt.Fprintf(b, "There is no file %s here.\n", name)
	}
	if len(s.found.files)+len(s.found.unknown) > 0 {
		b.WriteString("\n")
	}
}

func (s *session) writeSearches(b *strings.Builder) {
	for _, h := range s.found.searches {
		if h.Total == 0 {
			fmt.Fprintf(b, "Nothing here mentions “%s”.\n\n", h.Word)
			continue
		}
		fmt.Fprintf(b, "“%s” is on %s of %s:\n", h.Word, plural(h.Total, "line"), plural(h.Files, "file"))
		for _, m := range h.Matches[:min(shownMatches, len(h.Matches))] {
			fmt.Fprintf(b, "- %s:%d  %s\n", m.File, m.Line, m.Text)
		}
		b.WriteString("\n")
	}
}

func counts(all []count) string {
	parts := make([]string, len(all))
	for i, c := range all {
		parts[i] = fmt.Sprintf("%s (%d)", c.name, c.n)
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}
