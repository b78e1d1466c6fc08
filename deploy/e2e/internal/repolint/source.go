// Package repolint holds the rules of this repository that no linter knows: which package may import which, how long a
// file may be, who may start a goroutine, which words stay out. Its tests apply them to the whole repository and show,
// rule by rule, that a breach is caught.
package repolint

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// modulePrefix starts the import path of every package here.
const modulePrefix = "github.com/switchyard-dev/switchyard/"

// File is one Go file of the repository.
type File struct {
	Path      string // from the root, with slashes
	Module    string // folder of its module, from the root
	Lines     int
	Generated bool

	syntax    *ast.File
	positions *token.FileSet
}

// Problem is one breach of a rule, with what to do about it in Text.
type Problem struct {
	Path string
	Line int
	Text string
}

func (p Problem) String() string { return fmt.Sprintf("%s:%d: %s", p.Path, p.Line, p.Text) }

// Package is the folder of f from the root, the form in which the rules name packages.
func (f File) Package() string { return path.Dir(f.Path) }

// IsTest says whether f is test code: a _test.go file, a package that only helps tests (testpg, storetest), or anything
// in the module of the system tests.
func (f File) IsTest() bool {
	name := path.Base(f.Package())
	return strings.HasSuffix(f.Path, "_test.go") || strings.HasPrefix(name, "test") || strings.HasSuffix(name, "test") ||
		f.Module == "deploy/e2e"
}

// Imports yields the import paths of f with their lines; those of this repository as folders from the root.
func (f File) Imports(yield func(imported string, line int) bool) {
	for _, spec := range f.syntax.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue // the parser has already refused it
		}
		if !yield(strings.TrimPrefix(imported, modulePrefix), f.line(spec)) {
			return
		}
	}
}

func (f File) line(node ast.Node) int    { return f.positions.Position(node.Pos()).Line }
func (f File) endLine(node ast.Node) int { return f.positions.Position(node.End()).Line }

func (f File) problem(line int, format string, args ...any) Problem {
	return Problem{Path: f.Path, Line: line, Text: fmt.Sprintf(format, args...)}
}

// Root is the folder above the working directory that holds go.work.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the repository: %w", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.work")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", fmt.Errorf("find the repository: no go.work above the working directory")
		}
		dir = parent
	}
}

// Load parses every Go file of the repository at root. Test data and what git ignores are left out.
func Load(root string) ([]File, error) {
	var files []File
	err := Walk(root, func(name string) error {
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		source, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		file, err := parse(name, source)
		if err != nil {
			return err
		}
		files = append(files, file)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the repository: %w", err)
	}
	return files, nil
}

// Walk calls visit with the path from root, with slashes, of every file that belongs to the repository.
func Walk(root string, visit func(name string) error) error {
	return filepath.WalkDir(root, func(full string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, full)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if entry.IsDir() {
			if isForeign(name) {
				return filepath.SkipDir
			}
			return nil
		}
		return visit(name)
	})
}

// isForeign says whether a folder holds what is not ours to judge: git's own files, programs, state, test data.
func isForeign(dir string) bool {
	switch path.Base(dir) {
	case ".git", ".switchyard", "testdata", "node_modules":
		return true
	}
	return dir == "bin"
}

func parse(name string, source []byte) (File, error) {
	positions := token.NewFileSet()
	syntax, err := parser.ParseFile(positions, name, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return File{}, err
	}
	return File{
		Path:      name,
		Module:    moduleOf(name),
		Lines:     bytes.Count(source, []byte("\n")),
		Generated: ast.IsGenerated(syntax),
		syntax:    syntax,
		positions: positions,
	}, nil
}

// moduleOf names the module of a file; the client is a module inside the hub's folder.
func moduleOf(name string) string {
	for _, module := range []string{"hub-server/client", "hub-server", "edge-server", "shared", "deploy/e2e", "examples/agents/golang"} {
		if strings.HasPrefix(name, module+"/") {
			return module
		}
	}
	return path.Dir(name)
}
