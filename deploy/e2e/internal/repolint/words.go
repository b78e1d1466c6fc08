package repolint

import (
	"bufio"
	"bytes"
	"path"
	"regexp"
	"strings"
)

// word is something that must not be in a file, and why.
type word struct {
	pattern *regexp.Regexp
	why     string
	goOnly  bool
}

var words = []word{
	{regexp.MustCompile(`\b(TODO|FIXME|XXX|HACK)\b`), "finish it or write an issue", true},
	{regexp.MustCompile(`/work/(main|shared|\.library)\b|/root/|/home/[a-z]+/go/|/Users/[a-z]+/go/`), "a path of somebody's machine", false},
	{regexp.MustCompile(`(?i)\b(GOPROXY|GONOSUMDB|GOINSECURE|PIP_INDEX_URL|NPM_CONFIG_REGISTRY)\s*=`), "a package registry of somebody's network", false},
}

// textKinds are the files that people write here.
var textKinds = map[string]bool{
	".go": true, ".md": true, ".sh": true, ".yaml": true, ".yml": true, ".json": true, ".sql": true, ".py": true,
	".js": true, ".ts": true, ".mod": true, ".svg": true, ".toml": true, "": true,
}

// Words reports forbidden words in one file of the repository. This package, which has to name them, is exempt.
func Words(name string, content []byte) []Problem {
	if !textKinds[path.Ext(name)] || strings.Contains(name, "internal/repolint/") || strings.HasSuffix(name, ".gen.go") {
		return nil
	}
	var problems []Problem
	lines := bufio.NewScanner(bytes.NewReader(content))
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		for _, w := range words {
			if w.goOnly && path.Ext(name) != ".go" {
				continue
			}
			if found := w.pattern.FindString(lines.Text()); found != "" {
				problems = append(problems, Problem{Path: name, Line: n, Text: found + ": " + w.why})
			}
		}
	}
	return problems
}
