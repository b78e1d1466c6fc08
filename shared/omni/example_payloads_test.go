package omni_test

import (
	"github.com/switchyard-dev/switchyard/shared/omni"
)

// oddFidelity has what a parser would change: an order, white space, escapes, numbers beyond any float.
const oddFidelity = `{"z":1.0, "a":[1e400,-0.0,12345678901234567890],"s":"\u003c\/ \ud83d\ude00 <\u2028\u0000","n":{ }}`

const image = "data:image/png;base64,iVBORw0="

func retryIn(ms omni.Count) *omni.Count { return &ms }

// payloads has at least one payload of each type, with all that it can have.
func payloads() map[string]omni.Payload {
	thinking := omni.Thinking("why < how", raw(oddFidelity))
	thinking.StopReason = omni.Aborted
	assistant := omni.AssistantText("列出 <&> \u2028 \"x\"\n\x7f")
	assistant.Fidelity, assistant.StopReason = raw(`{"phase":"final"}`), omni.Timeout
	inlineThinking := omni.InlineThinking("application/octet-stream", "AAEC")
	inlineThinking.Fidelity, inlineThinking.StopReason = raw(`{}`), omni.Failed
	call := omni.ToolCall("call_1", "bash", `{"command":"ls","n":1.0}`)
	call.Fidelity, call.StopReason = raw(`{"index":0}`), omni.Malformed
	output := omni.ToolCallOutput("call_1", "a\nb", image, image)
	output.StopReason = omni.Auth
	picture := omni.ImageURL("https://example.com/a.png?x=<1>&y=2")
	picture.StopReason = omni.Completed
	data := omni.InlineData(omni.Assistant, "audio/wav", "UklGRg==")
	data.Fidelity, data.StopReason = raw(`{"id":"au_1"}`), omni.Aborted
	stop := omni.PartialText(omni.Stop, "")
	stop.StopReason = omni.Aborted
	begun := omni.CompactionBegin(omni.ContextReached, omni.Summarize, 256_000, 12)
	return map[string]omni.Payload{
		"session_meta":             sessionMeta(),
		"session_meta.named":       omni.SessionMetaPayload{SessionID: "session-2", ModelContextWindow: omni.ContextWindow{Name: "<1M>"}},
		"text.user":                omni.UserText("列出当前目录的文件"),
		"text.assistant":           assistant,
		"thinking":                 thinking,
		"thinking.encrypted":       omni.Thinking("", raw(`{"id":"rs_0d3","encrypted_content":"gAAAA"}`)),
		"inline_thinking":          inlineThinking,
		"tool_call":                call,
		"tool_call_output":         output,
		"image_url":                picture,
		"image_url.data":           omni.ImageURL(image),
		"inline_data":              data,
		"partial_text.start":       omni.PartialText(omni.Start, ""),
		"partial_text.delta":       omni.PartialText(omni.Delta, "piece"),
		"partial_text.stop":        stop,
		"partial_thinking":         omni.PartialThinking(omni.Delta, "hm"),
		"partial_tool_call":        omni.PartialToolCall(omni.Delta, "call_1", "bash", `{"comm`),
		"partial_tool_call_output": omni.PartialToolCallOutput(omni.Delta, "call_1", "a\n", image),
		"request_begin":            omni.RequestBegin(),
		"request_end":              omni.RequestEnd(omni.Completed, omni.RetryDetail{}),
		"request_end.retry":        omni.RequestEnd(omni.Timeout, omni.RetryDetail{ErrorMessage: "quota", Attempt: 1, RetryInMS: retryIn(2000)}),
		"request_end.retry_now":    omni.RequestEnd(omni.Failed, omni.RetryDetail{ErrorMessage: "reset", Attempt: 2, RetryInMS: retryIn(0)}),
		"approval_decision":        omni.ApprovalDecision("call_1", omni.Deny),
		"token_usage":              omni.TokenUsage(omni.TokenCounts{CacheRead: 10, CacheWrite: 20, Output: 30, Total: 70}, omni.TokenCounts{CacheRead: 1, CacheWrite: 2, Output: 3, Total: 7}),
		"compaction_begin":         begun,
		"compaction_end":           omni.CompactionEnd(begun, omni.Failed, omni.RetryDetail{ErrorMessage: "overloaded", Attempt: 5}),
		"abort":                    omni.Abort(""),
		"abort.reason":             omni.Abort("user"),
		"subagent":                 omni.Subagent("session-2026-07-18-09-30-00-a1b2c3d4"),
		"tool_list_ready":          omni.ToolListReady(raw(`{"name":"bash","description":"runs"}`), raw(`"read"`)),
		"mcp_connect_begin":        omni.MCPConnectBegin(raw(`"files"`), raw(`{"name":"web"}`)),
		"mcp_connect_end": omni.MCPConnectEnd(omni.Completed,
			omni.MCPResult{Server: "files", Transport: "stdio", Status: omni.Completed, DurationMS: 120, Tools: raw(`["read"]`)},
			omni.MCPResult{Server: "web", Transport: "http", Status: omni.Failed, DurationMS: 30_000, Error: "refused"}),
	}
}

func sessionMeta() omni.SessionMetaPayload {
	return omni.SessionMetaPayload{
		SessionID: "session-2026-07-18-09-30-00-a1b2c3d4", Provider: "anthropic", ModelID: "m-1", ModelContextWindow: omni.ContextWindow{Tokens: 200_000},
		SystemPrompt: "You are <careful>.", AgentState: "/data/agents/a", Workspace: "/data/w", Source: omni.FromSchedule,
		Tools: []omni.ToolDefinition{
			{Name: "bash", Description: "runs a command", Parameters: raw(`{"type":"object","properties":{"n":{"maximum":1e400}}}`)},
			{Name: "clock", Description: ""},
		},
	}
}
