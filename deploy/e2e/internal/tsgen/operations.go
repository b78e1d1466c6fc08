package tsgen

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// elsewhere are operations that are no request and answer of a client: sockets, what edges call, the metrics page.
var elsewhere = []string{"openClientSocket", "openCardSocket", "openEdgeUplink", "getMetrics", "enrolEdge", "putBlob", "headBlob"}

// operations writes a class with a method for every operation that a client may call.
func operations(doc *openapi3.T) ([]byte, error) {
	found := map[string]*operation{}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			if !slices.Contains(elsewhere, op.OperationID) {
				found[op.OperationID] = &operation{Operation: op, method: method, path: path}
			}
		}
	}
	p := newPage()
	p.line(`import type { CallOptions, Send } from "./send.js";`)
	p.line(`import type * as t from "./types.gen.js";`)
	p.line("")
	p.line("/** Every REST operation of a hub. A refusal rejects with a ProblemError. */")
	p.line("export class Api {")
	p.line("  readonly #send: Send;")
	p.line("")
	p.line("  constructor(send: Send) {")
	p.line("    this.#send = send;")
	p.line("  }")
	for _, name := range sortedKeys(found) {
		if err := found[name].write(p); err != nil {
			return nil, err
		}
	}
	p.line("}")
	return p.Bytes(), nil
}

type operation struct {
	*openapi3.Operation
	method, path string
}

func (o *operation) write(p *page) error {
	answer, kind, err := o.answer()
	if err != nil {
		return err
	}
	p.line("")
	p.comment("  ", o.Summary+".", o.Description)
	input, need := o.input()
	fallback := ""
	if !need {
		fallback = " = {}"
	}
	if input != "" {
		input = fmt.Sprintf("input: { %s }%s, ", input, fallback)
	}
	p.line("  %s(%soptions?: CallOptions): Promise<%s> {", o.OperationID, input, answer)
	p.line("    return this.#send<%s>({ %s }, options);", answer, strings.Join(o.request(kind), ", "))
	p.line("  }")
	return nil
}

// input is the fields that a caller gives, and whether any of them must be there.
func (o *operation) input() (fields string, need bool) {
	var all []string
	add := func(name string, required bool, kind string) {
		mark := "?"
		if required {
			mark, need = "", true
		}
		all = append(all, name+mark+": "+qualified(kind))
	}
	for _, ref := range o.Parameters {
		switch parameter := ref.Value; {
		case parameter.In == "header" && parameter.Name == "Idempotency-Key":
			add("idempotency_key", false, "string")
		case parameter.In != "header":
			add(parameter.Name, parameter.Required, typeOf(parameter.Schema))
		}
	}
	if o.RequestBody != nil {
		kind := "Blob"
		if !o.takesFile() {
			kind = typeOf(o.RequestBody.Value.Content.Get("application/json").Schema)
		}
		add("body", o.RequestBody.Value.Required, kind)
	}
	return strings.Join(all, "; "), need
}

// takesFile says that the body is bytes as they are.
func (o *operation) takesFile() bool {
	return o.RequestBody.Value.Content.Get("application/json") == nil
}

// request is what the method says to Send.
func (o *operation) request(kind string) []string {
	path := regexp.MustCompile(`\{(\w+)\}`).ReplaceAllString(o.path, "$${encodeURIComponent(input.$1)}")
	parts := []string{fmt.Sprintf("method: %q", o.method), "path: `" + path + "`"}
	var query []string
	for _, ref := range o.Parameters {
		switch parameter := ref.Value; {
		case parameter.In == "query":
			query = append(query, fmt.Sprintf("%s: input.%[1]s", parameter.Name))
		case parameter.Name == "Idempotency-Key":
			parts = append(parts, "idempotent: true", "idempotencyKey: input.idempotency_key")
		}
	}
	if len(query) > 0 {
		parts = append(parts, "query: { "+strings.Join(query, ", ")+" }")
	}
	switch {
	case o.RequestBody == nil:
	case o.takesFile():
		parts = append(parts, "file: input.body")
	default:
		parts = append(parts, "body: input.body")
	}
	return append(parts, fmt.Sprintf("answer: %q", kind))
}

// answer is the type of the operation's success, and how it is read: json, blob or none.
func (o *operation) answer() (answer, kind string, err error) {
	for _, status := range []int{http.StatusOK, http.StatusCreated, http.StatusAccepted, http.StatusNoContent} {
		ref := o.Responses.Status(status)
		if ref == nil {
			continue
		}
		if body := ref.Value.Content.Get("application/json"); body != nil {
			return qualified(typeOf(body.Schema)), "json", nil
		}
		if ref.Value.Content.Get("application/octet-stream") != nil {
			return "Blob", "blob", nil
		}
		return "void", "none", nil
	}
	return "", "", fmt.Errorf("%s has no success that is known here", o.OperationID)
}

var schemaName = regexp.MustCompile(`\b[A-Z]\w*`)

// qualified puts the namespace of types.gen.ts in front of names of schemas.
func qualified(kind string) string {
	if kind == "Blob" || strings.HasPrefix(kind, `"`) || strings.HasPrefix(kind, "Record<") {
		return kind
	}
	return schemaName.ReplaceAllString(kind, "t.$0")
}
