package apicontract

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/switchyard-dev/switchyard/shared/id"
)

// open are the only operations that need no credential.
var open = []string{"bootstrapUser", "registerUser", "login", "refreshTokens", "enrolEdge", "getHealth", "getReadiness"}

// naturallyIdempotent are the POSTs without an Idempotency-Key, because a repeat is recognised by something else or creates nothing.
var naturallyIdempotent = []string{
	"bootstrapUser", "registerUser", "enrolEdge", // one-time tokens
	"sendMessage", "forwardMessage", // client_msg_id
	"uploadAttachment",          // its owner, bytes, name and type
	"pinMessage", "addReaction", // a state to reach
	"answerPrompt",                   // request_id
	"decideOmniApproval",             // its call
	"abortOmniTasks", "retryOmniNow", // a state to reach
	"compactOmniSession",     // already_compacted, compacting
	"login", "refreshTokens", // a fresh login, a successor token
	"logout", "markRead", "cancelAgentTask", "recallMessage", "readNotification", "readAllNotifications", "logoutEverywhere",
	"requestContact", "acceptContact", "declineContact", "leaveSession", "transferSession", "dissolveSession", "registerPush",
	"testPush", // a state to reach, a push that nobody keeps
}

func TestEveryOperationNeedsACredentialUnlessListed(t *testing.T) {
	doc := contract(t)
	if len(doc.Security) == 0 {
		t.Fatal("the contract has no default security")
	}
	var found []string
	for _, op := range operations(t) {
		if op.Security != nil && len(*op.Security) == 0 {
			found = append(found, op.OperationID)
		}
	}
	if !slices.Equal(sorted(found), sorted(open)) {
		t.Errorf("open operations are %v, want %v", found, open)
	}
}

func TestOperationsAreNamedOnceInCamelCase(t *testing.T) {
	seen := map[string]bool{}
	for _, op := range operations(t) {
		if !regexp.MustCompile(`^[a-z]+([A-Z][a-z]*)*$`).MatchString(op.OperationID) || seen[op.OperationID] {
			t.Errorf("operationId %q is malformed or used twice", op.OperationID)
		}
		seen[op.OperationID] = true
	}
}

func TestEveryCreatingPostIsIdempotent(t *testing.T) {
	for path, item := range contract(t).Paths.Map() {
		op := item.Post
		if op == nil {
			continue
		}
		keyed := op.Parameters.GetByInAndName("header", "Idempotency-Key") != nil
		if keyed == slices.Contains(naturallyIdempotent, op.OperationID) {
			t.Errorf("POST %s: Idempotency-Key %t", path, keyed)
		}
	}
}

func TestRequestsAreClosedAndBounded(t *testing.T) {
	for _, op := range operations(t) {
		for _, parameter := range op.Parameters {
			checkBounded(t, op.OperationID+" "+parameter.Value.Name, parameter.Value.Schema.Value)
		}
		if op.RequestBody == nil {
			continue
		}
		if body := op.RequestBody.Value.Content.Get("application/json"); body != nil {
			if has := body.Schema.Value.AdditionalProperties.Has; has == nil || *has {
				t.Errorf("%s: body takes fields it does not name", op.OperationID)
			}
			checkBounded(t, op.OperationID, body.Schema.Value)
		}
	}
}

func TestAnswersAndFramesAreBounded(t *testing.T) {
	for name, schema := range contract(t).Components.Schemas {
		checkBounded(t, name, schema.Value)
	}
}

func TestRefusalsAreProblems(t *testing.T) {
	for _, op := range operations(t) {
		if slices.Contains([]string{"getHealth", "getReadiness", "headBlob"}, op.OperationID) {
			continue // a state, not a refusal; and HEAD has no body
		}
		refusal := op.Responses.Default()
		if refusal == nil || refusal.Value.Content.Get("application/problem+json") == nil {
			t.Errorf("%s has no problem as its default answer", op.OperationID)
		}
	}
}

func TestProblemCodesAreKnownToTheCodeAndExplained(t *testing.T) {
	codes := enumOf(t, "ProblemCode")
	statuses, err := problemStatuses(contract(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, code := range codes {
		if len(statuses[code]) == 0 {
			t.Errorf("%s has no status", code)
		}
	}
	if len(statuses) != len(codes) {
		t.Errorf("%d codes but statuses for %d", len(codes), len(statuses))
	}
	if explained := firstColumn(t, "conventions.md", "\n## Errors\n"); !slices.Equal(sorted(explained), sorted(codes)) {
		t.Errorf("conventions.md: missing %v, surplus %v", without(codes, explained), without(explained, codes))
	}
	if unknown := without(codes, faultCodes(t)); len(unknown) > 0 {
		t.Errorf("no such codes in shared/fault: %v", unknown)
	}
}

func TestIdentifiersFitTheirPatterns(t *testing.T) {
	made := map[string]string{
		"UserID": string(id.NewUser()), "DeviceID": string(id.NewDevice()), "EdgeID": string(id.NewEdge()), "AgentID": string(id.NewAgent()),
		"SessionID": string(id.NewSession()), "MessageID": string(id.NewMessage()), "ArtifactID": string(id.NewArtifact()),
		"InvitationID": string(id.NewInvitation()), "DeliveryID": string(id.NewDelivery()), "RunID": string(id.NewRun()),
		"EventID": string(id.NewEvent()), "RequestID": string(id.NewRequest()),
	}
	for name, value := range made {
		schema := contract(t).Components.Schemas[name].Value
		if err := schema.VisitJSON(value); err != nil {
			t.Errorf("%s refuses %s: %v", name, value, err)
		}
		if err := schema.VisitJSON(value + "0"); err == nil {
			t.Errorf("%s takes a longer id", name)
		}
		if err := schema.VisitJSON(strings.ToUpper(value)); err == nil {
			t.Errorf("%s takes upper case", name)
		}
	}
}

func TestTheEdgesLocalContractIsValid(t *testing.T) {
	doc, err := loadSpec(t.Context(), "edge.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for name, schema := range doc.Components.Schemas {
		checkBounded(t, name, schema.Value)
	}
}

// checkBounded demands a bound of every string, number of a page and array below schema. References are followed by the
// caller's walk over all components.
func checkBounded(t *testing.T, where string, schema *openapi3.Schema) {
	t.Helper()
	switch {
	case schema.Type.Is("string"):
		free := schema.MaxLength == nil && len(schema.Enum) == 0 && schema.Format != "date-time" && schema.Format != "binary"
		if free {
			t.Errorf("%s: string without bound", where)
		}
	case schema.Type.Is("array"):
		if schema.MaxItems == nil {
			t.Errorf("%s: array without bound", where)
		}
		checkInline(t, where+"[]", schema.Items)
	case schema.Type.Is("integer"):
		if schema.Min == nil {
			t.Errorf("%s: number without lower bound", where)
		}
	}
	for name, property := range schema.Properties {
		checkInline(t, where+"."+name, property)
	}
}

func checkInline(t *testing.T, where string, ref *openapi3.SchemaRef) {
	t.Helper()
	if ref.Ref == "" {
		checkBounded(t, where, ref.Value)
	}
}

func contract(t *testing.T) *openapi3.T {
	t.Helper()
	doc, err := Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func operations(t *testing.T) []*openapi3.Operation {
	t.Helper()
	var all []*openapi3.Operation
	for _, item := range contract(t).Paths.Map() {
		for method, op := range item.Operations() {
			if method == http.MethodTrace || op.OperationID == "" {
				t.Errorf("%s operation without a name", method)
			}
			all = append(all, op)
		}
	}
	return all
}

func enumOf(t *testing.T, schema string) []string {
	t.Helper()
	var values []string
	for _, value := range contract(t).Components.Schemas[schema].Value.Enum {
		values = append(values, fmt.Sprint(value))
	}
	return values
}

func faultCodes(t *testing.T) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(repository(t), "shared", "fault", "code.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var codes []string
	ast.Inspect(file, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if name, typed := typeName(spec, ok); typed && name == "Code" {
			codes = append(codes, unquote(t, spec.Values[0]))
		}
		return true
	})
	return codes
}

func repository(t *testing.T) string {
	t.Helper()
	root, err := repositoryRoot()
	if err != nil {
		t.Fatal(err)
	}
	return root
}
