package repolint

import (
	"go/ast"
)

// mayStart are the packages that may write a go statement, each with its reason. Everywhere else a part blocks in Run,
// and shared/supervise is what starts it and waits for it.
var mayStart = map[string]string{
	"shared/supervise":               "starts parts and waits for them in the reverse order",
	"hub-server/internal/gate":       "a connection reads and writes at the same time",
	"hub-server/internal/gate/cards": "a connection hears, writes and keeps time at once",
	"hub-server/internal/natsbus":    "a tunnel copies in both directions at the same time",
}

// Goroutines reports go statements outside the packages that own that craft.
func Goroutines(files []File) []Problem {
	var problems []Problem
	for _, f := range files {
		if f.IsTest() || mayStart[f.Package()] != "" {
			continue
		}
		ast.Inspect(f.syntax, func(node ast.Node) bool {
			if statement, ok := node.(*ast.GoStmt); ok {
				problems = append(problems, f.problem(f.line(statement),
					"a go statement: block in Run(ctx) error and let shared/supervise start it"))
			}
			return true
		})
	}
	return problems
}
