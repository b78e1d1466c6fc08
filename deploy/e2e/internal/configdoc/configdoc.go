// Package configdoc writes docs/config.md from the programs' source: every setting stands there once, as a field with an `env` tag or as a
// constant, and what the comment beside it says is what the page says.
package configdoc

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/repolint"
)

// Setting is one environment variable that a program reads.
type Setting struct {
	Variable string
	Default  string // as it would be written in the environment; "" when there is none or the meaning tells how it is found
	Meaning  string // sentences for the person who sets it
	Secret   bool   // never printed, by `--check` neither
}

// Problem is a setting that its page could not explain.
type Problem struct {
	Path string
	Line int
	Text string
}

func (p Problem) String() string { return fmt.Sprintf("%s:%d: %s", p.Path, p.Line, p.Text) }

// variable is the form of our names; the agent that ships with the edge uses the names that its endpoints have everywhere.
var variable = regexp.MustCompile(`^(?:HUB|EDGE|YARD|OPENAI)_[A-Z0-9_]*[A-Z0-9]$`)

// mention is a name of ours inside a sentence.
var mention = regexp.MustCompile("`?\\b(?:HUB|EDGE|YARD|OPENAI)_[A-Z0-9_]*[A-Z0-9]\\b`?")

// Read collects the settings that the folders of the repository at root declare, in the order of the folders and of their source.
func Read(root string, folders []string) ([]Setting, []Problem, error) {
	var r reader
	for _, folder := range folders {
		if err := r.folder(root, folder); err != nil {
			return nil, nil, fmt.Errorf("read the settings in %s: %w", folder, err)
		}
	}
	return r.settings, r.problems, nil
}

type reader struct {
	settings  []Setting
	problems  []Problem
	path      string
	positions *token.FileSet
}

func (r *reader) folder(root, folder string) error {
	return repolint.Walk(root, func(name string) error {
		if !strings.HasPrefix(name, folder+"/") || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		source, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		return r.file(name, source)
	})
}

func (r *reader) file(name string, source []byte) error {
	r.path, r.positions = name, token.NewFileSet()
	syntax, err := parser.ParseFile(r.positions, name, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	ast.Inspect(syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			r.field(n)
		case *ast.GenDecl:
			r.constants(n)
		}
		return true
	})
	return nil
}

// field takes a field of a configuration (comment, env, envDefault) or of a command line (help, env, default).
func (r *reader) field(f *ast.Field) {
	if f.Tag == nil {
		return
	}
	quoted, err := strconv.Unquote(f.Tag.Value)
	if err != nil {
		return // the parser has already refused it
	}
	tag := reflect.StructTag(quoted)
	name, _, _ := strings.Cut(tag.Get("env"), ",")
	if !variable.MatchString(name) {
		return
	}
	meaning := sentences(f.Doc)
	if meaning == "" {
		meaning = tag.Get("help")
	}
	kind, _ := f.Type.(*ast.Ident)
	r.add(f, Setting{
		Variable: name,
		Default:  tag.Get("envDefault") + tag.Get("default"),
		Meaning:  meaning,
		Secret:   kind != nil && kind.Name == "Secret" || secret(name),
	})
}

// constants takes variables that are looked up by name.
func (r *reader) constants(d *ast.GenDecl) {
	for _, spec := range d.Specs {
		c, ok := spec.(*ast.ValueSpec)
		switch {
		case !ok:
		case c.Doc == nil && len(d.Specs) == 1:
			r.constant(c, d.Doc)
		default:
			r.constant(c, c.Doc)
		}
	}
}

func (r *reader) constant(c *ast.ValueSpec, doc *ast.CommentGroup) {
	for _, value := range c.Values {
		literal, ok := value.(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING {
			continue
		}
		name, err := strconv.Unquote(literal.Value)
		if err != nil || !variable.MatchString(name) {
			continue
		}
		r.add(c, Setting{Variable: name, Meaning: sentences(doc), Secret: secret(name)})
	}
}

// add keeps the first declaration of a variable; a program may hand one on to a part that declares it too.
func (r *reader) add(at ast.Node, s Setting) {
	if slices.ContainsFunc(r.settings, func(known Setting) bool { return known.Variable == s.Variable }) {
		return
	}
	line := r.positions.Position(at.Pos()).Line
	if s.Meaning == "" {
		r.problems = append(r.problems, Problem{r.path, line, s.Variable + ": a comment has to say what it means"})
	}
	r.settings = append(r.settings, s)
}

func secret(name string) bool {
	return strings.HasSuffix(name, "_KEY") || strings.HasSuffix(name, "_TOKEN") || strings.HasSuffix(name, "_PASSWORD")
}

// sentences returns a comment as one line that begins and ends as a sentence does.
func sentences(comment *ast.CommentGroup) string {
	text := strings.Join(strings.Fields(comment.Text()), " ")
	if text == "" {
		return ""
	}
	text = strings.ToUpper(text[:1]) + text[1:]
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text
}
