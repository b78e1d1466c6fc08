package agentline

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/switchyard-dev/switchyard/shared/event"
)

// WriteSchema writes the JSON Schema of a line: api/events-runtime.schema.json.
func WriteSchema(w io.Writer) error {
	var lines []any
	for _, s := range Shapes() {
		lines = append(lines, s.schema())
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema",
		"title":   "A line of the events runtime",
		"$comment": "Generated from shared/agentline. Change the table there, then: " +
			"cd shared && go test ./agentline -run Schema -update",
		"description": "What an agent writes on stdout, one object per line. Keys that are not named here are ignored.",
		"type":        "object",
		"required":    []string{"type"},
		"oneOf":       append(lines, factSchemas()...),
		"$defs":       map[string]any{"file": fileSchema(), "failure": failureSchema()},
	})
	if err != nil {
		return fmt.Errorf("write schema of the events runtime: %w", err)
	}
	return nil
}

func (s Shape) schema() map[string]any {
	properties := map[string]any{"type": s.typeSchema()}
	required := []string{"type"}
	for _, f := range s.Fields {
		properties[f.Name] = f.schema()
		if f.Needed {
			required = append(required, f.Name)
		}
	}
	return map[string]any{"title": string(s.Type), "description": s.Meaning, "properties": properties, "required": required}
}

// typeSchema keeps the alternatives apart: a fact with a line of its own is not one of the others.
func (s Shape) typeSchema() map[string]any {
	if s.Type != FactShape {
		return map[string]any{"const": string(s.Type)}
	}
	var own []string
	for _, other := range Shapes() {
		if (Line{Type: other.Type}).Fact() {
			own = append(own, string(other.Type))
		}
	}
	for _, f := range event.AgentFacts() {
		own = append(own, string(f.Type))
	}
	return map[string]any{"type": "string", "pattern": `^run\.agent\.[A-Za-z0-9._-]+$`, "maxLength": 96, "not": map[string]any{"enum": own}}
}

func (f Field) schema() map[string]any {
	schema := map[string]any{"description": f.Meaning}
	switch f.Kind {
	case Text:
		schema["type"] = "string"
		if f.Needed {
			schema["minLength"] = 1
		}
	case Number:
		schema["type"] = "integer"
	case Flag:
		schema["type"] = "boolean"
	case Object:
		schema["type"] = "object"
	case List:
		schema["type"] = "array"
	case Content:
		schema["$ref"] = "#/$defs/file"
	case Failed:
		schema["$ref"] = "#/$defs/failure"
	case Any:
	}
	return schema
}

func fileSchema() map[string]any {
	text := map[string]any{"type": "string"}
	one := func(name string) map[string]any { return map[string]any{"required": []string{name}} }
	return map[string]any{
		"type": "object",
		"properties": map[string]any{
			"filename": text, "content_type": text,
			"path":           map[string]any{"type": "string", "minLength": 1, "description": "relative to the agent's folder"},
			"content":        text,
			"content_base64": map[string]any{"type": "string", "contentEncoding": "base64"},
			"description":    text,
			"role":           map[string]any{"type": "string", "description": "what the file is for: report, draft_email"},
		},
		"oneOf": []any{one("path"), one("content"), one("content_base64")},
	}
}

func failureSchema() map[string]any {
	return map[string]any{
		"type": "object",
		"properties": map[string]any{
			"code": map[string]any{"type": "string"}, "message": map[string]any{"type": "string"}, "retryable": map[string]any{"type": "boolean"},
		},
	}
}
