import type { OmniMessage, OmniPayload } from "./omni.js";
import type * as t from "./omni.gen.js";

/** What a message may say besides. */
export interface Beside {
  fidelity?: t.Fidelity;
  stop_reason?: t.StopReason;
}

/** What is told of a request that did not succeed at once (S1, request_end). */
export interface RetryDetail {
  /** Of a status other than completed. */
  error_message?: string;
  /** Which attempt it was, from 1; none where the first one succeeded. */
  attempt?: number;
  /** Milliseconds until the next attempt, where one is planned. */
  retry_in_ms?: number;
}

/** A message of now. */
function message<P extends OmniPayload>(type: t.OmniMessageType, payload: P): OmniMessage<P> {
  return { timestamp: new Date().toISOString(), type, payload };
}

function model<P extends t.OmniCompletePayload | t.OmniPartialPayload>(payload: P): OmniMessage<P> {
  return message("model_msg", payload);
}

function event<P extends t.OmniEventPayload>(payload: P): OmniMessage<P> {
  return message("event_msg", payload);
}

/** With what a context of the model runs; one for each context. */
export function sessionMeta(payload: t.SessionMetaPayload): OmniMessage<t.SessionMetaPayload> {
  return message("session_meta", payload);
}

/** What a person, or a program in their place, says. */
export function userText(text: string, beside: Beside = {}): OmniMessage<t.TextPayload> {
  return model({ type: "text", role: "user", text, ...beside });
}

/** What the model says. */
export function assistantText(text: string, beside: Beside = {}): OmniMessage<t.TextPayload> {
  return model({ type: "text", role: "assistant", text, ...beside });
}

/** The model's reasoning; it may be empty beside a fidelity that holds it encrypted. */
export function thinking(text: string, beside: Beside = {}): OmniMessage<t.ThinkingPayload> {
  return model({ type: "thinking", role: "assistant", thinking: text, ...beside });
}

/** Reasoning in a binary form. */
export function inlineThinking(mime_type: string, data: string, beside: Beside = {}): OmniMessage<t.InlineThinkingPayload> {
  return model({ type: "inline_thinking", role: "assistant", data, mime_type, ...beside });
}

/** A call that the model wants. `args` is JSON, as the model wrote it. */
export function toolCall(tool_call_id: string, name: string, args: string, beside: Beside = {}): OmniMessage<t.ToolCallPayload> {
  return model({ type: "tool_call", role: "assistant", name, arguments: args, tool_call_id, ...beside });
}

/** What became of a call. `images` are data URLs in base64. */
export function toolCallOutput(tool_call_id: string, output: string, beside: { images?: string[]; stop_reason?: t.StopReason } = {}): OmniMessage<t.ToolCallOutputPayload> {
  const { images, ...rest } = beside;
  return model({ type: "tool_call_output", role: "user", output, ...some(images), tool_call_id, ...rest });
}

/** An image of the user: an http, https or data URL. */
export function imageUrl(image_url: string, beside: { stop_reason?: t.StopReason } = {}): OmniMessage<t.ImageUrlPayload> {
  return model({ type: "image_url", role: "user", image_url, ...beside });
}

/** Other binary content. */
export function inlineData(role: "user" | "assistant", mime_type: string, data: string, beside: Beside = {}): OmniMessage<t.InlineDataPayload> {
  return model({ type: "inline_data", role, data, mime_type, ...beside });
}

/** A fragment of assistantText. */
export function partialText(event_type: t.StreamEventType, text: string, stop_reason?: t.StopReason): OmniMessage<t.PartialTextPayload> {
  return model({ type: "partial_text", role: "assistant", event_type, text, ...because(stop_reason) });
}

/** A fragment of thinking. */
export function partialThinking(event_type: t.StreamEventType, text: string, stop_reason?: t.StopReason): OmniMessage<t.PartialThinkingPayload> {
  return model({ type: "partial_thinking", role: "assistant", event_type, thinking: text, ...because(stop_reason) });
}

/** A fragment of a toolCall. */
export function partialToolCall(event_type: t.StreamEventType, tool_call_id: string, name: string, args: string, stop_reason?: t.StopReason): OmniMessage<t.PartialToolCallPayload> {
  return model({ type: "partial_tool_call", role: "assistant", event_type, name, arguments: args, tool_call_id, ...because(stop_reason) });
}

/** A fragment of a toolCallOutput. All images come in one delta. */
export function partialToolCallOutput(event_type: t.StreamEventType, tool_call_id: string, output: string, beside: { images?: string[]; stop_reason?: t.StopReason } = {}): OmniMessage<t.PartialToolCallOutputPayload> {
  const { images, ...rest } = beside;
  return model({ type: "partial_tool_call_output", role: "user", event_type, output, ...some(images), tool_call_id, ...rest });
}

/** The start of a request to the model. */
export function requestBegin(): OmniMessage<t.RequestBeginPayload> {
  return event({ type: "request_begin" });
}

/** Its end; `completed` commits the turn. */
export function requestEnd(status: t.StopReason, detail: RetryDetail = {}): OmniMessage<t.RequestEndPayload> {
  return event({ type: "request_end", status, ...detail });
}

/** Whether a call was approved. */
export function approvalDecision(tool_call_id: string, decision: t.ApprovalDecisionPayload["decision"]): OmniMessage<t.ApprovalDecisionPayload> {
  return event({ type: "approval_decision", decision, tool_call_id });
}

/** What a request used, and what the session had used before it. */
export function tokenUsage(before: t.TokenCounts, request: t.TokenCounts): OmniMessage<t.TokenUsagePayload> {
  return event({ type: "token_usage", session: addTokenCounts(before, request), request });
}

/** The start of a compaction, with the tokens in the context and the turns so far. */
export function compactionBegin(reason: t.CompactionReason, mode: t.CompactionMode, context: number, turns: number): OmniMessage<t.CompactionBeginPayload> {
  return event({ type: "compaction_begin", reason, mode, context, turns });
}

/** The end of the compaction that began with the same reason and mode. */
export function compactionEnd(begun: Pick<t.CompactionBeginPayload, "reason" | "mode">, status: t.StopReason, detail: RetryDetail = {}): OmniMessage<t.CompactionEndPayload> {
  return event({ type: "compaction_end", reason: begun.reason, mode: begun.mode, status, ...detail });
}

/** Somebody has stopped the run. */
export function abort(reason?: string): OmniMessage<t.AbortPayload> {
  return event(reason === undefined ? { type: "abort" } : { type: "abort", reason });
}

/** Points at the session of a sub-agent. */
export function subagent(session_id: string): OmniMessage<t.SubagentPayload> {
  return event({ type: "subagent", session_id });
}

/** Which tools there are (later versions). */
export function toolListReady(...tools: unknown[]): OmniMessage<t.ToolListReadyPayload> {
  return event({ type: "tool_list_ready", tools });
}

/** Connections to tool servers are made (later versions). */
export function mcpConnectBegin(...servers: unknown[]): OmniMessage<t.McpConnectBeginPayload> {
  return event({ type: "mcp_connect_begin", servers });
}

/** What became of them. */
export function mcpConnectEnd(status: t.McpConnectEndPayload["status"], ...results: t.McpResult[]): OmniMessage<t.McpConnectEndPayload> {
  return event({ type: "mcp_connect_end", status, results });
}

/** The message as the parent of a sub-agent's session passes it on: with that session in front of its origin. The message itself stays. */
export function withOrigin<P extends OmniPayload>(from: OmniMessage<P>, session: string): OmniMessage<P> {
  if (session === "") {
    throw new TypeError("a session without a name passes nothing on");
  }
  return { ...from, origin: [session, ...(from.origin ?? [])] };
}

/** What a session without a request has used. */
export function emptyTokenCounts(): t.TokenCounts {
  return { cache_read: 0, cache_write: 0, output: 0, total: 0 };
}

/** The counts of both. No count leaves what a number has exactly. */
export function addTokenCounts(a: t.TokenCounts, b: t.TokenCounts): t.TokenCounts {
  const plus = (key: keyof t.TokenCounts) => Math.min((a[key] ?? 0) + (b[key] ?? 0), Number.MAX_SAFE_INTEGER);
  return { cache_read: plus("cache_read"), cache_write: plus("cache_write"), output: plus("output"), total: plus("total") };
}

function because(stop_reason: t.StopReason | undefined): { stop_reason?: t.StopReason } {
  return stop_reason === undefined ? {} : { stop_reason };
}

function some(images: string[] | undefined): { images?: string[] } {
  return images?.length ? { images } : {};
}
