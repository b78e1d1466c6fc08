package doctest

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// BrokenLinks reports links to files that are not there and to headings that no document has. Links to the web are not
// followed: a test must not depend on somebody else's server.
func BrokenLinks(root string, documents []Document) []string {
	byPath := map[string]Document{}
	for _, d := range documents {
		byPath[d.Path] = d
	}
	var broken []string
	for _, d := range documents {
		for _, link := range d.Links {
			if why := follow(root, byPath, d, link.Target); why != "" {
				broken = append(broken, fmt.Sprintf("%s:%d: %s: %s", d.Path, link.Line, link.Target, why))
			}
		}
	}
	return broken
}

// follow says why target, seen from d, leads nowhere; "" if it leads somewhere.
func follow(root string, documents map[string]Document, d Document, target string) string {
	if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
		return ""
	}
	file, anchor, hasAnchor := strings.Cut(target, "#")
	name := d.Path
	if file != "" {
		name = path.Join(path.Dir(d.Path), file)
		if strings.HasPrefix(name, "..") {
			return "leads out of the repository"
		}
		if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(name))); err != nil {
			return "no such file"
		}
	}
	if hasAnchor && strings.HasSuffix(name, ".md") && !documents[name].anchors[anchor] {
		return "no such heading"
	}
	return ""
}
