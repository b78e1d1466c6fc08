// Package tsgen writes the TypeScript that follows from api/openapi.yaml: the shapes of all resources and frames, a method for each
// operation, and the constants and rules of the socket; and the words and shapes of cards, which follow from shared/card, and of OmniMessage, which
// follow from shared/omni. It is in Go so that `make generate` needs nothing else.
package tsgen

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/switchyard-dev/switchyard/hub-server/apicontract"
)

const header = "// Generated from api/openapi.yaml: change it there, then `make generate`.\n\n"

// Generate returns the content of each file, by name.
func Generate(ctx context.Context) (map[string][]byte, error) {
	doc, err := apicontract.Load(ctx)
	if err != nil {
		return nil, err
	}
	events, err := hubEvents(doc)
	if err != nil {
		return nil, err
	}
	api, err := operations(doc)
	if err != nil {
		return nil, err
	}
	told, err := cards(doc)
	if err != nil {
		return nil, err
	}
	return map[string][]byte{
		"hubEvents.ts": events, "types.gen.ts": types(doc), "api.gen.ts": api, "cards.gen.ts": told, "omni.gen.ts": omniMessages(),
	}, nil
}

// page is a file as it grows.
type page struct{ bytes.Buffer }

func newPage() *page {
	p := &page{}
	p.WriteString(header)
	return p
}

func (p *page) line(format string, args ...any) { fmt.Fprintf(&p.Buffer, format+"\n", args...) }

// comment writes what the contract says about something, in front of it.
func (p *page) comment(indent string, texts ...string) {
	text := strings.Join(strings.Fields(strings.Join(texts, " ")), " ")
	if text != "" {
		p.line("%s/** %s */", indent, strings.ReplaceAll(text, "*/", "* /"))
	}
}

// types writes an interface or an alias for every schema but those of cards.
func types(doc *openapi3.T) []byte {
	p := newPage()
	names := slices.DeleteFunc(sortedKeys(doc.Components.Schemas), ofCards)
	for i, name := range names {
		if i > 0 {
			p.line("")
		}
		schema := doc.Components.Schemas[name].Value
		p.comment("", schema.Description)
		if len(schema.Properties) == 0 {
			p.line("export type %s = %s;", name, typeOf(&openapi3.SchemaRef{Value: schema}))
			continue
		}
		p.line("export interface %s {", name)
		for _, property := range sortedKeys(schema.Properties) {
			ref := schema.Properties[property]
			if ref.Ref == "" {
				p.comment("  ", ref.Value.Description)
			}
			p.line("  %s%s: %s;", property, optional(schema, property), typeOf(ref))
		}
		p.line("}")
	}
	return p.Bytes()
}

// ofCards says whether a schema is one of /v1/ws: cards.gen.ts has these, with their words and in their relations.
func ofCards(name string) bool { return strings.HasPrefix(name, "CardSocket") }

func optional(schema *openapi3.Schema, property string) string {
	if slices.Contains(schema.Required, property) {
		return ""
	}
	return "?"
}

// typeOf is the TypeScript type of a schema: its name if it has one.
func typeOf(ref *openapi3.SchemaRef) string {
	if name, named := strings.CutPrefix(ref.Ref, "#/components/schemas/"); named {
		return name
	}
	schema := ref.Value
	switch {
	case len(schema.Enum) > 0:
		return union(schema.Enum)
	case schema.Format == "binary":
		return "Blob"
	case schema.Type.Is("string"):
		return "string"
	case schema.Type.Is("integer"), schema.Type.Is("number"):
		return "number"
	case schema.Type.Is("boolean"):
		return "boolean"
	case schema.Type.Is("array"):
		return arrayOf(typeOf(schema.Items))
	case len(schema.Properties) > 0:
		return inline(schema)
	case schema.Type == nil:
		return "unknown"
	}
	return "Record<string, unknown>"
}

func arrayOf(item string) string {
	if strings.ContainsAny(item, "|{ ") {
		return "Array<" + item + ">"
	}
	return item + "[]"
}

func union(values []any) string {
	quoted := make([]string, len(values))
	for i, value := range values {
		quoted[i] = fmt.Sprintf("%q", value)
	}
	return strings.Join(quoted, " | ")
}

func inline(schema *openapi3.Schema) string {
	var fields []string
	for _, property := range sortedKeys(schema.Properties) {
		fields = append(fields, fmt.Sprintf("%s%s: %s", property, optional(schema, property), typeOf(schema.Properties[property])))
	}
	return "{ " + strings.Join(fields, "; ") + " }"
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
