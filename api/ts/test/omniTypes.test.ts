import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import type * as sdk from "../src/index.js";

/** true for types that are the same, which the compiler finds out; a field that is missing, too many or of another type makes this file fail to build. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** The keys of an interface as the list has them: with a question mark where they may be absent. */
type Listed<T> = { [K in keyof T as {} extends Pick<T, K> ? `${string & K}?` : K]-?: Exclude<T[K], undefined> };

type Reason = "completed" | "failed" | "aborted" | "timeout" | "malformed" | "auth";
type Phase = "start" | "delta" | "stop";
type Opaque = Record<string, unknown>;
type Ending = { "stop_reason?": Reason };
type Kept = { "fidelity?": Opaque } & Ending;
type Retry = { "error_message?": string; "attempt?": number; "retry_in_ms?": number };
type Flat<T> = { [K in keyof T]: T[K] };

/** The interfaces of S1, field by field. */
interface Seed {
  OmniMessage: { timestamp: string; type: "session_meta" | "model_msg" | "event_msg"; payload: sdk.OmniPayload; "origin?": string[] };
  SessionMetaPayload: {
    session_id: string; provider: string; model_id: string; model_context_window: number | string; system_prompt: string;
    tools: sdk.ToolDefinition[]; agent_state: string; workspace: string; "source?": "subagent" | "schedule";
  };
  ToolDefinition: { name: string; description: string; "parameters?": Opaque };
  TextPayload: Flat<{ type: "text"; role: "user" | "assistant"; text: string } & Kept>;
  ThinkingPayload: Flat<{ type: "thinking"; role: "assistant"; thinking: string } & Kept>;
  InlineThinkingPayload: Flat<{ type: "inline_thinking"; role: "assistant"; data: string; mime_type: string } & Kept>;
  ToolCallPayload: Flat<{ type: "tool_call"; role: "assistant"; name: string; arguments: string; tool_call_id: string } & Kept>;
  ToolCallOutputPayload: Flat<{ type: "tool_call_output"; role: "user"; output: string; "images?": string[]; tool_call_id: string } & Ending>;
  ImageUrlPayload: Flat<{ type: "image_url"; role: "user"; image_url: string } & Ending>;
  InlineDataPayload: Flat<{ type: "inline_data"; role: "user" | "assistant"; data: string; mime_type: string } & Kept>;
  PartialTextPayload: Flat<{ type: "partial_text"; role: "assistant"; event_type: Phase; text: string } & Ending>;
  PartialThinkingPayload: Flat<{ type: "partial_thinking"; role: "assistant"; event_type: Phase; thinking: string } & Ending>;
  PartialToolCallPayload: Flat<{ type: "partial_tool_call"; role: "assistant"; event_type: Phase; name: string; arguments: string; tool_call_id: string } & Ending>;
  PartialToolCallOutputPayload: Flat<
    { type: "partial_tool_call_output"; role: "user"; event_type: Phase; output: string; "images?": string[]; tool_call_id: string } & Ending
  >;
  RequestBeginPayload: { type: "request_begin" };
  RequestEndPayload: Flat<{ type: "request_end"; status: Reason } & Retry>;
  ApprovalDecisionPayload: { type: "approval_decision"; decision: "allow" | "deny" | "forbidden"; tool_call_id: string }; // forbidden: later versions
  TokenUsagePayload: { type: "token_usage"; session: sdk.TokenCounts; request: sdk.TokenCounts };
  TokenCounts: { cache_read: number; cache_write: number; output: number; total: number };
  CompactionBeginPayload: {
    type: "compaction_begin"; reason: "context" | "turns" | "manual"; mode: "summarize" | "discard"; context: number; turns: number;
  };
  CompactionEndPayload: Flat<{ type: "compaction_end"; reason: "context" | "turns" | "manual"; mode: "summarize" | "discard"; status: Reason } & Retry>;
  AbortPayload: { type: "abort"; "reason?": string | null };
  SubagentPayload: { type: "subagent"; session_id: string };
}

/** What the SDK exports under the same names. */
interface Ours extends Record<keyof Seed, unknown> {
  OmniMessage: sdk.OmniMessage;
  SessionMetaPayload: sdk.SessionMetaPayload;
  ToolDefinition: sdk.ToolDefinition;
  TextPayload: sdk.TextPayload;
  ThinkingPayload: sdk.ThinkingPayload;
  InlineThinkingPayload: sdk.InlineThinkingPayload;
  ToolCallPayload: sdk.ToolCallPayload;
  ToolCallOutputPayload: sdk.ToolCallOutputPayload;
  ImageUrlPayload: sdk.ImageUrlPayload;
  InlineDataPayload: sdk.InlineDataPayload;
  PartialTextPayload: sdk.PartialTextPayload;
  PartialThinkingPayload: sdk.PartialThinkingPayload;
  PartialToolCallPayload: sdk.PartialToolCallPayload;
  PartialToolCallOutputPayload: sdk.PartialToolCallOutputPayload;
  RequestBeginPayload: sdk.RequestBeginPayload;
  RequestEndPayload: sdk.RequestEndPayload;
  ApprovalDecisionPayload: sdk.ApprovalDecisionPayload;
  TokenUsagePayload: sdk.TokenUsagePayload;
  TokenCounts: sdk.TokenCounts;
  CompactionBeginPayload: sdk.CompactionBeginPayload;
  CompactionEndPayload: sdk.CompactionEndPayload;
  AbortPayload: sdk.AbortPayload;
  SubagentPayload: sdk.SubagentPayload;
}

type Agree = { [Name in keyof Seed]: Same<Listed<Ours[Name]>, Seed[Name]> };

/** The fields of each interface, and by it that they are the seed's: a `true` here is one that the compiler has found. */
type Checked<Name extends keyof Seed> = Agree[Name] extends true ? Record<keyof Seed[Name], true> : never;

const fields: { [Name in keyof Seed]: Checked<Name> } = {
  OmniMessage: { timestamp: true, type: true, payload: true, "origin?": true },
  SessionMetaPayload: {
    session_id: true, provider: true, model_id: true, model_context_window: true, system_prompt: true, tools: true, agent_state: true, workspace: true,
    "source?": true,
  },
  ToolDefinition: { name: true, description: true, "parameters?": true },
  TextPayload: { type: true, role: true, text: true, "fidelity?": true, "stop_reason?": true },
  ThinkingPayload: { type: true, role: true, thinking: true, "fidelity?": true, "stop_reason?": true },
  InlineThinkingPayload: { type: true, role: true, data: true, mime_type: true, "fidelity?": true, "stop_reason?": true },
  ToolCallPayload: { type: true, role: true, name: true, arguments: true, tool_call_id: true, "fidelity?": true, "stop_reason?": true },
  ToolCallOutputPayload: { type: true, role: true, output: true, "images?": true, tool_call_id: true, "stop_reason?": true },
  ImageUrlPayload: { type: true, role: true, image_url: true, "stop_reason?": true },
  InlineDataPayload: { type: true, role: true, data: true, mime_type: true, "fidelity?": true, "stop_reason?": true },
  PartialTextPayload: { type: true, role: true, event_type: true, text: true, "stop_reason?": true },
  PartialThinkingPayload: { type: true, role: true, event_type: true, thinking: true, "stop_reason?": true },
  PartialToolCallPayload: { type: true, role: true, event_type: true, name: true, arguments: true, tool_call_id: true, "stop_reason?": true },
  PartialToolCallOutputPayload: { type: true, role: true, event_type: true, output: true, "images?": true, tool_call_id: true, "stop_reason?": true },
  RequestBeginPayload: { type: true },
  RequestEndPayload: { type: true, status: true, "error_message?": true, "attempt?": true, "retry_in_ms?": true },
  ApprovalDecisionPayload: { type: true, decision: true, tool_call_id: true },
  TokenUsagePayload: { type: true, session: true, request: true },
  TokenCounts: { cache_read: true, cache_write: true, output: true, total: true },
  CompactionBeginPayload: { type: true, reason: true, mode: true, context: true, turns: true },
  CompactionEndPayload: { type: true, reason: true, mode: true, status: true, "error_message?": true, "attempt?": true, "retry_in_ms?": true },
  AbortPayload: { type: true, "reason?": true },
  SubagentPayload: { type: true, session_id: true },
};

test("the interfaces are those of S1, field by field, in the list that the Go package is held to as well", () => {
  const listed = JSON.parse(readFileSync(new URL("../../../../shared/omni/testdata/interfaces.json", import.meta.url), "utf8")) as Record<string, string[]>;
  const ours = Object.fromEntries(Object.entries(fields).map(([name, keys]) => [name, Object.keys(keys)]));
  assert.deepEqual(ours, listed);
});
