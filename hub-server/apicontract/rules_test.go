package apicontract

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/client"
)

// applied is how frames of a type are applied, by x-apply.
type applied struct {
	Effect string   `json:"effect"`
	Record string   `json:"record"`
	Key    []string `json:"key"`
	Final  string   `json:"final"`
	Of     string   `json:"of"`
}

func frameTypesWithRule(t *testing.T) []string {
	t.Helper()
	var types []string
	for name := range rules(t) {
		types = append(types, name)
	}
	return types
}

func rules(t *testing.T) map[string]applied {
	t.Helper()
	return extension[map[string]applied](t, contract(t).Components.Schemas["HubWebSocketFrame"].Value.Extensions, "x-apply")
}

func extension[T any](t *testing.T, from map[string]any, name string) (value T) {
	t.Helper()
	text, err := json.Marshal(from[name])
	if err == nil {
		err = json.Unmarshal(text, &value)
	}
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return value
}

// The rules from which the TypeScript SDK is generated are those of the Go SDK: told by what that does with frames of each type.
func TestTheGoSDKAppliesFramesAsTheContractSays(t *testing.T) {
	for name, rule := range rules(t) {
		probe{t, client.HubWebSocketFrameType(name), rule}.run()
	}
}

// probe tries one type of frame on the Go SDK.
type probe struct {
	t    *testing.T
	typ  client.HubWebSocketFrameType
	rule applied
}

func (p probe) run() {
	p.t.Helper()
	first, name := p.frame("a", 1), p.name()
	switch p.rule.Effect {
	case "ignored":
		p.want(client.NewReducer(), first, client.Ignored, "first")
		return
	case "whole":
		p.listing()
		return
	}
	if got, want := client.Key(first), string(p.typ)+" "+strings.Join(p.values(1), "/"); got != want {
		p.t.Errorf("%s: key %q, want %q", p.typ, got, want)
	}
	r := client.NewReducer()
	if p.rule.Effect == "remove" {
		p.want(r, first, client.Repeated, "nothing to remove")
		p.want(r, p.counterpart(), client.Applied, "the counterpart")
	}
	p.want(r, first, client.Applied, "first")
	p.want(r, first, client.Repeated, "again")
	second := map[string]client.Verdict{"put": client.Applied, "merge": client.Applied, "once": client.Repeated, "remove": client.Repeated, "forward": client.Applied, "appended": client.Missed}
	p.want(r, p.frame("b", 3), second[p.rule.Effect], "with other content, and 3 after 1")
	if p.rule.Final != "" {
		p.finality()
	}
	_, record := r.Records()[name]
	_, mark := r.Marks()[name]
	if record != slices.Contains([]string{"put", "merge", "once"}, p.rule.Effect) || mark != p.numbered() {
		p.t.Errorf("%s: under %q stand a record: %t, a number: %t", p.typ, name, record, mark)
	}
	if merged := strings.Contains(string(r.Records()[name]), `"a":`); p.rule.Effect == "put" && merged || p.rule.Effect == "merge" && !merged {
		p.t.Errorf("%s: the record is %s", p.typ, r.Records()[name])
	}
}

// listing tries that what a list does not have is gone behind it, and that a frame without a list does nothing.
func (p probe) listing() {
	p.t.Helper()
	list := func(names ...string) client.HubWebSocketFrame {
		items := make([]map[string]string, len(names))
		for i, name := range names {
			items[i] = map[string]string{p.rule.Of: name}
		}
		raw, err := json.Marshal(map[string]any{p.rule.Key[0]: items})
		if err != nil {
			p.t.Fatal(err)
		}
		return client.HubWebSocketFrame{Type: p.typ, Payload: raw}
	}
	r := client.NewReducer()
	p.want(r, list("x", "y"), client.Applied, "a list")
	p.want(r, list("y", "x"), client.Repeated, "the same list")
	p.want(r, client.HubWebSocketFrame{Type: p.typ, Payload: json.RawMessage(`{}`)}, client.Ignored, "no list")
	p.want(r, list("y", "z"), client.Applied, "another list")
	var stand []string
	for name := range r.Records() {
		stand = append(stand, name)
	}
	if want := []string{p.rule.Record + " y", p.rule.Record + " z"}; !slices.Equal(sorted(stand), want) {
		p.t.Errorf("%s: there stand %v, want %v", p.typ, stand, want)
	}
}

// finality tries in both orders that a field which is true stays so.
func (p probe) finality() {
	p.t.Helper()
	over, open := p.frame(p.rule.Final, 1), p.frame("a", 1)
	r := client.NewReducer()
	p.want(r, open, client.Applied, "still open")
	p.want(r, over, client.Applied, "over")
	p.want(r, open, client.Repeated, "an earlier version behind a final one")
	if got, want := string(r.Records()[p.name()]), string(over.Payload); got != want {
		p.t.Errorf("%s: the record is %s, want %s", p.typ, got, want)
	}
}

func (p probe) want(r *client.Reducer, f client.HubWebSocketFrame, want client.Verdict, when string) {
	p.t.Helper()
	if got := r.Apply(f); got != want {
		p.t.Errorf("%s, %s: verdict %d, want %d", p.typ, when, got, want)
	}
}

// frame has the fields of the key and one of its own.
func (p probe) frame(own string, number int) client.HubWebSocketFrame {
	payload := map[string]any{own: true}
	for i, value := range p.values(number) {
		payload[p.rule.Key[i]] = value
		if p.numbered() && i == len(p.rule.Key)-1 {
			payload[p.rule.Key[i]] = number
		}
	}
	raw, err := json.Marshal(payload)
	if err != nil {
		p.t.Fatal(err)
	}
	return client.HubWebSocketFrame{Type: p.typ, Payload: raw}
}

// counterpart is a frame of the type that makes the record.
func (p probe) counterpart() client.HubWebSocketFrame {
	for name, rule := range rules(p.t) {
		if rule.Record == p.rule.Record && rule.Effect == "put" {
			return probe{p.t, client.HubWebSocketFrameType(name), rule}.frame("a", 1)
		}
	}
	p.t.Fatalf("%s: no type makes %s", p.typ, p.rule.Record)
	return client.HubWebSocketFrame{}
}

func (p probe) numbered() bool { return p.rule.Effect == "forward" || p.rule.Effect == "appended" }

func (p probe) values(number int) []string {
	values := make([]string, len(p.rule.Key))
	for i, field := range p.rule.Key {
		values[i] = "the_" + field
	}
	if p.numbered() {
		values[len(values)-1] = strconv.Itoa(number)
	}
	return values
}

// name is that of the record, or of the number that only grows.
func (p probe) name() string {
	values := p.values(1)
	if p.numbered() {
		values = values[:len(values)-1]
	}
	return p.rule.Record + " " + strings.Join(values, "/")
}

func TestCloseCodesAreTheSameInCodeContractAndTypeScript(t *testing.T) {
	type closing struct {
		Code int    `json:"code"`
		Then string `json:"then"`
	}
	var inContract, actions []string
	for name, c := range extension[map[string]closing](t, contract(t).Paths.Find("/client/ws").Get.Extensions, "x-close-codes") {
		inContract = append(inContract, strconv.Itoa(c.Code))
		actions = append(actions, fmt.Sprintf("%d: %q", c.Code, c.Then))
		if !slices.Contains([]string{"resume", "wait", "login", "stay_away"}, c.Then) {
			t.Errorf("%s: nobody knows how to %q", name, c.Then)
		}
	}
	if inCode := closeCodesInCode(t); !slices.Equal(sorted(inCode), sorted(inContract)) {
		t.Errorf("gate/ending.go has %v, the contract %v", inCode, inContract)
	}
	if constants := listInTypeScript(t, "CLOSE_CODES = ", `\w+: (\d+),`); !slices.Equal(sorted(constants), sorted(inContract)) {
		t.Errorf("CLOSE_CODES of hubEvents.ts are %v, those of the contract %v", constants, inContract)
	}
	if after := listInTypeScript(t, "AFTER_CLOSE: ", `(\d+: ".+"),`); !slices.Equal(sorted(after), sorted(actions)) {
		t.Errorf("AFTER_CLOSE of hubEvents.ts is %v, the contract says %v", after, actions)
	}
}

// closeCodesInCode returns the numbers of the constants of gate/ending.go.
func closeCodesInCode(t *testing.T) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(repository(t), "hub-server", "internal", "gate", "ending.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	standard := map[string]string{"StatusServiceRestart": "1012", "StatusTryAgainLater": "1013"}
	var codes []string
	ast.Inspect(file, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(spec.Names[0].Name, "close") {
			return true
		}
		switch value := spec.Values[0].(type) {
		case *ast.SelectorExpr:
			codes = append(codes, standard[value.Sel.Name])
		case *ast.CallExpr:
			codes = append(codes, value.Args[0].(*ast.BasicLit).Value)
		}
		return true
	})
	return codes
}
