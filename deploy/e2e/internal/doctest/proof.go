package doctest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// Proof is a test that a document names: [`package.TestName`](path/to/its_test.go).
type Proof struct {
	Path    string // of the document
	Line    int
	Package string
	Test    string
	File    string // as linked, from the document's folder
}

var proofPattern = regexp.MustCompile("\\[`(\\w+)\\.((?:Test|Fuzz|Benchmark)\\w+)`\\]\\(([^)#\\s]+)\\)")

// proofsOf finds the proofs in one line of a document.
func proofsOf(document string, n int, line string) []Proof {
	var proofs []Proof
	for _, found := range proofPattern.FindAllStringSubmatch(line, -1) {
		proofs = append(proofs, Proof{Path: document, Line: n, Package: found[1], Test: found[2], File: found[3]})
	}
	return proofs
}

// Unproven reports proofs whose test is not in the file that they link to.
func Unproven(root string, documents []Document) ([]string, error) {
	declared := map[string]testFile{}
	var missing []string
	for _, d := range documents {
		for _, proof := range d.Proofs {
			name := path.Join(path.Dir(proof.Path), proof.File)
			file, known := declared[name]
			if !known {
				var err error
				if file, err = readTests(filepath.Join(root, filepath.FromSlash(name))); err != nil {
					return nil, fmt.Errorf("%s:%d: %w", proof.Path, proof.Line, err)
				}
				declared[name] = file
			}
			if file.pkg != proof.Package || !file.tests[proof.Test] {
				missing = append(missing, fmt.Sprintf("%s:%d: %s.%s: not in %s", proof.Path, proof.Line, proof.Package, proof.Test, name))
			}
		}
	}
	return missing, nil
}

// testFile is what a file of tests declares.
type testFile struct {
	pkg   string // without _test
	tests map[string]bool
}

func readTests(file string) (testFile, error) {
	source, err := os.ReadFile(file)
	if err != nil {
		return testFile{}, fmt.Errorf("read the tests: %w", err)
	}
	syntax, err := parser.ParseFile(token.NewFileSet(), file, source, parser.SkipObjectResolution)
	if err != nil {
		return testFile{}, fmt.Errorf("read the tests: %w", err)
	}
	found := testFile{pkg: strings.TrimSuffix(syntax.Name.Name, "_test"), tests: map[string]bool{}}
	for _, declaration := range syntax.Decls {
		if f, ok := declaration.(*ast.FuncDecl); ok && f.Recv == nil && isTest(f) {
			found.tests[f.Name.Name] = true
		}
	}
	return found, nil
}

// isTest says whether the go tool would run f: a function of one *testing.T, *testing.F or *testing.B, and named for it.
func isTest(f *ast.FuncDecl) bool {
	if len(f.Type.Params.List) != 1 || f.Type.Results != nil {
		return false
	}
	pointer, ok := f.Type.Params.List[0].Type.(*ast.StarExpr)
	if !ok {
		return false
	}
	kind, ok := pointer.X.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	prefix := map[string]string{"T": "Test", "F": "Fuzz", "B": "Benchmark"}[kind.Sel.Name]
	return prefix != "" && strings.HasPrefix(f.Name.Name, prefix)
}

// Promise is a row of a table of guarantees: it begins with the guarantee's number.
type Promise struct {
	Number string
	Line   int
	Proofs int
}

var promisePattern = regexp.MustCompile(`^\| ((?:P|SEC)\d+)\b`)

// Promises lists the rows of text that promise something, with how many tests each of them names.
func Promises(text string) []Promise {
	var promises []Promise
	for i, line := range strings.Split(text, "\n") {
		if found := promisePattern.FindStringSubmatch(line); found != nil {
			promises = append(promises, Promise{Number: found[1], Line: i + 1, Proofs: len(proofsOf("", i+1, line))})
		}
	}
	return promises
}
