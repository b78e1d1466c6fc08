package tsgen

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// applied is one entry of x-apply.
type applied struct {
	Effect string   `json:"effect"`
	Record string   `json:"record"`
	Key    []string `json:"key"`

	Version string   `json:"version"`
	Omit    []string `json:"omit"`
	Final   string   `json:"final"`
	Of      string   `json:"of"`
}

// closing is one entry of x-close-codes.
type closing struct {
	Code        int    `json:"code"`
	Then        string `json:"then"`
	Description string `json:"description"`
}

// hubEvents writes the constants of /client/ws: types, payloads, rules, close codes.
func hubEvents(doc *openapi3.T) ([]byte, error) {
	frame := doc.Components.Schemas["HubWebSocketFrame"].Value.Extensions
	socket := doc.Paths.Find("/client/ws").Get.Extensions
	rules, err := extension[map[string]applied](frame, "x-apply")
	if err != nil {
		return nil, err
	}
	payloads, err := extension[map[string]string](frame, "x-payload-schemas")
	if err != nil {
		return nil, err
	}
	codes, err := extension[map[string]closing](socket, "x-close-codes")
	if err != nil {
		return nil, err
	}
	silence, err := extension[int](socket, "x-silence-secs")
	if err != nil {
		return nil, err
	}
	marker, err := extension[string](doc.Components.SecuritySchemes["subprotocol"].Value.Extensions, "x-marker")
	if err != nil {
		return nil, err
	}
	p := newPage()
	p.line("import type * as t from \"./types.gen.js\";\n")
	p.line("/** The subprotocol that stands before the access token when a socket is opened. */")
	p.line("export const SUBPROTOCOL = %q;\n", marker)
	p.line("/** Seconds without a word from the hub after which a connection counts as dead; `heartbeat_secs` of auth.ok may say otherwise. */")
	p.line("export const SILENCE_SECS = %d;\n", silence)
	types := frameTypes(doc)
	writeTypes(p, types)
	writePayloads(p, types, payloads)
	writeRules(p, types, rules)
	writeCodes(p, codes)
	return p.Bytes(), nil
}

func writeTypes(p *page, types []string) {
	p.line("/** All frame types there are (S3). */")
	p.line("export const HUB_EVENTS = [")
	for _, name := range types {
		p.line("  %q,", name)
	}
	p.line("] as const;\n")
	p.line("export type FrameType = (typeof HUB_EVENTS)[number];\n")
}

func writePayloads(p *page, types []string, payloads map[string]string) {
	p.line("/** The payload of each type. */")
	p.line("export interface FramePayloads {")
	for _, name := range types {
		p.line("  %q: t.%s;", name, strings.TrimPrefix(payloads[name], "#/components/schemas/"))
	}
	p.line("}\n")
}

func writeRules(p *page, types []string, rules map[string]applied) {
	p.line("/** What applying a frame does to the record of its key. */")
	p.line("export type Effect = \"ignored\" | \"put\" | \"merge\" | \"once\" | \"remove\" | \"forward\" | \"appended\" | \"whole\";\n")
	p.line("/** How frames of one type are applied: `key` names the payload's fields; of `forward` and `appended` the last is the number, of `whole` it is the list. */")
	p.line("export interface Rule {\n  readonly effect: Effect;\n  readonly record: string;\n  readonly key: readonly string[];\n" +
		"  /** The payload's field with the number of the version; of two, the one with the smaller number is older. */\n  readonly version?: string;\n" +
		"  /** Fields that are no part of the record. */\n  readonly omit?: readonly string[];\n" +
		"  /** A field that stays true once it is. */\n  readonly final?: string;\n" +
		"  /** The field that the items of a list go by. */\n  readonly of?: string;\n}\n")
	p.line("export const RULES: Readonly<Record<FrameType, Rule>> = {")
	for _, name := range types {
		rule := rules[name]
		var more string
		if rule.Version != "" {
			more = fmt.Sprintf(", version: %q", rule.Version)
		}
		if len(rule.Omit) > 0 {
			more += ", omit: [" + quoted(rule.Omit) + "]"
		}
		if rule.Final != "" {
			more += fmt.Sprintf(", final: %q", rule.Final)
		}
		if rule.Of != "" {
			more += fmt.Sprintf(", of: %q", rule.Of)
		}
		p.line("  %q: { effect: %q, record: %q, key: [%s]%s },", name, rule.Effect, rule.Record, quoted(rule.Key), more)
	}
	p.line("};\n")
}

func quoted(names []string) string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = fmt.Sprintf("%q", name)
	}
	return strings.Join(all, ", ")
}

func writeCodes(p *page, codes map[string]closing) {
	p.line("/** What a client does after a close code. */")
	p.line("export type Then = \"resume\" | \"wait\" | \"login\" | \"stay_away\";\n")
	names := sortedKeys(codes)
	slices.SortFunc(names, func(a, b string) int { return codes[a].Code - codes[b].Code })
	p.line("export const CLOSE_CODES = {")
	for _, name := range names {
		p.comment("  ", codes[name].Description)
		p.line("  %s: %d,", name, codes[name].Code)
	}
	p.line("} as const;\n")
	p.line("export const AFTER_CLOSE: Readonly<Record<number, Then>> = {")
	for _, name := range names {
		p.line("  %d: %q,", codes[name].Code, codes[name].Then)
	}
	p.line("};")
}

func frameTypes(doc *openapi3.T) []string {
	var names []string
	for _, value := range doc.Components.Schemas["HubWebSocketFrameType"].Value.Enum {
		names = append(names, fmt.Sprint(value))
	}
	return names
}

// extension reads a value of the contract that OpenAPI has no field for.
func extension[T any](from map[string]any, name string) (value T, err error) {
	found, ok := from[name]
	if !ok {
		return value, fmt.Errorf("the contract has no %s", name)
	}
	text, err := json.Marshal(found)
	if err == nil {
		err = json.Unmarshal(text, &value)
	}
	if err != nil {
		return value, fmt.Errorf("%s of the contract: %w", name, err)
	}
	return value, nil
}
