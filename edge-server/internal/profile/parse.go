package profile

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// maxFile bounds a profile's file, in bytes, before it is parsed.
const maxFile = 256 << 10

// wrapper is the optional key under which the whole profile may stand.
const wrapper = "agentproc"

// Parse reads a profile's file; dir is the absolute folder that it lies in. All problems are reported at once. The profile can be used
// unless the problems are faulty.
func Parse(data []byte, name Name, dir string) (Profile, Problems) {
	r := reader{profile: named(name, dir), seen: map[string]bool{}}
	if !name.Valid() {
		r.problems.fault(0, "the file's name without .yaml names the agent: 1 to 64 of a-z 0-9 . _ -, letter or digit first")
	}
	switch {
	case len(data) > maxFile:
		r.problems.fault(0, "the file is larger than %d KiB", maxFile>>10)
	default:
		r.file(data)
	}
	slices.SortStableFunc(r.problems, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	return r.profile, r.problems
}

// reader fills a profile from the nodes of a file and remembers what is wrong with them.
type reader struct {
	profile  Profile
	problems Problems
	seen     map[string]bool // keys that were there
}

func (r *reader) file(data []byte) {
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		r.syntax(err)
		return
	}
	if len(file.Docs) != 1 || file.Docs[0].Body == nil {
		r.problems.fault(0, "the file must hold exactly one YAML document with a mapping")
		return
	}
	entries, ok := mapping(file.Docs[0].Body)
	if !ok {
		r.problems.fault(line(file.Docs[0].Body), "the profile must be a mapping such as `command: python3`")
		return
	}
	for _, e := range entries {
		inner, ok := mapping(e.Value)
		if key(e) == wrapper && ok {
			r.fields(inner)
			continue
		}
		r.field(e)
	}
	r.whole()
}

func (r *reader) syntax(err error) {
	var bad *yaml.SyntaxError
	if errors.As(err, &bad) && bad.Token != nil && bad.Token.Position != nil {
		r.problems.fault(bad.Token.Position.Line, "not YAML: %s", bad.Message)
		return
	}
	text, _, _ := strings.Cut(err.Error(), "\n")
	r.problems.fault(0, "not YAML: %s", text)
}

func (r *reader) fields(entries []*ast.MappingValueNode) {
	for _, e := range entries {
		r.field(e)
	}
}

func (r *reader) field(e *ast.MappingValueNode) {
	name := key(e)
	if r.seen[name] {
		r.problems.fault(line(e.Key), "%s is given twice", name)
		return
	}
	r.seen[name] = true
	read, known := readers()[name]
	if !known {
		r.problems.warn(line(e.Key), "unknown field %s is ignored", name)
		return
	}
	if _, null := e.Value.(*ast.NullNode); null || e.Value == nil {
		r.problems.warn(line(e.Key), "%s has no value and is ignored", name)
		return
	}
	read(r, name, e.Value)
}

// whole checks what no single field shows.
func (r *reader) whole() {
	p := &r.profile
	known := slices.Contains(Executors(), p.Executor)
	switch {
	case known && r.seen["command"]:
		r.problems.warn(0, "executor %s is part of the edge, so command is ignored", p.Executor)
	case known:
	case p.Executor != "" && p.Command == "":
		r.problems.fault(0, "executor %q is not known here (known: %s) and there is no command", p.Executor, strings.Join(Executors(), ", "))
	case p.Executor != "":
		r.problems.warn(0, "executor %q is not known here (known: %s), so command is started", p.Executor, strings.Join(Executors(), ", "))
	case p.Command == "" && !r.problems.Faulty():
		r.problems.fault(0, "command is missing: the program to start, one token")
	}
	if known && !r.seen["runtime"] {
		p.Runtime = Events
	}
	if p.Permission && p.Runtime == Events {
		r.problems.fault(0, "permission belongs to runtime bridge")
	}
	r.policy()
}

// policy warns about answers that nobody will ask for.
func (r *reader) policy() {
	p := &r.profile
	if r.seen["permission_policy"] && !p.Permission {
		r.problems.warn(0, "permission_policy does nothing without permission: true")
	}
	if r.seen["readonly_tools"] && p.Policy != AllowReadonly {
		r.problems.warn(0, "readonly_tools does nothing without permission_policy: %s", AllowReadonly)
	}
}

// mapping returns the entries of a node that is a mapping.
func mapping(n ast.Node) ([]*ast.MappingValueNode, bool) {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}, true
	}
	return nil, false
}

func key(e *ast.MappingValueNode) string {
	if e.Key == nil || e.Key.GetToken() == nil {
		return ""
	}
	return e.Key.GetToken().Value
}

func line(n ast.Node) int {
	if n == nil || n.GetToken() == nil || n.GetToken().Position == nil {
		return 0
	}
	return n.GetToken().Position.Line
}
