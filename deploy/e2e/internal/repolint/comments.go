package repolint

import (
	"go/ast"
	"go/token"
	"slices"
)

// wellKnown are methods whose contract is that of an interface every reader knows.
var wellKnown = []string{
	"Error", "Format", "GoString", "Is", "Len", "Less", "LogValue", "MarshalJSON", "MarshalText", "Read", "Scan",
	"ServeHTTP", "String", "Swap", "UnmarshalJSON", "UnmarshalText", "Unwrap", "Value", "Write",
}

// Comments reports exported names without a comment. Unlike the usual linter's rule it takes one comment for a group:
// a parenthesised declaration, or one-line siblings below each other without a blank line, of which the first has it.
func Comments(files []File) []Problem {
	var problems []Problem
	for _, f := range files {
		if f.IsTest() || f.Generated || f.syntax.Name.Name == "main" {
			continue
		}
		coveredTo := 0 // last line of a declaration that has a comment or continues one that has
		for _, declaration := range f.syntax.Decls {
			continues := f.line(declaration) == coveredTo+1
			missing := uncommented(declaration)
			if continues {
				missing = nil
			}
			for _, name := range missing {
				problems = append(problems, f.problem(f.line(name), "exported %s has no comment: say what a caller can act on", name.Name))
			}
			if continues || hasComment(declaration) {
				coveredTo = f.endLine(declaration)
			}
		}
	}
	return problems
}

func hasComment(declaration ast.Decl) bool {
	switch d := declaration.(type) {
	case *ast.FuncDecl:
		return d.Doc != nil
	case *ast.GenDecl:
		return d.Doc != nil
	}
	return false
}

// uncommented returns the exported names that declaration leaves without a comment.
func uncommented(declaration ast.Decl) []*ast.Ident {
	switch d := declaration.(type) {
	case *ast.FuncDecl:
		if d.Doc == nil && d.Name.IsExported() && !isHiddenMethod(d) && !isWellKnown(d) {
			return []*ast.Ident{d.Name}
		}
	case *ast.GenDecl:
		if d.Doc == nil && d.Tok != token.IMPORT {
			return uncommentedSpecs(d.Specs)
		}
	}
	return nil
}

func uncommentedSpecs(specs []ast.Spec) []*ast.Ident {
	var missing []*ast.Ident
	for _, spec := range specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			if s.Doc == nil && s.Comment == nil && s.Name.IsExported() {
				missing = append(missing, s.Name)
			}
		case *ast.ValueSpec:
			exported := slices.IndexFunc(s.Names, (*ast.Ident).IsExported)
			if s.Doc == nil && s.Comment == nil && exported >= 0 {
				missing = append(missing, s.Names[exported])
			}
		}
	}
	return missing
}

// isHiddenMethod says whether f is a method of a type that outsiders cannot name.
func isHiddenMethod(f *ast.FuncDecl) bool {
	if f.Recv == nil {
		return false
	}
	receiver := f.Recv.List[0].Type
	for {
		switch r := receiver.(type) {
		case *ast.StarExpr:
			receiver = r.X
		case *ast.IndexExpr:
			receiver = r.X
		case *ast.IndexListExpr:
			receiver = r.X
		case *ast.Ident:
			return !r.IsExported()
		default:
			return false
		}
	}
}

func isWellKnown(f *ast.FuncDecl) bool {
	return f.Recv != nil && slices.Contains(wellKnown, f.Name.Name)
}
