package profile

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// maxSeconds keeps a number of seconds within what a time.Duration holds.
const maxSeconds = 100 * 365 * 24 * 3600

type fieldReader func(r *reader, name string, n ast.Node)

func text(into func(*Profile) *string) kind {
	return kind{schema: scalarSchema(), read: func(r *reader, name string, n ast.Node) {
		if value, ok := r.scalar(name, n); ok {
			*into(&r.profile) = value
		}
	}}
}

func list(into func(*Profile) *[]string) kind {
	return kind{schema: listSchema(scalarSchema()), read: func(r *reader, name string, n ast.Node) {
		if values, ok := r.list(name, n); ok {
			*into(&r.profile) = values
		}
	}}
}

// words takes some of those that there are.
func words(options []string, into func(*Profile) *[]string) kind {
	return kind{schema: listSchema(schema{Enum: options}), read: func(r *reader, name string, n ast.Node) {
		values, ok := r.list(name, n)
		for _, value := range values {
			if !slices.Contains(options, value) {
				r.problems.fault(placeOf(n), "%s: %q is none of %s%s", name, value, strings.Join(options, " "), didYouMean(suggest(value, options)))
			}
		}
		if ok {
			*into(&r.profile) = values
		}
	}}
}

// variables takes names as ${VAR} can spell them: another one would never match.
func variables(into func(*Profile) *[]string) kind {
	const form = `^[A-Za-z_][A-Za-z0-9_]*$`
	return kind{schema: listSchema(schema{Type: "string", Pattern: form}), read: func(r *reader, name string, n ast.Node) {
		values, ok := r.list(name, n)
		if !ok {
			return
		}
		for _, value := range values {
			if !regexp.MustCompile(form).MatchString(value) {
				r.problems.fault(placeOf(n), "%s: %q is no name of a variable: letters, digits and _, not a digit first", name, value)
			}
		}
		*into(&r.profile) = values
	}}
}

func boolean(into func(*Profile) *bool) kind {
	return kind{schema: schema{Type: "boolean"}, read: func(r *reader, name string, n ast.Node) {
		value, ok := n.(*ast.BoolNode)
		if !ok {
			r.problems.fault(placeOf(n), "%s must be true or false", name)
			return
		}
		*into(&r.profile) = value.Value
	}}
}

// limit takes seconds; 0 and less is none (S4 §4.1).
func limit(into func(*Profile) *time.Duration) kind {
	return kind{schema: schema{Type: "number", Maximum: maxSeconds}, read: func(r *reader, name string, n ast.Node) {
		if value, ok := r.seconds(name, n); ok {
			*into(&r.profile) = max(0, value)
		}
	}}
}

// period takes seconds, 0 or more.
func period(into func(*Profile) *time.Duration) kind {
	return kind{schema: schema{Type: "number", Minimum: 0, Maximum: maxSeconds}, read: func(r *reader, name string, n ast.Node) {
		switch value, ok := r.seconds(name, n); {
		case !ok:
		case value < 0:
			r.problems.fault(placeOf(n), "%s must be 0 or more", name)
		default:
			*into(&r.profile) = value
		}
	}}
}

func (r *reader) seconds(name string, n ast.Node) (time.Duration, bool) {
	value, ok := number(n)
	if !ok || math.Abs(value) > maxSeconds {
		r.problems.fault(placeOf(n), "%s must be a number of seconds", name)
		return 0, false
	}
	return time.Duration(value * float64(time.Second)), true
}

// number reads a number, also one that the parser takes for a text, such as 1e3. Quoted ones are texts.
func number(n ast.Node) (float64, bool) {
	switch n.(type) {
	case *ast.IntegerNode, *ast.FloatNode:
	case *ast.StringNode:
		if n.GetToken().Type != token.StringType {
			return 0, false
		}
	default:
		return 0, false
	}
	value, err := strconv.ParseFloat(n.GetToken().Value, 64)
	return value, err == nil && !math.IsNaN(value)
}

// count takes a whole number of at least 1.
func count(into func(*Profile) *int) kind {
	return kind{schema: schema{Type: "integer", Minimum: 1}, read: func(r *reader, name string, n ast.Node) {
		value, err := strconv.Atoi(n.GetToken().Value)
		if _, whole := n.(*ast.IntegerNode); !whole || err != nil || value < 1 {
			r.problems.fault(placeOf(n), "%s must be a whole number, 1 or more", name)
			return
		}
		*into(&r.profile) = value
	}}
}

func choice[T ~string](options []T, into func(*Profile) *T) kind {
	var names []string
	for _, o := range options {
		names = append(names, string(o))
	}
	return kind{schema: schema{Enum: names}, read: func(r *reader, name string, n ast.Node) {
		value, ok := r.scalar(name, n)
		switch {
		case !ok:
		case slices.Contains(names, value):
			*into(&r.profile) = T(value)
		default:
			r.problems.fault(placeOf(n), "%s must be %s%s", name, oneOf(options), didYouMean(suggest(value, names)))
		}
	}}
}

func environment() kind {
	s := schema{Type: "object", PropertyNames: &schema{Pattern: `^[^=\s]+$`}, Additional: &schema{Type: append(scalarTypes(), "null")}}
	return kind{schema: s, read: readEnvironment}
}

func readEnvironment(r *reader, name string, n ast.Node) {
	entries, ok := mapping(n)
	if !ok {
		r.problems.fault(placeOf(n), "%s must be a mapping such as KEY: value", name)
		return
	}
	r.profile.Env = make(map[string]string, len(entries))
	for _, e := range entries {
		variable := key(e)
		_, again := r.profile.Env[variable]
		switch {
		case !variableName(variable):
			r.problems.fault(placeOf(e.Key), "%q cannot name an environment variable", variable)
		case again:
			r.problems.fault(placeOf(e.Key), "%s.%s is given twice", name, variable)
		default:
			r.profile.Env[variable] = r.variable(name+"."+variable, e.Value)
		}
	}
}

// variable reads the value of an environment variable; none at all is an empty one.
func (r *reader) variable(name string, n ast.Node) string {
	if _, null := n.(*ast.NullNode); null || n == nil {
		return ""
	}
	value, _ := r.scalar(name, n)
	return value
}

func (r *reader) list(name string, n ast.Node) ([]string, bool) {
	sequence, ok := n.(*ast.SequenceNode)
	switch n.(type) {
	case *ast.AliasNode, *ast.AnchorNode, *ast.TagNode:
		r.problems.fault(placeOf(n), "%s must be written out: anchors and tags are not supported", name)
		return nil, false
	}
	if !ok {
		r.problems.fault(placeOf(n), "%s must be a list such as [a, b]", name)
		return nil, false
	}
	values := []string{}
	for _, item := range sequence.Values {
		if value, ok := r.scalar(name, item); ok {
			values = append(values, value)
		}
	}
	return values, true
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
		r.problems.fault(placeOf(n), "%s must be a single value (anchors, tags and nested values are not supported)", name)
		return "", false
	}
	if strings.ContainsRune(value, 0) {
		r.problems.fault(placeOf(n), "%s holds a NUL byte", name)
		return "", false
	}
	for _, placeholder := range unknownPlaceholders(value) {
		r.problems.warn(placeOf(n), "%s is not a placeholder and stays as it is", placeholder)
	}
	return value, true
}

func variableName(s string) bool { return s != "" && !strings.ContainsAny(s, "= \t\r\n\v\f\x00") }

func didYouMean(name string) string {
	if name == "" {
		return ""
	}
	return fmt.Sprintf(", did you mean %s?", name)
}
