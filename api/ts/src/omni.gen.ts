// Generated from shared/omni: change it there, then `make generate`.

/** What the envelope says of its payload (S1, 信封). */
export const OMNI_MESSAGE_TYPES = ["session_meta", "model_msg", "event_msg"] as const;
export type OmniMessageType = (typeof OMNI_MESSAGE_TYPES)[number];

/** The phase of a fragment. */
export const STREAM_EVENT_TYPES = ["start", "delta", "stop"] as const;
export type StreamEventType = (typeof STREAM_EVENT_TYPES)[number];

/** How something ended (S1, stop_reason). */
export const STOP_REASONS = ["completed", "failed", "aborted", "timeout", "malformed", "auth"] as const;
export type StopReason = (typeof STOP_REASONS)[number];

/** Why a context is made smaller. */
export const COMPACTION_REASONS = ["context", "turns", "manual"] as const;
export type CompactionReason = (typeof COMPACTION_REASONS)[number];

/** What becomes of the old context. */
export const COMPACTION_MODES = ["summarize", "discard"] as const;
export type CompactionMode = (typeof COMPACTION_MODES)[number];

/** What a stream has to keep, as OmniChecker names it. */
export const OMNI_RULES = ["a message has the shape of its type", "a fragment begins with start", "a fragment starts after the one before it has stopped", "content is in deltas alone", "all images are in one delta", "the complete message follows its stop at once", "the deltas add up to the complete message", "the fragment and the complete message end for the same reason", "no fragment is left open", "a context has one session_meta, before anything else", "each tool call has an id of its own and one output, after it", "an approval is of a call that has no output yet", "requests end before the next begins, and after it began", "the session's usage grows by the request's", "a compaction ends as it began, before the next begins"] as const;
export type OmniRule = (typeof OMNI_RULES)[number];

/** A provider's own, to be passed on as it is (S1, 保真字段). lineOf keeps it to the byte, which a parsed object cannot. */
export type Fidelity = Record<string, unknown>;

export interface ToolDefinition {
  name: string;
  description: string;
  parameters?: Record<string, unknown>;
}

/** With what a context of the model runs. */
export interface SessionMetaPayload {
  session_id: string;
  provider: string;
  model_id: string;
  model_context_window: number | string;
  system_prompt: string;
  tools: ToolDefinition[];
  agent_state: string;
  workspace: string;
  source?: "subagent" | "schedule";
}

/** What a person or the model says. */
export interface TextPayload {
  type: "text";
  role: "user" | "assistant";
  text: string;
  fidelity?: Fidelity;
  stop_reason?: StopReason;
}

/** Reasoning. */
export interface ThinkingPayload {
  type: "thinking";
  role: "assistant";
  thinking: string;
  fidelity?: Fidelity;
  stop_reason?: StopReason;
}

/** Reasoning in a binary form. */
export interface InlineThinkingPayload {
  type: "inline_thinking";
  role: "assistant";
  data: string;
  mime_type: string;
  fidelity?: Fidelity;
  stop_reason?: StopReason;
}

/** A call of a tool; `arguments` is JSON in a string. */
export interface ToolCallPayload {
  type: "tool_call";
  role: "assistant";
  name: string;
  arguments: string;
  tool_call_id: string;
  fidelity?: Fidelity;
  stop_reason?: StopReason;
}

/** What became of a call; `images` are data URLs in base64. */
export interface ToolCallOutputPayload {
  type: "tool_call_output";
  role: "user";
  output: string;
  images?: string[];
  tool_call_id: string;
  stop_reason?: StopReason;
}

/** An image: a URL of the web, or a data URL in base64. */
export interface ImageUrlPayload {
  type: "image_url";
  role: "user";
  image_url: string;
  stop_reason?: StopReason;
}

/** Other binary content. */
export interface InlineDataPayload {
  type: "inline_data";
  role: "user" | "assistant";
  data: string;
  mime_type: string;
  fidelity?: Fidelity;
  stop_reason?: StopReason;
}

/** A fragment of `text`. */
export interface PartialTextPayload {
  type: "partial_text";
  role: "assistant";
  event_type: StreamEventType;
  text: string;
  stop_reason?: StopReason;
}

/** A fragment of `thinking`. */
export interface PartialThinkingPayload {
  type: "partial_thinking";
  role: "assistant";
  event_type: StreamEventType;
  thinking: string;
  stop_reason?: StopReason;
}

/** A fragment of `tool_call`. */
export interface PartialToolCallPayload {
  type: "partial_tool_call";
  role: "assistant";
  event_type: StreamEventType;
  name: string;
  arguments: string;
  tool_call_id: string;
  stop_reason?: StopReason;
}

/** A fragment of `tool_call_output`; all `images` are in one delta. */
export interface PartialToolCallOutputPayload {
  type: "partial_tool_call_output";
  role: "user";
  event_type: StreamEventType;
  output: string;
  images?: string[];
  tool_call_id: string;
  stop_reason?: StopReason;
}

/** A request to the model begins. */
export interface RequestBeginPayload {
  type: "request_begin";
}

/** It ended; `completed` commits the turn. `retry_in_ms` is there where it is tried again. */
export interface RequestEndPayload {
  type: "request_end";
  status: StopReason;
  error_message?: string;
  attempt?: number;
  retry_in_ms?: number;
}

/** Whether a call was approved; `forbidden` is of later versions. */
export interface ApprovalDecisionPayload {
  type: "approval_decision";
  decision: "allow" | "deny" | "forbidden";
  tool_call_id: string;
}

export interface TokenCounts {
  cache_read: number;
  cache_write: number;
  output: number;
  total: number;
}

/** Tokens of the request, and of the session up to it. */
export interface TokenUsagePayload {
  type: "token_usage";
  session: TokenCounts;
  request: TokenCounts;
}

/** The context is made smaller; it has `context` tokens after `turns` turns. */
export interface CompactionBeginPayload {
  type: "compaction_begin";
  reason: CompactionReason;
  mode: CompactionMode;
  context: number;
  turns: number;
}

/** That is over. */
export interface CompactionEndPayload {
  type: "compaction_end";
  reason: CompactionReason;
  mode: CompactionMode;
  status: StopReason;
  error_message?: string;
  attempt?: number;
  retry_in_ms?: number;
}

/** Somebody has stopped the run. */
export interface AbortPayload {
  type: "abort";
  reason?: string | null;
}

/** Points at the session of a sub-agent. */
export interface SubagentPayload {
  type: "subagent";
  session_id: string;
}

/** Which tools there are. */
export interface ToolListReadyPayload {
  type: "tool_list_ready";
  tools: unknown[];
}

/** Connections to tool servers are made. */
export interface McpConnectBeginPayload {
  type: "mcp_connect_begin";
  servers: unknown[];
}

export interface McpResult {
  server: string;
  transport: "stdio" | "http" | "sse";
  status: "completed" | "failed" | "aborted";
  duration_ms: number;
  tools?: unknown;
  error?: string;
}

/** What became of them. */
export interface McpConnectEndPayload {
  type: "mcp_connect_end";
  status: "completed" | "failed" | "aborted";
  results: McpResult[];
}

/** The payload of a complete model message. */
export type OmniCompletePayload = TextPayload | ThinkingPayload | InlineThinkingPayload | ToolCallPayload | ToolCallOutputPayload | ImageUrlPayload | InlineDataPayload;

/** The payload of a fragment. */
export type OmniPartialPayload = PartialTextPayload | PartialThinkingPayload | PartialToolCallPayload | PartialToolCallOutputPayload;

/** The payload of an event; the last three are of later versions (R12). */
export type OmniEventPayload = RequestBeginPayload | RequestEndPayload | ApprovalDecisionPayload | TokenUsagePayload | CompactionBeginPayload | CompactionEndPayload | AbortPayload | SubagentPayload | ToolListReadyPayload | McpConnectBeginPayload | McpConnectEndPayload;

/** What is known of a key of a payload. */
export interface OmniField {
  name: string;
  kind: "string" | "number" | "number or string" | "object" | "list" | "value";
  /** It may be absent. */
  optional?: true;
  /** null is the same as to leave it out. */
  nullable?: true;
  /** It may not be empty. */
  filled?: true;
  words?: readonly string[];
  holds?: "images" | "image_url";
  elements?: string;
  fields?: readonly OmniField[];
}

/** What is known of the messages with a payload; a session_meta's has no type. */
export interface OmniShape {
  message: OmniMessageType;
  type: string;
  group: "meta" | "complete" | "partial" | "event" | "later event";
  role?: "user" | "assistant";
  fields: readonly OmniField[];
}

/** Every payload, in the order of S1. */
export const OMNI_SHAPES: readonly OmniShape[] = [
  { message: "session_meta", type: "", group: "meta", fields: [{ name: "session_id", kind: "string", filled: true }, { name: "provider", kind: "string" }, { name: "model_id", kind: "string" }, { name: "model_context_window", kind: "number or string" }, { name: "system_prompt", kind: "string" }, { name: "tools", kind: "list", optional: true, elements: "object", fields: [{ name: "name", kind: "string", filled: true }, { name: "description", kind: "string" }, { name: "parameters", kind: "object", optional: true }] }, { name: "agent_state", kind: "string" }, { name: "workspace", kind: "string" }, { name: "source", kind: "string", optional: true, words: ["subagent", "schedule"] }] },
  { message: "model_msg", type: "text", group: "complete", fields: [{ name: "role", kind: "string", words: ["user", "assistant"] }, { name: "text", kind: "string" }, { name: "fidelity", kind: "object", optional: true }, { name: "stop_reason", kind: "string", optional: true, words: ["completed", "failed", "aborted", "timeout", "malformed", "auth"] }] },
  { message: "model_msg", type: "thinking", group: "complete", role: "assistant", fields: [{ name: "thinking", kind: "string" }, { name: "fidelity", kind: "object", optional: true }, { name: "stop_reason", kind: "string", optional: true, words: ["completed", "failed", "aborted", "timeout", "malformed", "auth"] }] },
  { message: "model_msg", type: "inline_thinking", group: "complete", role: "assistant", fields: [{ name: "data", kind: "string" }, { name: "mime_type", kind: "string", filled: true }, { name: "fidelity", kind: "object", optional: true }, { name: "stop_reason", kind: "string", optional: true, words: ["completed", "failed", "aborted", "timeout", "malformed", "auth"] }] },
  { message: "model_msg", type: "tool_call", group: "complete", role: "assistant", fields: [{ name: "name", kind: "string", filled: true }, { name: "arguments", kind: "string" }, { name: "tool_call_id", kind: "string", filled: true }, { name: "fidelity", kind: "object", optional: true }, { name: "stop_reason", kind: "string", optional: true, words: ["completed", "failed", "aborted", "timeout", "malformed", "auth"] }] },
  { message: "model_msg", type: "tool_call_output", group: "complete", role: "user", fields: [{ name: "output", kind: "string" }, { name: "images", kind: "list", optional: true, holds: "images", elements: "string" }, { name: "tool_call_id", kind: "string", filled: true }, { name: "stop_reason", kind: "string", optional: true, words: ["completed", "failed", "aborted", "timeout", "malformed", "auth"] }] },
  { message: "model_msg", type: "image_url", group: "complete", role: "user", fields: [{ name: "image_url", kind: "string", holds: "image_url" }, { name: "stop_reason", kind: "string", optional: true, words: ["completed", "failed", "aborted", "timeout", "malformed", "auth"] }] },
  { message: "model_msg", type: "inline_data", group: "complete", fields: [{ name: "role", kind: "string", words: ["user", "assistant"] }, { name: "data", kind: "string" }, { name: "mime_type", kind: "string", filled: true }, { name: "fidelity", kind: "object", optional: true }, { name: "stop_reason", kind: "string", optional: true, words: ["completed", "failed", "aborted", "timeout", "malformed", "auth"] }] },
  { message: "model_msg", type: "partial_text", group: "partial", role: "assistant", fields: [{ name: "event_type", kind: "string", words: ["start", "delta", "stop"] }, { name: "text", kind: "string" }, { name: "stop_reason", kind: "string", optional: true, words: ["completed", "failed", "aborted", "timeout", "malformed", "auth"] }] },
  { message: "model_msg", type: "partial_thinking", group: "partial", role: "assistant", fields: [{ name: "event_type", kind: "string", words: ["start", "delta", "stop"] }, { name: "thinking", kind: "string" }, { name: "stop_reason", kind: "string", optional: true, words: ["completed", "failed", "aborted", "timeout", "malformed", "auth"] }] },
  { message: "model_msg", type: "partial_tool_call", group: "partial", role: "assistant", fields: [{ name: "event_type", kind: "string", words: ["start", "delta", "stop"] }, { name: "name", kind: "string" }, { name: "arguments", kind: "string" }, { name: "tool_call_id", kind: "string", filled: true }, { name: "stop_reason", kind: "string", optional: true, words: ["completed", "failed", "aborted", "timeout", "malformed", "auth"] }] },
  { message: "model_msg", type: "partial_tool_call_output", group: "partial", role: "user", fields: [{ name: "event_type", kind: "string", words: ["start", "delta", "stop"] }, { name: "output", kind: "string" }, { name: "images", kind: "list", optional: true, holds: "images", elements: "string" }, { name: "tool_call_id", kind: "string", filled: true }, { name: "stop_reason", kind: "string", optional: true, words: ["completed", "failed", "aborted", "timeout", "malformed", "auth"] }] },
  { message: "event_msg", type: "request_begin", group: "event", fields: [] },
  { message: "event_msg", type: "request_end", group: "event", fields: [{ name: "status", kind: "string", words: ["completed", "failed", "aborted", "timeout", "malformed", "auth"] }, { name: "error_message", kind: "string", optional: true }, { name: "attempt", kind: "number", optional: true }, { name: "retry_in_ms", kind: "number", optional: true }] },
  { message: "event_msg", type: "approval_decision", group: "event", fields: [{ name: "decision", kind: "string", words: ["allow", "deny", "forbidden"] }, { name: "tool_call_id", kind: "string", filled: true }] },
  { message: "event_msg", type: "token_usage", group: "event", fields: [{ name: "session", kind: "object", fields: [{ name: "cache_read", kind: "number" }, { name: "cache_write", kind: "number" }, { name: "output", kind: "number" }, { name: "total", kind: "number" }] }, { name: "request", kind: "object", fields: [{ name: "cache_read", kind: "number" }, { name: "cache_write", kind: "number" }, { name: "output", kind: "number" }, { name: "total", kind: "number" }] }] },
  { message: "event_msg", type: "compaction_begin", group: "event", fields: [{ name: "reason", kind: "string", words: ["context", "turns", "manual"] }, { name: "mode", kind: "string", words: ["summarize", "discard"] }, { name: "context", kind: "number" }, { name: "turns", kind: "number" }] },
  { message: "event_msg", type: "compaction_end", group: "event", fields: [{ name: "reason", kind: "string", words: ["context", "turns", "manual"] }, { name: "mode", kind: "string", words: ["summarize", "discard"] }, { name: "status", kind: "string", words: ["completed", "failed", "aborted", "timeout", "malformed", "auth"] }, { name: "error_message", kind: "string", optional: true }, { name: "attempt", kind: "number", optional: true }, { name: "retry_in_ms", kind: "number", optional: true }] },
  { message: "event_msg", type: "abort", group: "event", fields: [{ name: "reason", kind: "string", optional: true, nullable: true }] },
  { message: "event_msg", type: "subagent", group: "event", fields: [{ name: "session_id", kind: "string", filled: true }] },
  { message: "event_msg", type: "tool_list_ready", group: "later event", fields: [{ name: "tools", kind: "list", elements: "value" }] },
  { message: "event_msg", type: "mcp_connect_begin", group: "later event", fields: [{ name: "servers", kind: "list", elements: "value" }] },
  { message: "event_msg", type: "mcp_connect_end", group: "later event", fields: [{ name: "status", kind: "string", words: ["completed", "failed", "aborted"] }, { name: "results", kind: "list", elements: "object", fields: [{ name: "server", kind: "string", filled: true }, { name: "transport", kind: "string", words: ["stdio", "http", "sse"] }, { name: "status", kind: "string", words: ["completed", "failed", "aborted"] }, { name: "duration_ms", kind: "number" }, { name: "tools", kind: "value", optional: true }, { name: "error", kind: "string", optional: true }] }] },
];
