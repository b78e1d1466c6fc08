package tsgen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/shared/omni"
)

const omniHeader = "// Generated from shared/omni: change it there, then `make generate`.\n\n"

// omniWords are the words of OmniMessage that have a name, in the order in which they are written.
var omniWords = []struct {
	doc, list, name string
	all             []any
}{
	{"What the envelope says of its payload (S1, 信封).", "OMNI_MESSAGE_TYPES", "OmniMessageType", list(omni.SessionMeta, omni.ModelMsg, omni.EventMsg)},
	{"The phase of a fragment.", "STREAM_EVENT_TYPES", "StreamEventType", list(omni.Start, omni.Delta, omni.Stop)},
	{"How something ended (S1, stop_reason).", "STOP_REASONS", "StopReason", list(omni.StopReasons()...)},
	{"Why a context is made smaller.", "COMPACTION_REASONS", "CompactionReason", list(omni.ContextReached, omni.TurnsReached, omni.Manual)},
	{"What becomes of the old context.", "COMPACTION_MODES", "CompactionMode", list(omni.Summarize, omni.Discard)},
	{"What a stream has to keep, as OmniChecker names it.", "OMNI_RULES", "OmniRule", list(omni.Rules()...)},
}

// omniGroups are the unions of payloads.
var omniGroups = []struct {
	doc, name string
	groups    []omni.Group
}{
	{"The payload of a complete model message.", "OmniCompletePayload", []omni.Group{omni.Complete}},
	{"The payload of a fragment.", "OmniPartialPayload", []omni.Group{omni.Partial}},
	{"The payload of an event; the last three are of later versions (R12).", "OmniEventPayload", []omni.Group{omni.Event, omni.Later}},
}

// omniMessages writes the vocabulary of OmniMessage: words, an interface for each payload, and the table that messages are held to.
func omniMessages() []byte {
	p := &page{}
	p.WriteString(omniHeader)
	for _, w := range omniWords {
		p.comment("", w.doc)
		p.line("export const %s = [%s] as const;", w.list, strings.Join(spelled(w.all), ", "))
		p.line("export type %s = (typeof %s)[number];\n", w.name, w.list)
	}
	p.comment("", "A provider's own, to be passed on as it is (S1, 保真字段). lineOf keeps it to the byte, which a parsed object cannot.")
	p.line("export type Fidelity = Record<string, unknown>;\n")
	written := map[string]bool{}
	for _, s := range omni.Shapes() {
		writeParts(p, written, s.Fields())
		p.comment("", strings.ToUpper(s.Meaning[:1])+s.Meaning[1:]+".")
		p.line("export interface %s {", tsName(s.Name()))
		if s.Type != "" {
			p.line("  type: %q;", s.Type)
		}
		if s.Role != "" {
			p.line("  role: %q;", s.Role)
		}
		writeFields(p, s.Fields())
	}
	for _, g := range omniGroups {
		var names []string
		for _, s := range omni.Shapes() {
			if slices.Contains(g.groups, s.Group) {
				names = append(names, tsName(s.Name()))
			}
		}
		p.comment("", g.doc)
		p.line("export type %s = %s;\n", g.name, strings.Join(names, " | "))
	}
	writeShapes(p)
	return p.Bytes()
}

// writeParts writes the interfaces of what payloads are made of, each once.
func writeParts(p *page, written map[string]bool, fields []omni.Field) {
	for _, f := range fields {
		if f.Of == "" || written[f.Of] {
			continue
		}
		written[f.Of] = true
		writeParts(p, written, f.Fields)
		p.line("export interface %s {", tsName(f.Of))
		writeFields(p, f.Fields)
	}
}

func writeFields(p *page, fields []omni.Field) {
	for _, f := range fields {
		mark, null := "", ""
		if f.Optional {
			mark = "?"
		}
		if f.Null {
			null = " | null"
		}
		p.line("  %s%s: %s%s;", f.Name, mark, omniType(f), null)
	}
	p.line("}\n")
}

func omniType(f omni.Field) string {
	words := list(f.Words...)
	for _, w := range omniWords {
		if len(words) > 0 && slices.Equal(spelled(w.all), spelled(words)) {
			return w.name
		}
	}
	switch {
	case len(words) > 0:
		return union(words)
	case f.Kind == "number or string":
		return "number | string"
	case f.Kind == "value":
		return "unknown"
	case f.Kind == "list" && f.Of != "":
		return tsName(f.Of) + "[]"
	case f.Kind == "list" && f.Elements == "value":
		return "unknown[]"
	case f.Kind == "list":
		return f.Elements + "[]"
	case f.Of != "":
		return tsName(f.Of)
	case f.Name == "fidelity":
		return "Fidelity"
	case f.Kind == "object":
		return "Record<string, unknown>"
	}
	return f.Kind
}

// tsName spells initials as S1 does: ImageUrlPayload.
func tsName(name string) string { return strings.NewReplacer("URL", "Url", "MCP", "Mcp").Replace(name) }

// writeShapes writes what a reader holds messages to.
func writeShapes(p *page) {
	p.comment("", "What is known of a key of a payload.")
	p.line("export interface OmniField {")
	p.line("  name: string;\n  kind: \"string\" | \"number\" | \"number or string\" | \"object\" | \"list\" | \"value\";")
	p.line("  /** It may be absent. */\n  optional?: true;\n  /** null is the same as to leave it out. */\n  nullable?: true;\n  /** It may not be empty. */\n  filled?: true;")
	p.line("  words?: readonly string[];\n  holds?: \"images\" | \"image_url\";\n  elements?: string;\n  fields?: readonly OmniField[];\n}\n")
	p.comment("", "What is known of the messages with a payload; a session_meta's has no type.")
	p.line("export interface OmniShape {\n  message: OmniMessageType;\n  type: string;\n  group: \"meta\" | \"complete\" | \"partial\" | \"event\" | \"later event\";")
	p.line("  role?: \"user\" | \"assistant\";\n  fields: readonly OmniField[];\n}\n")
	p.comment("", "Every payload, in the order of S1.")
	p.line("export const OMNI_SHAPES: readonly OmniShape[] = [")
	for _, s := range omni.Shapes() {
		role := ""
		if s.Role != "" {
			role = fmt.Sprintf(", role: %q", s.Role)
		}
		p.line("  { message: %q, type: %q, group: %q%s, fields: %s },", s.Message, s.Type, s.Group, role, fieldTable(s.Fields()))
	}
	p.line("];")
}

func fieldTable(fields []omni.Field) string {
	rows := make([]string, len(fields))
	for i, f := range fields {
		row := fmt.Sprintf("name: %q, kind: %q", f.Name, f.Kind)
		for _, mark := range []struct {
			name string
			set  bool
		}{{"optional", f.Optional || f.Later}, {"nullable", f.Null}, {"filled", f.Filled}} {
			if mark.set {
				row += ", " + mark.name + ": true"
			}
		}
		if f.Words != nil {
			row += ", words: [" + strings.Join(spelled(list(f.Words...)), ", ") + "]"
		}
		if f.Holds == "images" || f.Holds == "image_url" {
			row += fmt.Sprintf(", holds: %q", f.Holds)
		}
		if f.Elements != "" {
			row += fmt.Sprintf(", elements: %q", f.Elements)
		}
		if f.Fields != nil {
			row += ", fields: " + fieldTable(f.Fields)
		}
		rows[i] = "{ " + row + " }"
	}
	return "[" + strings.Join(rows, ", ") + "]"
}
