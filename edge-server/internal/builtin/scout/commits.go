package scout

import (
	"bytes"
	"context"
	"path"
	"strconv"
	"strings"
)

// commit is one commit of the history, as git_log shows it.
type commit struct {
	Hash    string   `json:"hash"`
	Author  string   `json:"author"`
	Date    string   `json:"date"` // YYYY-MM-DD
	Subject string   `json:"subject"`
	Added   int      `json:"added"`   // lines
	Removed int      `json:"removed"` // lines
	Files   []string `json:"files"`
}

const (
	shortHash     = 10
	maxFilesShown = 12 // of one commit, in the result of a tool
	record        = "\x1e"
	field         = "\x1f"
)

// log reads the newest commits, of one path if there is one.
func (g git) log(ctx context.Context, limit int, since, file string) ([]commit, error) {
	args := []string{
		"log", "-n", strconv.Itoa(limit), "--no-ext-diff", "--no-textconv", "--numstat", "-z", "--date=short",
		"--pretty=format:" + record + "%H" + field + "%an" + field + "%ad" + field + "%s" + field,
	}
	if since != "" {
		args = append(args, "--since="+since)
	}
	if file != "" {
		args = append(args, "--", file)
	}
	out, err := g.run(ctx, args...)
	if err != nil {
		return nil, err
	}
	return parseLog(out), nil
}

// parseLog reads what log asks git for. Names are as they are: -z keeps git from quoting them.
func parseLog(out []byte) []commit {
	var commits []commit
	for _, raw := range bytes.Split(out, []byte(record))[1:] {
		parts := strings.SplitN(string(raw), field, 5)
		if len(parts) != 5 {
			continue
		}
		c := commit{
			Hash: parts[0][:min(shortHash, len(parts[0]))], Author: valid(parts[1]), Date: valid(parts[2]), Subject: valid(parts[3]), Files: []string{},
		}
		c.numstat(parts[4])
		commits = append(commits, c)
	}
	return commits
}

// numstat reads "added TAB removed TAB name NUL" items; of a renamed file the name is empty and two names follow.
func (c *commit) numstat(text string) {
	items := strings.Split(strings.TrimLeft(text, "\n\x00"), "\x00")
	for i := 0; i < len(items); i++ {
		parts := strings.SplitN(strings.TrimLeft(items[i], "\n"), "\t", 3)
		if len(parts) != 3 {
			continue
		}
		name := parts[2]
		if name == "" && i+2 < len(items) {
			name = items[i+2]
			i += 2
		}
		c.Added += number(parts[0])
		c.Removed += number(parts[1])
		c.Files = append(c.Files, valid(name))
	}
}

// number reads a count of lines; "-" is a binary file.
func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}

func (c commit) size() int { return c.Added + c.Removed }

// shown is the commit with no more files than a reader of the log wants to see.
func (c commit) shown() commit {
	c.Files = c.Files[:min(len(c.Files), maxFilesShown)]
	return c
}

// show returns what one commit says and which files it touches.
func (g git) show(ctx context.Context, hash string) (string, error) {
	out, err := g.run(ctx, "show", "--no-ext-diff", "--no-textconv", "--stat=100", "--format=%an <%ae>%n%ad%n%n%B", "--date=iso-strict", hash, "--")
	return clip(valid(string(out)), maxText), err
}

// area is the part of a repository that a file belongs to: its first two folders.
func area(file string) string {
	dir := path.Dir(file)
	if dir == "." {
		return "(top level)"
	}
	parts := strings.Split(dir, "/")
	return strings.Join(parts[:min(2, len(parts))], "/")
}

func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
