package profile

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// maxSeconds keeps a number of seconds within what a time.Duration holds.
const maxSeconds = 100 * 365 * 24 * 3600

type fieldReader func(r *reader, name string, n ast.Node)

// readers says how to read each field. S4's are the first group, ours the second.
func readers() map[string]fieldReader {
	return map[string]fieldReader{
		"command":         text(func(p *Profile) *string { return &p.Command }),
		"args":            list(func(p *Profile) *[]string { return &p.Args }),
		"cwd":             text(func(p *Profile) *string { return &p.Cwd }),
		"env":             environment,
		"env_allowlist":   list(func(p *Profile) *[]string { return &p.EnvAllowlist }),
		"timeout_secs":    seconds(func(p *Profile) *time.Duration { return &p.Timeout }),
		"kill_grace_secs": seconds(func(p *Profile) *time.Duration { return &p.Grace }),
		"streaming":       flag(func(p *Profile) *bool { return &p.Streaming }),
		"permission":      flag(func(p *Profile) *bool { return &p.Permission }),
		"executor":        text(func(p *Profile) *string { return &p.Executor }),

		"runtime":           runtimeName,
		"description":       text(func(p *Profile) *string { return &p.Description }),
		"public_env":        list(func(p *Profile) *[]string { return &p.PublicEnv }),
		"permission_policy": policyName,
		"readonly_tools":    list(func(p *Profile) *[]string { return &p.ReadonlyTools }),
		"max_runs":          count(func(p *Profile) *int { return &p.MaxRuns }),
	}
}

func text(into func(*Profile) *string) fieldReader {
	return func(r *reader, name string, n ast.Node) {
		if value, ok := r.scalar(name, n); ok {
			*into(&r.profile) = value
		}
	}
}

func list(into func(*Profile) *[]string) fieldReader {
	return func(r *reader, name string, n ast.Node) {
		sequence, ok := n.(*ast.SequenceNode)
		if !ok {
			r.problems.fault(line(n), "%s must be a list such as [a, b]", name)
			return
		}
		values := []string{}
		for _, item := range sequence.Values {
			if value, ok := r.scalar(name, item); ok {
				values = append(values, value)
			}
		}
		*into(&r.profile) = values
	}
}

func flag(into func(*Profile) *bool) fieldReader {
	return func(r *reader, name string, n ast.Node) {
		value, ok := n.(*ast.BoolNode)
		if !ok {
			r.problems.fault(line(n), "%s must be true or false", name)
			return
		}
		*into(&r.profile) = value.Value
	}
}

// seconds takes 0 and less as "none" (S4 §4.1).
func seconds(into func(*Profile) *time.Duration) fieldReader {
	return func(r *reader, name string, n ast.Node) {
		value, err := strconv.ParseFloat(n.GetToken().Value, 64)
		switch n.(type) {
		case *ast.IntegerNode, *ast.FloatNode:
		default:
			err = strconv.ErrSyntax
		}
		if err != nil || math.IsNaN(value) || value > maxSeconds {
			r.problems.fault(line(n), "%s must be a number of seconds", name)
			return
		}
		*into(&r.profile) = time.Duration(max(0, value) * float64(time.Second))
	}
}

// count takes a whole number of at least 1.
func count(into func(*Profile) *int) fieldReader {
	return func(r *reader, name string, n ast.Node) {
		value, err := strconv.Atoi(n.GetToken().Value)
		if _, whole := n.(*ast.IntegerNode); !whole || err != nil || value < 1 {
			r.problems.fault(line(n), "%s must be a whole number, 1 or more", name)
			return
		}
		*into(&r.profile) = value
	}
}

func environment(r *reader, name string, n ast.Node) {
	entries, ok := mapping(n)
	if !ok {
		r.problems.fault(line(n), "%s must be a mapping such as KEY: value", name)
		return
	}
	r.profile.Env = make(map[string]string, len(entries))
	for _, e := range entries {
		variable := key(e)
		if !variableName(variable) {
			r.problems.fault(line(e), "%q cannot name an environment variable", variable)
			continue
		}
		if _, null := e.Value.(*ast.NullNode); null {
			r.profile.Env[variable] = ""
			continue
		}
		if value, ok := r.scalar(name+"."+variable, e.Value); ok {
			r.profile.Env[variable] = value
		}
	}
}

func runtimeName(r *reader, name string, n ast.Node) {
	value, ok := r.scalar(name, n)
	switch runtime := Runtime(value); {
	case !ok:
	case runtime == Bridge, runtime == Events:
		r.profile.Runtime = runtime
	default:
		r.problems.fault(line(n), "runtime must be %s or %s", Bridge, Events)
	}
}

// scalar returns a single value as it is written: numbers and booleans are fine where a text is wanted.
func (r *reader) scalar(name string, n ast.Node) (string, bool) {
	var value string
	switch n := n.(type) {
	case *ast.StringNode:
		value = n.Value
	case *ast.LiteralNode:
		value = n.Value.Value
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		value = n.GetToken().Value
	default:
		r.problems.fault(line(n), "%s must be a single value (anchors, tags and nested values are not supported)", name)
		return "", false
	}
	if strings.ContainsRune(value, 0) {
		r.problems.fault(line(n), "%s holds a NUL byte", name)
		return "", false
	}
	for _, placeholder := range unknownPlaceholders(value) {
		r.problems.warn(line(n), "%s is not a placeholder and stays as it is", placeholder)
	}
	return value, true
}

func variableName(s string) bool { return s != "" && !strings.ContainsAny(s, "=\x00") }
