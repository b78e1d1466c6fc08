package profile

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

const (
	// maxFile bounds a profile's file, in bytes, before it is parsed.
	maxFile = 256 << 10
	// maxDescription is how many characters of a description people see.
	maxDescription = 300
	// wrapper is the optional key under which the whole profile may stand.
	wrapper = "agentproc"
	// extension begins the keys that this edge leaves to others.
	extension = "x-"
)

// Parse reads a profile's file; dir is the absolute folder that it lies in. All problems are reported at once. The profile can be used
// unless the problems are faulty.
func Parse(data []byte, name Name, dir string) (Profile, Problems) {
	r := parse(data, name, dir)
	return r.profile, r.problems
}

func parse(data []byte, name Name, dir string) *reader {
	r := &reader{profile: named(name, dir), seen: map[string]place{}, wrong: map[string]bool{}}
	if !name.Valid() {
		r.problems.fault(place{}, "the file's name without .yaml names the agent: 1 to 64 of a-z 0-9 . _ -, letter or digit first")
	}
	switch {
	case len(data) > maxFile:
		r.problems.fault(place{}, "the file is larger than %d KiB", maxFile>>10)
	default:
		r.file(data)
	}
	r.problems.sort()
	return r
}

// reader fills a profile from the nodes of a file and remembers what is wrong with them.
type reader struct {
	profile  Profile
	problems Problems
	seen     map[string]place // keys that have a value
	wrong    map[string]bool  // keys whose value cannot be used
}

func (r *reader) file(data []byte) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))                        // some editors begin a file with it
	file, err := parser.ParseBytes(data, 0, parser.AllowDuplicateMapKey()) // a key that is there twice must not hide what else is wrong
	if err != nil {
		r.syntax(err)
		return
	}
	if len(file.Docs) != 1 || file.Docs[0].Body == nil {
		r.problems.fault(place{}, "the file must hold exactly one YAML document with a mapping")
		return
	}
	entries, ok := mapping(file.Docs[0].Body)
	if !ok {
		r.problems.fault(placeOf(file.Docs[0].Body), "the profile must be a mapping such as `command: python3`")
		return
	}
	if i := slices.IndexFunc(entries, func(e *ast.MappingValueNode) bool { return key(e) == wrapper }); i >= 0 {
		if entries, ok = r.unwrap(entries, i); !ok {
			return
		}
	}
	r.fields(entries)
	r.whole()
}

// unwrap returns what stands inside the wrapper, which is entry i. Nothing of a profile may stand beside it.
func (r *reader) unwrap(entries []*ast.MappingValueNode, i int) ([]*ast.MappingValueNode, bool) {
	for j, e := range entries {
		if name := key(e); j != i && !strings.HasPrefix(name, extension) {
			r.problems.fault(placeOf(e.Key), "%s stands beside %s: the whole profile belongs inside it", name, wrapper)
		}
	}
	inner, ok := mapping(entries[i].Value)
	if !ok {
		r.problems.fault(placeOf(entries[i].Key), "%s must hold the profile, a mapping such as `command: python3`", wrapper)
	}
	return inner, ok
}

func (r *reader) syntax(err error) {
	var bad *yaml.SyntaxError
	if errors.As(err, &bad) && bad.Token != nil && bad.Token.Position != nil {
		r.problems.fault(place{bad.Token.Position.Line, bad.Token.Position.Column}, "not YAML: %s", bad.Message)
		return
	}
	text, _, _ := strings.Cut(err.Error(), "\n")
	r.problems.fault(place{}, "not YAML: %s", text)
}

func (r *reader) fields(entries []*ast.MappingValueNode) {
	names := map[string]bool{}
	for _, e := range entries {
		name := key(e)
		switch {
		case strings.HasPrefix(name, extension):
		case names[name]:
			r.problems.fault(placeOf(e.Key), "%s is given twice", name)
		default:
			names[name] = true
			r.field(name, e)
		}
	}
}

func (r *reader) field(name string, e *ast.MappingValueNode) {
	at := placeOf(e.Key)
	f, known := fieldNamed(name)
	if !known {
		r.problems.fault(at, "unknown field %s%s", name, didYouMean(suggest(name, append(fieldNames(), wrapper))))
		return
	}
	if _, null := e.Value.(*ast.NullNode); null || e.Value == nil {
		r.problems.warn(at, "%s has no value and is ignored", name)
		return
	}
	r.seen[name] = at
	before := r.problems.Errors()
	f.kind.read(r, name, e.Value)
	r.wrong[name] = r.problems.Errors() > before
}

func (r *reader) has(name string) bool {
	_, seen := r.seen[name]
	return seen
}

// whole checks what no single field shows.
func (r *reader) whole() {
	r.program()
	p := &r.profile
	if r.has("permission_policy") && !r.wrong["permission_policy"] && !p.Permission {
		r.problems.warn(r.seen["permission_policy"], "permission_policy does nothing without permission: true")
	}
	if r.has("readonly_tools") && p.Policy != AllowReadonly {
		r.problems.warn(r.seen["readonly_tools"], "readonly_tools does nothing without permission_policy: %s", AllowReadonly)
	}
	if r.has("controls") && len(p.Controls) > 0 && p.Runtime != Events {
		r.problems.fault(r.seen["controls"], "controls are for agents that say runtime: %s; the %s protocol has no words for them", Events, p.Runtime)
	}
	for _, name := range p.PublicEnv {
		if _, set := p.Env[name]; !set {
			r.problems.warn(r.seen["public_env"], "public_env names %s, which is not in env", name)
		}
	}
	if utf8.RuneCountInString(p.Description) > maxDescription {
		r.problems.warn(r.seen["description"], "description is cut to %d characters", maxDescription)
		p.Description = string([]rune(p.Description)[:maxDescription])
	}
}

// program checks that there is something to start.
func (r *reader) program() {
	p := &r.profile
	known := strings.Join(Executors(), ", ")
	switch {
	case slices.Contains(Executors(), p.Executor):
		if !r.has("runtime") {
			p.Runtime = Events
		}
		if !r.has("controls") && p.Runtime == Events {
			p.Controls = controlsOf(p.Executor)
		}
		if r.has("command") {
			r.problems.warn(r.seen["command"], "executor %s is part of the edge, so command is ignored", p.Executor)
		}
	case p.Executor != "" && p.Command == "":
		r.problems.fault(r.seen["executor"], "executor %q is not known here (known: %s) and there is no command", p.Executor, known)
	case p.Executor != "":
		r.problems.warn(r.seen["executor"], "executor %q is not known here (known: %s), so command is started", p.Executor, known)
	case p.Command == "" && !r.wrong["command"] && !r.wrong["executor"]:
		r.problems.fault(r.seen["command"], "command is missing: the program to start, one token")
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

func placeOf(n ast.Node) place {
	if n == nil || n.GetToken() == nil || n.GetToken().Position == nil {
		return place{}
	}
	at := n.GetToken().Position
	return place{at.Line, at.Column}
}
