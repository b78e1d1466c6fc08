package omni

import "encoding/json"

// Payload is what a message holds: one of the payload structs of this package. Their types and the roles that are always the same are no fields;
// they are written and read with the message. Fields whose values are optional are left out where they are zero.
type Payload interface{ shape() shapeKey }

// The payloads of complete model messages (S1, model_msg：完整消息). Fidelity is a JSON object, a provider's own: it is written as it was
// given, in its order and with its escapes and numbers (S1, 保真字段).
type (
	TextPayload struct {
		Role       Role            `json:"role" oneof:"user,assistant"`
		Text       string          `json:"text"`
		Fidelity   json.RawMessage `json:"fidelity,omitempty" holds:"object"`
		StopReason StopReason      `json:"stop_reason,omitempty" oneof:"completed,failed,aborted,timeout,malformed,auth"`
	}
	ThinkingPayload struct {
		Thinking   string          `json:"thinking"` // may be empty beside a fidelity that holds it encrypted
		Fidelity   json.RawMessage `json:"fidelity,omitempty" holds:"object"`
		StopReason StopReason      `json:"stop_reason,omitempty" oneof:"completed,failed,aborted,timeout,malformed,auth"`
	}
	InlineThinkingPayload struct {
		Data       string          `json:"data"` // reasoning in a binary form
		MIMEType   string          `json:"mime_type" filled:"yes"`
		Fidelity   json.RawMessage `json:"fidelity,omitempty" holds:"object"`
		StopReason StopReason      `json:"stop_reason,omitempty" oneof:"completed,failed,aborted,timeout,malformed,auth"`
	}
	ToolCallPayload struct {
		Name       string          `json:"name" filled:"yes"`
		Arguments  string          `json:"arguments"` // the text of a JSON value, as the model wrote it
		ToolCallID string          `json:"tool_call_id" filled:"yes"`
		Fidelity   json.RawMessage `json:"fidelity,omitempty" holds:"object"`
		StopReason StopReason      `json:"stop_reason,omitempty" oneof:"completed,failed,aborted,timeout,malformed,auth"`
	}
	ToolCallOutputPayload struct {
		Output     string     `json:"output"`
		Images     []string   `json:"images,omitempty" holds:"images"` // data:MIME;base64,…
		ToolCallID string     `json:"tool_call_id" filled:"yes"`
		StopReason StopReason `json:"stop_reason,omitempty" oneof:"completed,failed,aborted,timeout,malformed,auth"`
	}
	ImageURLPayload struct {
		ImageURL   string     `json:"image_url" holds:"image_url"` // of the web, or data:MIME;base64,…
		StopReason StopReason `json:"stop_reason,omitempty" oneof:"completed,failed,aborted,timeout,malformed,auth"`
	}
	InlineDataPayload struct {
		Role       Role            `json:"role" oneof:"user,assistant"`
		Data       string          `json:"data"` // other binary content
		MIMEType   string          `json:"mime_type" filled:"yes"`
		Fidelity   json.RawMessage `json:"fidelity,omitempty" holds:"object"`
		StopReason StopReason      `json:"stop_reason,omitempty" oneof:"completed,failed,aborted,timeout,malformed,auth"`
	}
)

// The payloads of fragments (S1, model_msg：流式分片). What they hold is what they add.
type (
	PartialTextPayload struct {
		EventType  StreamEvent `json:"event_type" oneof:"start,delta,stop"`
		Text       string      `json:"text"`
		StopReason StopReason  `json:"stop_reason,omitempty" oneof:"completed,failed,aborted,timeout,malformed,auth"`
	}
	PartialThinkingPayload struct {
		EventType  StreamEvent `json:"event_type" oneof:"start,delta,stop"`
		Thinking   string      `json:"thinking"`
		StopReason StopReason  `json:"stop_reason,omitempty" oneof:"completed,failed,aborted,timeout,malformed,auth"`
	}
	PartialToolCallPayload struct {
		EventType  StreamEvent `json:"event_type" oneof:"start,delta,stop"`
		Name       string      `json:"name"` // the newest that is not empty counts
		Arguments  string      `json:"arguments"`
		ToolCallID string      `json:"tool_call_id" filled:"yes"`
		StopReason StopReason  `json:"stop_reason,omitempty" oneof:"completed,failed,aborted,timeout,malformed,auth"`
	}
	PartialToolCallOutputPayload struct {
		EventType  StreamEvent `json:"event_type" oneof:"start,delta,stop"`
		Output     string      `json:"output"`
		Images     []string    `json:"images,omitempty" holds:"images"` // all of them, in one delta
		ToolCallID string      `json:"tool_call_id" filled:"yes"`
		StopReason StopReason  `json:"stop_reason,omitempty" oneof:"completed,failed,aborted,timeout,malformed,auth"`
	}
)

func (TextPayload) shape() shapeKey           { return shapeKey{ModelMsg, TypeText} }
func (ThinkingPayload) shape() shapeKey       { return shapeKey{ModelMsg, TypeThinking} }
func (InlineThinkingPayload) shape() shapeKey { return shapeKey{ModelMsg, TypeInlineThinking} }
func (ToolCallPayload) shape() shapeKey       { return shapeKey{ModelMsg, TypeToolCall} }
func (ToolCallOutputPayload) shape() shapeKey { return shapeKey{ModelMsg, TypeToolCallOutput} }
func (ImageURLPayload) shape() shapeKey       { return shapeKey{ModelMsg, TypeImageURL} }
func (InlineDataPayload) shape() shapeKey     { return shapeKey{ModelMsg, TypeInlineData} }

func (PartialTextPayload) shape() shapeKey     { return shapeKey{ModelMsg, TypePartialText} }
func (PartialThinkingPayload) shape() shapeKey { return shapeKey{ModelMsg, TypePartialThinking} }
func (PartialToolCallPayload) shape() shapeKey { return shapeKey{ModelMsg, TypePartialToolCall} }
func (PartialToolCallOutputPayload) shape() shapeKey {
	return shapeKey{ModelMsg, TypePartialToolCallOutput}
}
