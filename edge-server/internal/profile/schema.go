package profile

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// schema is the part of JSON Schema draft 7 that profiles need.
type schema struct {
	Schema        string             `json:"$schema,omitempty"`
	Title         string             `json:"title,omitempty"`
	Description   string             `json:"description,omitempty"`
	Type          any                `json:"type,omitempty"` // a name or several
	Enum          []string           `json:"enum,omitempty"`
	Pattern       string             `json:"pattern,omitempty"`
	Minimum       any                `json:"minimum,omitempty"` // a number; any, since 0 is one too
	Maximum       int                `json:"maximum,omitempty"`
	Items         *schema            `json:"items,omitempty"`
	PropertyNames *schema            `json:"propertyNames,omitempty"`
	Required      []string           `json:"required,omitempty"`
	Properties    map[string]*schema `json:"properties,omitempty"`
	Patterns      map[string]bool    `json:"patternProperties,omitempty"`
	Additional    any                `json:"additionalProperties,omitempty"` // a schema or false
	AnyOf         []schema           `json:"anyOf,omitempty"`
	If            *schema            `json:"if,omitempty"`
	Then          *schema            `json:"then,omitempty"`
	Else          *schema            `json:"else,omitempty"`
	Ref           string             `json:"$ref,omitempty"`
	Definitions   map[string]*schema `json:"definitions,omitempty"`
}

func scalarTypes() []string { return []string{"string", "number", "boolean"} }

func scalarSchema() schema { return schema{Type: scalarTypes()} }

func listSchema(items schema) schema { return schema{Type: "array", Items: &items} }

// Schema returns the JSON Schema of a profile's file, made from the table of fields, for editors. What it refuses Parse refuses too.
func Schema() []byte {
	const profile, wrapped = "#/definitions/profile", "#/definitions/wrapped"
	whole := schema{
		Schema: "http://json-schema.org/draft-07/schema#", Title: "Switchyard agent profile",
		Description: "How to start an agent. The file's name without .yaml is the agent's name.",
		Type:        "object",
		If:          &schema{Required: []string{wrapper}}, Then: &schema{Ref: wrapped}, Else: &schema{Ref: profile},
		Definitions: map[string]*schema{
			"profile": profileSchema(),
			"wrapped": {
				Type: "object", Properties: map[string]*schema{wrapper: {Ref: profile}}, Patterns: extensions(), Additional: false,
			},
		},
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(whole); err != nil {
		panic(fmt.Sprintf("a schema of plain values cannot be written: %v", err))
	}
	return out.Bytes()
}

func profileSchema() *schema {
	properties := map[string]*schema{}
	for _, f := range fields() {
		s := f.kind.schema
		s.Description = f.about
		if f.without != "" {
			s.Description += ". Default: " + f.without
		}
		properties[f.name] = &s
	}
	return &schema{
		Type: "object", Properties: properties, Patterns: extensions(), Additional: false,
		AnyOf: []schema{{Required: []string{"command"}}, {Required: []string{"executor"}}},
	}
}

func extensions() map[string]bool { return map[string]bool{"^" + extension: true} }
