package fault_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/fault"
)

func TestFaultIsFoundThroughWrapping(t *testing.T) {
	err := fmt.Errorf("send message: %w", fault.New(fault.EmptyPrompt, "There is nothing to send to %s.", "scout"))
	if code := fault.CodeOf(err); code != fault.EmptyPrompt {
		t.Errorf("code %s", code)
	}
	if f := fault.Public(err); f.Code != fault.EmptyPrompt || f.Detail != "There is nothing to send to scout." {
		t.Errorf("public %+v", f)
	}
	if !errors.Is(err, fault.New(fault.EmptyPrompt, "")) || errors.Is(err, fault.New(fault.NotFound, "")) {
		t.Error("errors.Is does not go by the code")
	}
}

func TestWhatIsNoFaultIsInternalAndSaysNothing(t *testing.T) {
	err := fmt.Errorf("dial postgres://user:pw@host: %w", fs.ErrNotExist)
	if code := fault.CodeOf(err); code != fault.Internal {
		t.Errorf("code %s", code)
	}
	f := fault.Public(err)
	if f.Code != fault.Internal || strings.Contains(f.Detail, "postgres") {
		t.Errorf("public %+v", f)
	}
	if !errors.Is(f, fs.ErrNotExist) || !strings.Contains(f.Error(), "postgres") {
		t.Error("the cause is lost for the log")
	}
}

func TestNoErrorHasNoCode(t *testing.T) {
	if code := fault.CodeOf(nil); code != "" {
		t.Errorf("code %s", code)
	}
}

func TestCauseStaysInsideAndCanBeAskedFor(t *testing.T) {
	f := fault.Wrap(fs.ErrPermission, fault.StartFailed, "The agent could not be started.")
	if !errors.Is(f, fs.ErrPermission) || strings.Contains(f.Detail, "permission") {
		t.Errorf("%+v", f)
	}
	if got := f.Error(); got != "start_failed: The agent could not be started.: permission denied" {
		t.Error(got)
	}
	if got := fault.New(fault.Busy, "Later.").Error(); got != "busy: Later." {
		t.Error(got)
	}
}

func TestOuterFaultSpeaksForTheInnerOne(t *testing.T) {
	err := fault.Wrap(fault.New(fault.NotFound, "inner"), fault.Forbidden, "outer")
	if fault.CodeOf(err) != fault.Forbidden || !errors.Is(err, fault.New(fault.NotFound, "")) {
		t.Errorf("%v", err)
	}
}

// TestCodesAreDistinctAndReadable reads the source, so that a new code cannot be forgotten here.
func TestCodesAreDistinctAndReadable(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "code.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	ast.Inspect(file, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok {
			return true
		}
		code, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil || seen[code] || len(code) > 64 || !regexp.MustCompile(`^[a-z][a-z0-9_]*$`).MatchString(code) {
			t.Errorf("%s = %q (%v)", spec.Names[0].Name, code, err)
		}
		if spec.Comment == nil {
			t.Errorf("%s says nothing", code)
		}
		seen[code] = true
		return true
	})
	if len(seen) < 40 {
		t.Errorf("only %d codes were found", len(seen))
	}
}
