package tsgen

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

func TestTheCommittedFilesAreWhatTheContractSays(t *testing.T) {
	files, err := Generate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "api", "ts", "src", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("api/ts/src/%s is out of date: make generate", name)
		}
	}
}

func TestASchemaBecomesAType(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type":"string","maxLength":3}`:                            "string",
		`{"type":"string","enum":["a","b"]}`:                         `"a" | "b"`,
		`{"type":"string","format":"binary"}`:                        "Blob",
		`{"type":"integer"}`:                                         "number",
		`{"type":"boolean"}`:                                         "boolean",
		`{"type":"array","items":{"type":"string"}}`:                 "string[]",
		`{"type":"array","items":{"type":"string","enum":["a"]}}`:    `"a"[]`,
		`{"type":"array","items":{"$ref":"#/components/schemas/A"}}`: "A[]",
		`{"type":"object","additionalProperties":true}`:              "Record<string, unknown>",
		`{"type":"object","required":["x"],"properties":{"y":{"type":"integer"},"x":{"$ref":"#/components/schemas/A"}}}`: "{ x: A; y?: number }",
	} {
		var ref openapi3.SchemaRef
		if err := ref.UnmarshalJSON([]byte(schema)); err != nil {
			t.Fatal(err)
		}
		if got := typeOf(&ref); got != want {
			t.Errorf("%s becomes %s, want %s", schema, got, want)
		}
	}
}

func TestAnOperationBecomesAMethod(t *testing.T) {
	const contract = `
openapi: 3.0.3
info: {title: t, version: "1"}
paths:
  /things/{id}:
    post:
      operationId: changeThing
      summary: Change a thing
      parameters:
        - {name: id, in: path, required: true, schema: {type: string}}
        - {name: limit, in: query, schema: {type: integer}}
        - {name: Idempotency-Key, in: header, required: true, schema: {type: string}}
      requestBody: {required: true, content: {application/json: {schema: {$ref: "#/components/schemas/Thing"}}}}
      responses: {"201": {description: d, content: {application/json: {schema: {$ref: "#/components/schemas/Thing"}}}}}
components: {schemas: {Thing: {type: object, properties: {x: {type: string}}}}}
`
	doc, err := openapi3.NewLoader().LoadFromData([]byte(contract))
	if err != nil {
		t.Fatal(err)
	}
	got, err := operations(doc)
	if err != nil {
		t.Fatal(err)
	}
	const want = "  /** Change a thing. */\n" +
		"  changeThing(input: { id: string; limit?: number; idempotency_key?: string; body: t.Thing }, options?: CallOptions): Promise<t.Thing> {\n" +
		"    return this.#send<t.Thing>({ method: \"POST\", path: `/things/${encodeURIComponent(input.id)}`, idempotent: true, " +
		"idempotencyKey: input.idempotency_key, query: { limit: input.limit }, body: input.body, answer: \"json\" }, options);\n"
	if !strings.Contains(string(got), want) {
		t.Errorf("got\n%s, want in it\n%s", got, want)
	}
	doc.Paths.Find("/things/{id}").Post.Responses = openapi3.NewResponses()
	if _, err := operations(doc); err == nil {
		t.Error("an operation without a success was taken")
	}
}

// The shapes of /v1/ws are those of cards.gen.ts alone.
func TestACardHasOneShape(t *testing.T) {
	files, err := Generate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if name := regexp.MustCompile(`CardSocket\w*`).Find(files["types.gen.ts"]); name != nil {
		t.Errorf("types.gen.ts has %s", name)
	}
	for _, shape := range []string{"CardEnvelope", "CardToolPayload", "CardErrorInfo", "CardSessionResume"} {
		if !bytes.Contains(files["cards.gen.ts"], []byte("export interface "+shape+" {")) {
			t.Errorf("cards.gen.ts lacks %s", shape)
		}
	}
}

// A word that shared/card gets and that nobody lists here would be missing in TypeScript.
func TestEveryWordOfCardsIsWritten(t *testing.T) {
	sources, err := filepath.Glob(filepath.Join("..", "..", "..", "..", "shared", "card", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	written := map[string][]string{}
	for _, w := range vocabulary {
		written[reflect.TypeOf(w.all[0]).Name()] = spelled(w.all)
	}
	found := 0
	for _, source := range sources {
		file, err := parser.ParseFile(token.NewFileSet(), source, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(node ast.Node) bool {
			typ, value := wordOf(node)
			if typ != "" && typ != "Language" { // which is the hub's own choice
				found++
				if !slices.Contains(written[typ], value) {
					t.Errorf("%s of shared/card is not among the %s of the TypeScript SDK: add it to vocabulary", value, typ)
				}
			}
			return true
		})
	}
	if found < 60 {
		t.Errorf("only %d words were read", found)
	}
}

// wordOf is a constant with a type of its own; "" for anything else.
func wordOf(node ast.Node) (typ, value string) {
	spec, ok := node.(*ast.ValueSpec)
	if !ok || len(spec.Values) != 1 {
		return "", ""
	}
	named, typed := spec.Type.(*ast.Ident)
	literal, written := spec.Values[0].(*ast.BasicLit)
	if !typed || !written || !ast.IsExported(named.Name) {
		return "", ""
	}
	return named.Name, literal.Value
}
