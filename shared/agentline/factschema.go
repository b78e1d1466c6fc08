package agentline

import (
	"encoding/json"
	"reflect"
	"strings"

	"github.com/switchyard-dev/switchyard/shared/event"
)

// factSchemas are the lines of facts whose payload has a decided shape.
func factSchemas() []any {
	var lines []any
	for _, f := range event.AgentFacts() {
		lines = append(lines, map[string]any{
			"title": string(f.Type), "description": f.Meaning, "required": []string{"type", "payload"},
			"properties": map[string]any{"type": map[string]any{"const": string(f.Type)}, "payload": schemaOf(reflect.TypeOf(f.Payload), "")},
		})
	}
	return lines
}

// schemaOf is the schema of a payload's field, or of all of it.
func schemaOf(t reflect.Type, tag reflect.StructTag) map[string]any {
	switch t {
	case reflect.TypeFor[*event.ErrorObj]():
		return map[string]any{"$ref": "#/$defs/failure"}
	case reflect.TypeFor[json.RawMessage]():
		return map[string]any{"type": "object"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOf(t.Elem(), "")
	case reflect.Struct:
		return objectSchema(t)
	case reflect.Slice:
		return map[string]any{"type": "array", "items": schemaOf(t.Elem(), "")}
	case reflect.Float64:
		if tag.Get("share") != "" {
			return map[string]any{"type": "number", "minimum": 0, "maximum": 1}
		}
		return map[string]any{"type": "number"}
	case reflect.Int, reflect.Int64:
		return map[string]any{"type": "integer"}
	}
	schema := map[string]any{"type": "string"}
	if words := tag.Get("oneof"); words != "" {
		schema["enum"] = strings.Split(words, ",")
	}
	return schema
}

func objectSchema(t reflect.Type) map[string]any {
	properties, required := map[string]any{}, []string{}
	for i := range t.NumField() {
		field := t.Field(i)
		name, option, _ := strings.Cut(field.Tag.Get("json"), ",")
		schema := schemaOf(field.Type, field.Tag)
		if option == "" {
			required = append(required, name)
			if field.Type.Kind() == reflect.String && schema["enum"] == nil {
				schema["minLength"] = 1
			}
		}
		properties[name] = schema
	}
	return map[string]any{"type": "object", "properties": properties, "required": required}
}
