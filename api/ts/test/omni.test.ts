import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

import * as sdk from "../src/index.js";
import type { OmniMessage } from "../src/index.js";

const testdata = new URL("../../../../shared/omni/testdata/", import.meta.url);

interface Judged {
  name: string;
  stream: OmniMessage[];
  breaches?: Array<Omit<sdk.OmniBreach, "what">>;
  whole?: OmniMessage[];
  unreadable?: number[];
}

const judged = readFileSync(new URL("streams.jsonl", testdata), "utf8").trim().split("\n").map((line) => JSON.parse(line) as Judged);

test("streams are judged as the Go SDK judges them", () => {
  assert.ok(judged.length > 70);
  for (const { name, stream, breaches = [] } of judged) {
    const got = sdk.checkStream(stream).map(({ number, type, origin, rule, what }) => {
      assert.notEqual(what, "");
      return origin === "" ? { number, type, rule } : { number, type, origin, rule };
    });
    assert.deepEqual(got, breaches, name);
  }
});

test("fragments add up to what the Go SDK makes of them", () => {
  for (const { name, stream, whole = [], unreadable = [] } of judged) {
    const aggregator = new sdk.PartialAggregator();
    const done: OmniMessage[] = [];
    const refused: number[] = [];
    stream.forEach((message, i) => {
      try {
        done.push(...aggregator.add(message));
      } catch (error) {
        assert.ok(error instanceof TypeError, String(error));
        refused.push(i + 1);
      }
    });
    const open = aggregator.open();
    const flushed = aggregator.flush();
    assert.deepEqual(open, flushed, name);
    assert.equal(JSON.stringify([...done, ...flushed]), JSON.stringify(whole), name); // the order of the keys too
    assert.deepEqual(refused, unreadable, name);
    assert.deepEqual(aggregator.flush(), []);
  }
});

test("an aggregator is bounded", () => {
  const aggregator = new sdk.PartialAggregator();
  const piece = sdk.partialText("delta", "x".repeat(6 * 1024 * 1024));
  aggregator.add(piece);
  aggregator.add(piece);
  assert.throws(() => aggregator.add(piece), RangeError);
  const [whole] = aggregator.add(sdk.partialText("stop", ""));
  assert.equal((whole?.payload as sdk.TextPayload).text.length, 12 * 1024 * 1024);
});

/** Each payload as it is made here, by the name of its golden file; what a file lacks here is made by another constructor of the same type. */
const oddFidelity = { phase: "final" };
const image = "data:image/png;base64,iVBORw0=";
const begun = sdk.compactionBegin("context", "summarize", 256_000, 12);
const made: Record<string, OmniMessage> = {
  "session_meta.named": sdk.sessionMeta({
    session_id: "session-2", provider: "", model_id: "", model_context_window: "<1M>", system_prompt: "", tools: [], agent_state: "", workspace: "",
  }),
  "text.user": sdk.userText("列出当前目录的文件"),
  "text.assistant": sdk.assistantText('列出 <&> \u2028 "x"\n\x7f', { fidelity: oddFidelity, stop_reason: "timeout" }),
  "thinking.encrypted": sdk.thinking("", { fidelity: { id: "rs_0d3", encrypted_content: "gAAAA" } }),
  inline_thinking: sdk.inlineThinking("application/octet-stream", "AAEC", { fidelity: {}, stop_reason: "failed" }),
  tool_call: sdk.toolCall("call_1", "bash", '{"command":"ls","n":1.0}', { fidelity: { index: 0 }, stop_reason: "malformed" }),
  tool_call_output: sdk.toolCallOutput("call_1", "a\nb", { images: [image, image], stop_reason: "auth" }),
  image_url: sdk.imageUrl("https://example.com/a.png?x=<1>&y=2", { stop_reason: "completed" }),
  "image_url.data": sdk.imageUrl(image),
  inline_data: sdk.inlineData("assistant", "audio/wav", "UklGRg==", { fidelity: { id: "au_1" }, stop_reason: "aborted" }),
  "partial_text.start": sdk.partialText("start", ""),
  "partial_text.delta": sdk.partialText("delta", "piece"),
  "partial_text.stop": sdk.partialText("stop", "", "aborted"),
  partial_thinking: sdk.partialThinking("delta", "hm"),
  partial_tool_call: sdk.partialToolCall("delta", "call_1", "bash", '{"comm'),
  partial_tool_call_output: sdk.partialToolCallOutput("delta", "call_1", "a\n", { images: [image] }),
  request_begin: sdk.requestBegin(),
  request_end: sdk.requestEnd("completed"),
  "request_end.retry": sdk.requestEnd("timeout", { error_message: "quota", attempt: 1, retry_in_ms: 2000 }),
  "request_end.retry_now": sdk.requestEnd("failed", { error_message: "reset", attempt: 2, retry_in_ms: 0 }),
  approval_decision: sdk.approvalDecision("call_1", "deny"),
  token_usage: sdk.tokenUsage({ cache_read: 10, cache_write: 20, output: 30, total: 70 }, { cache_read: 1, cache_write: 2, output: 3, total: 7 }),
  compaction_begin: begun,
  compaction_end: sdk.compactionEnd(begun.payload, "failed", { error_message: "overloaded", attempt: 5 }),
  abort: sdk.abort(),
  "abort.reason": sdk.abort("user"),
  subagent: sdk.subagent("session-2026-07-18-09-30-00-a1b2c3d4"),
  tool_list_ready: sdk.toolListReady({ name: "bash", description: "runs" }, "read"),
  mcp_connect_begin: sdk.mcpConnectBegin("files", { name: "web" }),
  mcp_connect_end: sdk.mcpConnectEnd(
    "completed",
    { server: "files", transport: "stdio", status: "completed", duration_ms: 120, tools: ["read"] },
    { server: "web", transport: "http", status: "failed", duration_ms: 30_000, error: "refused" },
  ),
};

/** Golden files whose numbers and escapes no object of JavaScript has: they are read, and given back to the byte. */
const readAlone = ["session_meta", "thinking"];

test("the constructors write what those of Go write, and every line comes back to the byte", () => {
  const files = readdirSync(new URL("messages/", testdata));
  assert.deepEqual(files.map((file) => file.replace(/\.json$/, "")).sort(), [...Object.keys(made), ...readAlone].sort());
  for (const file of files) {
    const line = readFileSync(new URL(`messages/${file}`, testdata), "utf8");
    const message = sdk.readMessage(line);
    assert.equal(`${sdk.lineOf(message)}\n`, line);
    assert.deepEqual(sdk.problemsOf(message), [], file);
    assert.ok(sdk.isKnown(message));
    const ours = made[file.replace(/\.json$/, "")];
    if (ours) {
      assert.match(ours.timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      assert.equal(JSON.stringify({ ...ours, timestamp: message.timestamp }), JSON.stringify(message), file);
      assert.equal(sdk.lineOf(ours), JSON.stringify(ours));
    }
  }
});

test("predicates follow the groups, and types that are not known", () => {
  for (const { type, message: envelope, group } of sdk.OMNI_SHAPES) {
    const message = { timestamp: "", type: envelope, payload: { type } } as unknown as OmniMessage;
    const partial = group === "partial";
    assert.deepEqual(
      [sdk.isSessionMeta(message), sdk.isCompleteModelMessage(message), sdk.isPartialPayload(message.payload), sdk.isEventMessage(message), sdk.isModelMessage(message)],
      [group === "meta", group === "complete", partial, group === "event" || group === "later event", partial || group === "complete"],
      type,
    );
    assert.equal(sdk.isInTrace(message), !partial);
    const passed = sdk.withOrigin(sdk.withOrigin(message, "inner"), "outer");
    assert.deepEqual([passed.origin, message.origin, sdk.isOfSubagent(passed), sdk.isInTrace(passed)], [["outer", "inner"], undefined, true, false]);
  }
  for (const [line, ...want] of [
    ['{"type":"model_msg","payload":{"type":"audio"}}', true, false, true],
    ['{"type":"model_msg","payload":{"type":"partial_audio"}}', false, false, false],
    ['{"type":"event_msg","payload":{"type":"partial_progress"}}', false, true, true],
    ['{"type":"note","payload":{"type":"text"}}', false, false, true],
  ] as const) {
    const message = sdk.readMessage(line);
    assert.deepEqual([sdk.isCompleteModelMessage(message), sdk.isEventMessage(message), sdk.isInTrace(message)], want, line);
    assert.equal(sdk.isKnown(message), false);
  }
  assert.throws(() => sdk.withOrigin(sdk.userText("x"), ""), TypeError);
});

test("what is no message is not read", () => {
  for (const line of ["", "null", "[]", "{}", '{"type":"x"}', '{"type":1,"payload":{}}', '{"type":"x","payload":[]}', "{", '"x"']) {
    assert.throws(() => sdk.readMessage(line), SyntaxError, line);
  }
});

test("problems are named by their place", () => {
  const wrong = sdk.readMessage('{"timestamp":"now","type":"session_meta","payload":{"session_id":"","model_context_window":-1,"tools":[{"name":"x"}],"source":"me"},"origin":["a",""]}');
  assert.deepEqual(sdk.problemsOf(wrong).map(({ path }) => path), [
    "timestamp", "origin[1]", "payload.session_id", "payload.provider", "payload.model_id", "payload.model_context_window", "payload.system_prompt",
    "payload.tools[0].description", "payload.agent_state", "payload.workspace", "payload.source",
  ]);
  const many = sdk.toolCallOutput("1", "", { images: Array.from({ length: 50 }, () => "x") });
  assert.equal(sdk.problemsOf(many).length, 20);
});

test("token counts add, and stay exact", () => {
  const one = { cache_read: 1, cache_write: 2, output: 3, total: Number.MAX_SAFE_INTEGER };
  assert.deepEqual(sdk.addTokenCounts(one, one), { cache_read: 2, cache_write: 4, output: 6, total: Number.MAX_SAFE_INTEGER });
  assert.deepEqual(sdk.addTokenCounts(one, sdk.emptyTokenCounts()), one);
});
