package omni

import "encoding/json"

// A constructor for each payload (S1, 构造与判别). What is optional is set on what they return; New makes the message.

// UserText is what a person, or a program in their place, says.
func UserText(text string) TextPayload { return TextPayload{Role: User, Text: text} }

// AssistantText is what the model says.
func AssistantText(text string) TextPayload { return TextPayload{Role: Assistant, Text: text} }

// Thinking is the model's reasoning. fidelity is a JSON object, or nil.
func Thinking(text string, fidelity json.RawMessage) ThinkingPayload {
	return ThinkingPayload{Thinking: text, Fidelity: fidelity}
}

// InlineThinking is reasoning in a binary form.
func InlineThinking(mimeType, data string) InlineThinkingPayload {
	return InlineThinkingPayload{Data: data, MIMEType: mimeType}
}

// ToolCall is a call that the model wants. arguments is JSON, as the model wrote it.
func ToolCall(id, name, arguments string) ToolCallPayload {
	return ToolCallPayload{Name: name, Arguments: arguments, ToolCallID: id}
}

// ToolCallOutput is what became of a call. Images are data URLs in base64.
func ToolCallOutput(id, output string, images ...string) ToolCallOutputPayload {
	return ToolCallOutputPayload{Output: output, Images: images, ToolCallID: id}
}

// ImageURL is an image of the user: an http, https or data URL.
func ImageURL(url string) ImageURLPayload { return ImageURLPayload{ImageURL: url} }

// InlineData is other binary content.
func InlineData(role Role, mimeType, data string) InlineDataPayload {
	return InlineDataPayload{Role: role, Data: data, MIMEType: mimeType}
}

// PartialText is a fragment of AssistantText.
func PartialText(event StreamEvent, text string) PartialTextPayload {
	return PartialTextPayload{EventType: event, Text: text}
}

// PartialThinking is a fragment of Thinking.
func PartialThinking(event StreamEvent, text string) PartialThinkingPayload {
	return PartialThinkingPayload{EventType: event, Thinking: text}
}

// PartialToolCall is a fragment of a ToolCall.
func PartialToolCall(event StreamEvent, id, name, arguments string) PartialToolCallPayload {
	return PartialToolCallPayload{EventType: event, Name: name, Arguments: arguments, ToolCallID: id}
}

// PartialToolCallOutput is a fragment of a ToolCallOutput. All images come in one delta.
func PartialToolCallOutput(event StreamEvent, id, output string, images ...string) PartialToolCallOutputPayload {
	return PartialToolCallOutputPayload{EventType: event, Output: output, Images: images, ToolCallID: id}
}

// RequestBegin is the start of a request to the model.
func RequestBegin() RequestBeginPayload { return RequestBeginPayload{} }

// RequestEnd is its end.
func RequestEnd(status StopReason, detail RetryDetail) RequestEndPayload {
	return RequestEndPayload{Status: status, RetryDetail: detail}
}

// ApprovalDecision is whether a call was approved.
func ApprovalDecision(id string, decision Decision) ApprovalDecisionPayload {
	return ApprovalDecisionPayload{Decision: decision, ToolCallID: id}
}

// TokenUsage is what a request used, and what the session had used before it.
func TokenUsage(before, request TokenCounts) TokenUsagePayload {
	return TokenUsagePayload{Session: before.Plus(request), Request: request}
}

// CompactionBegin is the start of a compaction, with the tokens in the context and the turns so far.
func CompactionBegin(reason CompactionReason, mode CompactionMode, context, turns Count) CompactionBeginPayload {
	return CompactionBeginPayload{Reason: reason, Mode: mode, Context: context, Turns: turns}
}

// CompactionEnd is the end of the compaction that began with the same reason and mode.
func CompactionEnd(begun CompactionBeginPayload, status StopReason, detail RetryDetail) CompactionEndPayload {
	return CompactionEndPayload{Reason: begun.Reason, Mode: begun.Mode, Status: status, RetryDetail: detail}
}

// Abort is that somebody has stopped the run. reason may be empty.
func Abort(reason string) AbortPayload { return AbortPayload{Reason: reason} }

// Subagent points at the session of a sub-agent.
func Subagent(session string) SubagentPayload { return SubagentPayload{SessionID: session} }

// ToolListReady is which tools there are, each a JSON value.
func ToolListReady(tools ...json.RawMessage) ToolListReadyPayload {
	return ToolListReadyPayload{Tools: tools}
}

// MCPConnectBegin is that connections to tool servers are made, each named by a JSON value.
func MCPConnectBegin(servers ...json.RawMessage) MCPConnectBeginPayload {
	return MCPConnectBeginPayload{Servers: servers}
}

// MCPConnectEnd is what became of them.
func MCPConnectEnd(status StopReason, results ...MCPResult) MCPConnectEndPayload {
	return MCPConnectEndPayload{Status: status, Results: results}
}
