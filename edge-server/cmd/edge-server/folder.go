package main

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// folder is what was in a folder when somebody looked.
type folder struct {
	path  string
	known map[string]bool // nil: it could not be read, and nothing can be said of it
}

func lookInto(path string) folder {
	entries, err := os.ReadDir(path)
	if err != nil {
		return folder{}
	}
	f := folder{path: path, known: map[string]bool{}}
	for _, entry := range entries {
		f.known[entry.Name()] = true
	}
	return f
}

// maxNamed is how many new files are named.
const maxNamed = 3

// tellNew says what is there now and was not before. It stays: what an agent made may be what somebody wants to look at.
func (f folder) tellNew(w io.Writer) {
	entries, err := os.ReadDir(f.path)
	if err != nil || f.known == nil {
		return
	}
	var names []string
	for _, entry := range entries {
		if !f.known[entry.Name()] {
			names = append(names, fmt.Sprintf("%q", entry.Name())) // quoted: a name may hold anything
		}
	}
	switch more := len(names) - maxNamed; {
	case len(names) == 0:
	case more > 0:
		fmt.Fprintf(w, "new in %s since the check began: %d files or folders, %s and %d more\n", f.path, len(names), strings.Join(names[:maxNamed], ", "), more)
	default:
		fmt.Fprintf(w, "new in %s since the check began: %s\n", f.path, strings.Join(names, ", "))
	}
}
