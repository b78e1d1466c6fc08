package scout

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

// match is a line that holds a word.
type match struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Text string `json:"text"`
}

// hits is what search shows: the first matches, and how many there are.
type hits struct {
	Word    string  `json:"word"`
	Matches []match `json:"matches"`
	Total   int     `json:"total"`
	Files   int     `json:"files"`
}

const (
	maxMatches   = 20
	maxMatchText = 160
	maxSearched  = 2000 // files searched where there is no git
)

// search finds a word, whatever its case, in the text files of the workspace.
func (t *toolbox) search(ctx context.Context, word string, names []string) (hits, error) {
	out, err := t.git.run(ctx, "grep", "-z", "-n", "-I", "-i", "-F", "--no-color", "--untracked", "-e", word)
	var exit *exec.ExitError
	switch {
	case err == nil:
		return parseGrep(word, string(out)), nil
	case errors.As(err, &exit) && exit.ExitCode() == 1:
		return hits{Word: word, Matches: []match{}}, nil
	}
	return t.searchFiles(ctx, word, names)
}

// parseGrep reads lines of file, NUL, number, and then a NUL or a colon (by version of git), text.
func parseGrep(word, out string) hits {
	h := hits{Word: word, Matches: []match{}}
	last := ""
	for line := range strings.Lines(out) {
		file, rest, found := strings.Cut(strings.TrimSuffix(line, "\n"), "\x00")
		if i := strings.IndexAny(rest, ":\x00"); found && i > 0 {
			h.add(match{File: valid(file), Line: number(rest[:i]), Text: rest[i+1:]}, &last)
		}
	}
	return h
}

func (h *hits) add(m match, lastFile *string) {
	h.Total++
	if m.File != *lastFile {
		h.Files++
		*lastFile = m.File
	}
	if len(h.Matches) < maxMatches {
		m.Text = valid(strings.TrimSpace(m.Text))
		if len(m.Text) > maxMatchText {
			m.Text = strings.ToValidUTF8(m.Text[:maxMatchText], "") + "…"
		}
		h.Matches = append(h.Matches, m)
	}
}

func (t *toolbox) searchFiles(ctx context.Context, word string, names []string) (hits, error) {
	h := hits{Word: word, Matches: []match{}}
	last := ""
	for _, name := range names[:min(len(names), maxSearched)] {
		if ctx.Err() != nil {
			return h, fmt.Errorf("search: %w", ctx.Err())
		}
		text, err := t.read(name)
		if err != nil {
			continue // gone, or not ours to read
		}
		lines := bufio.NewScanner(strings.NewReader(text.Head))
		for n := 1; lines.Scan(); n++ {
			if strings.Contains(strings.ToLower(lines.Text()), strings.ToLower(word)) {
				h.add(match{File: valid(name), Line: n, Text: lines.Text()}, &last)
			}
		}
	}
	return h, nil
}
