package apicontract

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// Cards compares what is said on /v1/ws with the contract. Safe for concurrent use.
type Cards struct {
	event    *openapi3.Schema
	payloads map[string]*openapi3.Schema            // by the type of the event
	kinds    map[string]*openapi3.Schema            // of card.add, by the kind of the card
	inner    map[string]map[string]*openapi3.Schema // by the type of the event, then by the kind that the payload names
	frames   map[string]*openapi3.Schema            // of a client, by type
}

// withInner are the events whose payload names the shape of what is in it.
var withInner = map[string]string{"card.tick": "CardSocketTick", "prompt.user": "CardSocketPrompt", "session.event": "CardSocketSessionEvent"}

// NewCards makes a Cards of the repository's contract.
func NewCards(ctx context.Context) (*Cards, error) {
	doc, err := Load(ctx)
	if err != nil {
		return nil, err
	}
	closeObjects(doc)
	c := &Cards{event: doc.Components.Schemas["CardSocketEvent"].Value, inner: map[string]map[string]*openapi3.Schema{}}
	if c.payloads, err = named(doc, "CardSocketEvent", "x-payload-schemas"); err != nil {
		return nil, err
	}
	if c.kinds, err = named(doc, "CardSocketEvent", "x-card-schemas"); err != nil {
		return nil, err
	}
	if c.frames, err = named(doc, "CardSocketFrame", "x-frame-schemas"); err != nil {
		return nil, err
	}
	for event, schema := range withInner {
		if c.inner[event], err = named(doc, schema, "x-inner-schemas"); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// said is a text message with what decides its shape.
type said struct {
	Type     string `json:"type"`
	Envelope struct {
		Kind string `json:"card_kind"`
	} `json:"envelope"`
	Payload any `json:"payload"`
}

// Event reports how a text message of the hub differs from the contract: the event, its payload and what is in it.
func (c *Cards) Event(raw []byte) error {
	whole, head, err := read(raw)
	if err != nil {
		return err
	}
	if head.Type == "pong" { // it answers a ping, and is no event
		return visit(c.frames["pong"], whole, "pong")
	}
	if err := visit(c.event, whole, "event"); err != nil {
		return err
	}
	switch head.Type {
	case "card.add":
		return visit(c.kinds[head.Envelope.Kind], head.Payload, "payload of a "+head.Envelope.Kind)
	case "card.set":
		return visit(part(c.kinds[head.Envelope.Kind]), head.Payload, "change of a "+head.Envelope.Kind)
	}
	if err := visit(c.payloads[head.Type], head.Payload, "payload of "+head.Type); err != nil {
		return err
	}
	payload, _ := head.Payload.(map[string]any)
	if inner, there := payload["inner"]; head.Type == "card.close" && there {
		return visit(part(c.kinds[head.Envelope.Kind]), inner, "end of a "+head.Envelope.Kind)
	}
	kind, _ := payload["kind"].(string)
	return visit(c.inner[head.Type][kind], payload["inner"], head.Type+" of kind "+kind)
}

// Frame reports how a text message of a client differs from the contract.
func (c *Cards) Frame(raw []byte) error {
	whole, head, err := read(raw)
	if err != nil {
		return err
	}
	schema := c.frames[head.Type]
	if schema == nil {
		return fmt.Errorf("the contract has no frame of type %q", head.Type)
	}
	return visit(schema, whole, "frame "+head.Type)
}

func read(raw []byte) (whole any, head said, err error) {
	if err := json.Unmarshal(raw, &whole); err != nil {
		return nil, head, fmt.Errorf("it is not JSON: %w", err)
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return nil, head, fmt.Errorf("it is not JSON: %w", err)
	}
	return whole, head, nil
}

// visit compares a value with its schema; with none, which a kind has that is newer than the contract, anything is right.
func visit(schema *openapi3.Schema, value any, what string) error {
	if schema == nil {
		return nil
	}
	if err := schema.VisitJSON(value); err != nil {
		return fmt.Errorf("%s outside the contract: %w", what, err)
	}
	return nil
}

// part is the schema of some fields of what another one has.
func part(schema *openapi3.Schema) *openapi3.Schema {
	if schema == nil {
		return nil
	}
	some := *schema
	some.Required = nil
	return &some
}

// named reads an extension that names a schema for each of some words.
func named(doc *openapi3.T, schema, extension string) (map[string]*openapi3.Schema, error) {
	mapping, ok := doc.Components.Schemas[schema].Value.Extensions[extension].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s has no %s", schema, extension)
	}
	schemas := make(map[string]*openapi3.Schema, len(mapping))
	for word, ref := range mapping {
		name, _ := strings.CutPrefix(fmt.Sprint(ref), "#/components/schemas/")
		found := doc.Components.Schemas[name]
		if found == nil {
			return nil, fmt.Errorf("%s of %s: %s names no schema: %v", extension, schema, word, ref)
		}
		schemas[word] = found.Value
	}
	return schemas, nil
}
