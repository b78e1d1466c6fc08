package repolint

import (
	"maps"
	"slices"
	"strings"
)

// manyImporters are the libraries that more than one package of a module may import, each with its reason.
var manyImporters = map[string]string{
	"github.com/prometheus/client_golang": "each package declares its own metrics",
	"github.com/alecthomas/kong":          "each program reads its own command line",
	"github.com/coder/websocket":          "gate, uplink and the edge's eventsocket: three protocols that share a handshake",
	"github.com/google/uuid":              "a way to write a number; ids of ours are made in shared/id alone",
	"golang.org/x/sys":                    "names system calls that the standard library leaves out; it has no ideas to leak",
}

// Libraries reports every library with more than one importing package in one module: the second importer means that
// the library's ideas leak, and that replacing it is no longer a change in one place. Tests do not count, nor programs
// beside each other.
func Libraries(files []File) []Problem {
	importers := map[string]map[string][]File{} // module and library, then package
	for _, f := range files {
		if f.IsTest() || f.Generated {
			continue
		}
		for imported := range f.Imports {
			library := libraryOf(imported)
			if library == "" || manyImporters[library] != "" {
				continue
			}
			key := f.Module + " " + library
			if importers[key] == nil {
				importers[key] = map[string][]File{}
			}
			importers[key][f.Package()] = append(importers[key][f.Package()], f)
		}
	}
	var problems []Problem
	for _, key := range slices.Sorted(maps.Keys(importers)) {
		packages := slices.Sorted(maps.Keys(importers[key]))
		if len(packages) > 1 {
			_, library, _ := strings.Cut(key, " ")
			f := importers[key][packages[0]][0]
			problems = append(problems, f.problem(1, "%s has more than one importer: %s", library, strings.Join(packages, ", ")))
		}
	}
	return problems
}

// libraryOf returns the module-like prefix of a third-party import path: the host and two elements, or the host and
// one where that is the custom. The standard library and this repository have none.
func libraryOf(imported string) string {
	parts := strings.Split(imported, "/")
	if !strings.Contains(parts[0], ".") {
		return ""
	}
	depth := 3
	if parts[0] == "modernc.org" || parts[0] == "go.uber.org" || parts[0] == "pgregory.net" || parts[0] == "go.opentelemetry.io" {
		depth = 2
	}
	return strings.Join(parts[:min(depth, len(parts))], "/")
}
