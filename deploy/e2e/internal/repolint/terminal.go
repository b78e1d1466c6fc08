package repolint

import (
	"go/ast"
	"strings"
)

// The terminal client reaches a hub through the SDK and in no other way: what it can do, every client can.
var (
	terminal    = []string{"hub-server/internal/yard", "hub-server/cmd/yard"}
	terminalMay = []string{"hub-server/client", "hub-server/internal/yard", "shared"}
	ours        = []string{"hub-server", "edge-server", "deploy", "shared"}

	// harmless are the names of packages that could open a connection, but for these do not.
	harmless = map[string][]string{
		"net/http": {"Status", "DetectContentType"},
		"net":      {"SplitHostPort", "JoinHostPort", "ParseIP", "OpError", "Listen"},
	}
	// talkative are packages that have no harmless names.
	talkative = []string{"github.com/coder/websocket", "github.com/gorilla/websocket", "golang.org/x/net", "net/rpc", "crypto/tls", "github.com/nats-io"}
)

// Terminal reports how the terminal client could talk to a hub past the SDK.
func Terminal(files []File) []Problem {
	var problems []Problem
	for _, f := range files {
		if f.IsTest() || within(f.Package(), terminal) == "" {
			continue
		}
		for imported, line := range f.Imports {
			past := within(imported, ours) != "" && within(imported, terminalMay) == ""
			if past || within(imported, talkative) != "" {
				problems = append(problems, f.problem(line, "%s imports %s: the terminal client talks to a hub by hub-server/client alone", f.Package(), imported))
			}
		}
		problems = append(problems, connections(f)...)
	}
	return problems
}

// connections reports names of net and net/http by which f could open a connection.
func connections(f File) []Problem {
	var problems []Problem
	for _, spec := range f.syntax.Imports {
		imported := strings.Trim(spec.Path.Value, `"`)
		may, watched := harmless[imported]
		if !watched {
			continue
		}
		name := imported[strings.LastIndex(imported, "/")+1:]
		if spec.Name != nil {
			name = spec.Name.Name
		}
		ast.Inspect(f.syntax, func(node ast.Node) bool {
			selector, ok := node.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if pkg, ok := selector.X.(*ast.Ident); ok && pkg.Name == name && !beginsWithOne(selector.Sel.Name, may) {
				problems = append(problems, f.problem(f.line(selector), "%s.%s: the terminal client talks to a hub by hub-server/client alone", imported, selector.Sel.Name))
			}
			return true
		})
	}
	return problems
}

func beginsWithOne(name string, beginnings []string) bool {
	for _, b := range beginnings {
		if strings.HasPrefix(name, b) {
			return true
		}
	}
	return false
}
