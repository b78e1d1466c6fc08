package omni

import (
	"slices"
	"strings"
)

// shapeKey is what decides the shape of a payload.
type shapeKey struct {
	Message MessageType
	Type    PayloadType
}

// Group is which part of the protocol a payload is of.
type Group string

// The groups. Later are events of later versions (R12).
const (
	Meta     Group = "meta"
	Complete Group = "complete"
	Partial  Group = "partial"
	Event    Group = "event"
	Later    Group = "later event"
)

// Shape is what is known of the messages with a payload.
type Shape struct {
	Message MessageType
	Type    PayloadType // "" of a session_meta
	Group   Group
	Role    Role // that all of them have; "" if there is none, or one that differs
	Meaning string
	zero    Payload
}

// Shapes lists every payload, in the order of S1.
func Shapes() []Shape { return slices.Clone(shapes) }

var shapes = []Shape{
	shapeOf(SessionMetaPayload{}, Meta, "", "with what a context of the model runs"),

	shapeOf(TextPayload{}, Complete, "", "what a person or the model says"),
	shapeOf(ThinkingPayload{}, Complete, Assistant, "reasoning"),
	shapeOf(InlineThinkingPayload{}, Complete, Assistant, "reasoning in a binary form"),
	shapeOf(ToolCallPayload{}, Complete, Assistant, "a call of a tool; `arguments` is JSON in a string"),
	shapeOf(ToolCallOutputPayload{}, Complete, User, "what became of a call; `images` are data URLs in base64"),
	shapeOf(ImageURLPayload{}, Complete, User, "an image: a URL of the web, or a data URL in base64"),
	shapeOf(InlineDataPayload{}, Complete, "", "other binary content"),

	shapeOf(PartialTextPayload{}, Partial, Assistant, "a fragment of `text`"),
	shapeOf(PartialThinkingPayload{}, Partial, Assistant, "a fragment of `thinking`"),
	shapeOf(PartialToolCallPayload{}, Partial, Assistant, "a fragment of `tool_call`"),
	shapeOf(PartialToolCallOutputPayload{}, Partial, User, "a fragment of `tool_call_output`; all `images` are in one delta"),

	shapeOf(RequestBeginPayload{}, Event, "", "a request to the model begins"),
	shapeOf(RequestEndPayload{}, Event, "", "it ended; `completed` commits the turn. `retry_in_ms` is there where it is tried again"),
	shapeOf(ApprovalDecisionPayload{}, Event, "", "whether a call was approved; `forbidden` is of later versions"),
	shapeOf(TokenUsagePayload{}, Event, "", "tokens of the request, and of the session up to it"),
	shapeOf(CompactionBeginPayload{}, Event, "", "the context is made smaller; it has `context` tokens after `turns` turns"),
	shapeOf(CompactionEndPayload{}, Event, "", "that is over"),
	shapeOf(AbortPayload{}, Event, "", "somebody has stopped the run"),
	shapeOf(SubagentPayload{}, Event, "", "points at the session of a sub-agent"),

	shapeOf(ToolListReadyPayload{}, Later, "", "which tools there are"),
	shapeOf(MCPConnectBeginPayload{}, Later, "", "connections to tool servers are made"),
	shapeOf(MCPConnectEndPayload{}, Later, "", "what became of them"),
}

func shapeOf(zero Payload, group Group, role Role, meaning string) Shape {
	key := zero.shape()
	return Shape{Message: key.Message, Type: key.Type, Group: group, Role: role, Meaning: meaning, zero: zero}
}

var byKey = func() map[shapeKey]*Shape {
	found := map[shapeKey]*Shape{}
	for i := range shapes {
		found[shapes[i].zero.shape()] = &shapes[i]
	}
	return found
}()

// typeOf is in which messages a payload belongs, by its type.
var typeOf = func() map[PayloadType]MessageType {
	found := map[PayloadType]MessageType{}
	for _, s := range shapes {
		found[s.Type] = s.Message
	}
	return found
}()

// words are the types that are known, by themselves.
var words = func() map[string]string {
	found := map[string]string{}
	for _, s := range shapes {
		found[string(s.Message)], found[string(s.Type)] = string(s.Message), string(s.Type)
	}
	return found
}()

// word is the text of a JSON string that holds a type: mostly one that is known, and need not be kept again.
func word(quoted []byte) string {
	text := said(quoted)
	if known, found := words[string(text)]; found {
		return known
	}
	return string(text)
}

// partialPrefix is how the types of fragments begin, also those of later versions.
const partialPrefix = "partial_"

func (t PayloadType) partial() bool { return strings.HasPrefix(string(t), partialPrefix) }
