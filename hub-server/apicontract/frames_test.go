package apicontract

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// frameTypes are S3's 31, written down here once more so that the three sources cannot drift together.
var frameTypes = []string{
	"typing", "auth.ok",
	"message.new", "message.recall", "message.pin", "message.unpin", "message.reaction_added", "message.reaction_removed", "message.read",
	"session.created", "session.dissolved", "session.member_joined", "session.member_left", "session.info_updated",
	"device.online", "device.offline", "device.kicked",
	"agent.dispatch", "agent.stream", "agent.done", "agent.failed", "agent.cancel", "agent.control",
	"team.run.started", "team.event", "team.assignment.done", "team.assignment.failed", "team.subagent.stream",
	"notification.new", "friend.request", "friend.accepted",
}

// forbiddenFrame matches the types that S3 bans from the hub plane: they were inner signals or never sent.
var forbiddenFrame = regexp.MustCompile(`^(sync\.request|sync\.events|run\.agent\.plan_.*|agent\.regenerate|message\.edited|agent\.timeout|auth|auth\.fail)$`)

func TestFrameTypesAreTheSameInCodeContractAndCatalogue(t *testing.T) {
	constants, listed := frameTypesInCode(t)
	sources := map[string][]string{
		"constants of gate/frame.go":             constants,
		"AllFrameTypes of gate/frame.go":         listed,
		"enum of HubWebSocketFrameType":          frameTypesInContract(t),
		"x-payload-schemas of HubWebSocketFrame": frameTypesWithPayload(t),
		"x-apply of HubWebSocketFrame":           frameTypesWithRule(t),
		"HUB_EVENTS of api/ts/src/hubEvents.ts":  listInTypeScript(t, "HUB_EVENTS = [", `"(.+)",`),
		"RULES of api/ts/src/hubEvents.ts":       listInTypeScript(t, "RULES: ", `"(.+)": \{ effect`),
		"table of Hub frames in api/events.md":   frameTypesInCatalogue(t),
	}
	want := sorted(frameTypes)
	for source, got := range sources {
		if !slices.Equal(sorted(got), want) {
			t.Errorf("%s:\n missing %v\n surplus %v", source, without(want, got), without(got, want))
		}
	}
}

func TestForbiddenTypesAreNoHubFrames(t *testing.T) {
	constants, _ := frameTypesInCode(t)
	typeScript := listInTypeScript(t, "HUB_EVENTS = [", `"(.+)",`)
	for _, frameType := range slices.Concat(constants, frameTypesInContract(t), frameTypesWithPayload(t), frameTypesInCatalogue(t), typeScript) {
		if forbiddenFrame.MatchString(frameType) {
			t.Errorf("%s must not be a hub frame", frameType)
		}
	}
}

// frameTypesInCode returns the values of all FrameType constants, and of those that AllFrameTypes lists.
func frameTypesInCode(t *testing.T) (constants, listed []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(repository(t), "hub-server", "internal", "gate", "frame.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]string{}
	ast.Inspect(file, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if ident, typed := typeName(spec, ok); !typed || ident != "FrameType" {
			return true
		}
		value := unquote(t, spec.Values[0])
		byName[spec.Names[0].Name] = value
		constants = append(constants, value)
		return true
	})
	ast.Inspect(file, func(node ast.Node) bool {
		list, ok := node.(*ast.CompositeLit)
		if !ok {
			return true
		}
		for _, element := range list.Elts {
			listed = append(listed, byName[element.(*ast.Ident).Name])
		}
		return false
	})
	return constants, listed
}

func typeName(spec *ast.ValueSpec, ok bool) (string, bool) {
	if !ok {
		return "", false
	}
	ident, ok := spec.Type.(*ast.Ident)
	if !ok {
		return "", false
	}
	return ident.Name, true
}

func unquote(t *testing.T, expr ast.Expr) string {
	t.Helper()
	value, err := strconv.Unquote(expr.(*ast.BasicLit).Value)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func frameTypesInContract(t *testing.T) []string {
	t.Helper()
	return enumOf(t, "HubWebSocketFrameType")
}

func frameTypesWithPayload(t *testing.T) []string {
	t.Helper()
	schemas, err := payloadSchemas(contract(t))
	if err != nil {
		t.Fatal(err)
	}
	var types []string
	for frameType := range schemas {
		types = append(types, frameType)
	}
	return types
}

// listInTypeScript returns what item finds in the lines after start in the constants of the TypeScript SDK, up to the end of the statement.
func listInTypeScript(t *testing.T, start, item string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository(t), "api", "ts", "src", "hubEvents.ts"))
	if err != nil {
		t.Fatal(err)
	}
	_, list, found := strings.Cut(string(text), start)
	if !found {
		t.Fatalf("hubEvents.ts has no %q", start)
	}
	list, _, _ = strings.Cut(list, ";\n")
	var items []string
	for _, match := range regexp.MustCompile(`(?m)^  `+item).FindAllStringSubmatch(list, -1) {
		items = append(items, match[1])
	}
	return items
}

// frameTypesInCatalogue returns the first column of the first table under "## Hub frames".
func frameTypesInCatalogue(t *testing.T) []string {
	t.Helper()
	return firstColumn(t, "events.md", "\n## Hub frames\n")
}

// firstColumn returns what stands in backticks at the start of each row of the first table after heading in a page of api/.
func firstColumn(t *testing.T, page, heading string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository(t), "api", page))
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), heading)
	if !found {
		t.Fatalf("api/%s has no section %q", page, strings.TrimSpace(heading))
	}
	_, table, _ := strings.Cut(section, "\n|")
	table, _, _ = strings.Cut(table, "\n\n")
	var cells []string
	for _, match := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(table, -1) {
		cells = append(cells, match[1])
	}
	return cells
}

func sorted(values []string) []string {
	return slices.Sorted(slices.Values(values))
}

func without(values, taken []string) []string {
	return slices.DeleteFunc(slices.Clone(values), func(value string) bool { return slices.Contains(taken, value) })
}
