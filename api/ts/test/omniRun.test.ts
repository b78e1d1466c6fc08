import assert from "node:assert/strict";
import { test } from "node:test";

import * as sdk from "../src/index.js";
import type { OmniApproval, RunOptions } from "../src/index.js";
import { OmniHub } from "./omniHub.js";

/** What a run yields, and how its loop ends. */
async function ran(hub: OmniHub, options: RunOptions = {}): Promise<{ lines: string[]; error?: Error }> {
  const lines: string[] = [];
  try {
    for await (const message of hub.session.run("List the files.", options)) {
      lines.push(sdk.lineOf(message));
    }
    return { lines };
  } catch (error) {
    return { lines, error: error as Error };
  }
}

/** Has a run say so many things in fragments, with pauses. */
async function speak(hub: OmniHub, run: string, times: number, pause = 1000): Promise<void> {
  for (let i = 0; i < times; i++) {
    hub.say(sdk.partialText("start", ""), sdk.partialText("delta", `word ${i} 字`));
    await hub.sleep(pause);
    hub.say(sdk.partialText("stop", ""), sdk.assistantText(`word ${i} 字`), sdk.requestEnd("completed"));
    await hub.sleep(pause);
  }
  hub.end(run);
}

/** Has a run ask for a call, and say what was answered when it is. */
async function ask(hub: OmniHub, id: string, decided: Promise<"allow" | "deny">): Promise<void> {
  hub.say(sdk.toolCall(id, "bash", "{}"));
  hub.change(() => hub.asks.set(`req_${id}`, { requestId: `req_${id}`, toolCall: { name: "bash", arguments: "{}", tool_call_id: id } }));
  const decision = await decided;
  hub.change(() => hub.asks.delete(`req_${id}`));
  hub.say(sdk.approvalDecision(id, decision));
  hub.say(sdk.toolCallOutput(id, "done"));
}

test("a run tells what is said from its task to its end", async (t) => {
  const hub = new OmniHub(t);
  hub.say(sdk.userText("before"));
  hub.accepted = (run) => void speak(hub, run, 3);
  assert.deepEqual(await ran(hub), { lines: hub.told(1) });
  assert.ok(hub.sent.includes('POST /tasks {"input":[{"type":"text","text":"List the files."}]}'));
});

test("a run that is over at once ends", async (t) => {
  const hub = new OmniHub(t);
  hub.accepted = (run) => {
    hub.say(sdk.userText("x"));
    hub.end(run);
  };
  assert.deepEqual(await ran(hub), { lines: hub.told(0) });
});

test("a run that has not begun is waited for, and one that is cancelled before ends", async (t) => {
  for (const begins of [true, false]) {
    const hub = new OmniHub(t);
    hub.lazy = true;
    const accepted = async (run: string) => {
      hub.say(sdk.userText("List the files."));
      await hub.sleep(600_000);
      if (begins) {
        hub.change(() => hub.runs.push(run));
        await speak(hub, run, 2);
      } else {
        hub.say(sdk.abort("user"));
        hub.end(run);
      }
    };
    hub.accepted = (run) => void accepted(run);
    assert.deepEqual(await ran(hub), { lines: hub.told(0) });
    assert.ok(hub.sent.filter((one) => one === "GET ").length < 30);
  }
});

test("a run that did not complete ends with an error", async (t) => {
  for (const [state, error, message] of [
    ["failed", { code: "agent_error", message: "The agent ended with 3." }, "run_1 failed: The agent ended with 3. (agent_error)"],
    ["interrupted", { code: "edge_lost", message: "Gone." }, "run_1 interrupted: Gone. (edge_lost)"],
    ["cancelled", undefined, "run_1 cancelled"],
  ] as const) {
    const hub = new OmniHub(t);
    hub.ends.set("run_1", { state, error });
    hub.accepted = (run) => void speak(hub, run, 2);
    const { lines, error: failed } = await ran(hub);
    assert.deepEqual(lines, hub.told(0));
    assert.ok(failed instanceof sdk.TaskError, String(failed));
    assert.deepEqual([failed.run, failed.state, failed.code, failed.detail], ["run_1", state, error?.code ?? "", error?.message ?? ""]);
    assert.equal(failed.message, message);
  }
});

test("a run that never began ends with an error, and a loop that was left asks nothing", async (t) => {
  const hub = new OmniHub(t);
  hub.ends.set("run_1", { state: "cancelled" });
  hub.lazy = true;
  hub.accepted = (run) => void hub.sleep(60_000).then(() => {
    hub.say(sdk.abort("user"));
    hub.end(run);
  });
  const { lines, error } = await ran(hub);
  assert.deepEqual(lines, hub.told(0));
  assert.ok(error instanceof sdk.TaskError && error.state === "cancelled", String(error));

  const left = new OmniHub(t);
  left.accepted = (run) => void speak(left, run, 1);
  for await (const _ of left.session.run("x")) {
    break;
  }
  assert.ok(!left.sent.some((one) => one.startsWith("GET /web")));
});

test("a run is followed into the one that continues it", async (t) => {
  for (const { pause, budget, state } of [
    { pause: 60_000, budget: undefined, state: "completed" },
    { pause: 1, budget: undefined, state: "completed" },
    { pause: 1000, budget: 600, state: "completed" },
    { pause: 1000, budget: undefined, state: "failed" },
  ] as const) {
    const hub = new OmniHub(t);
    hub.budget = () => budget;
    hub.ends.set("run_1", { state: "failed", continued_by_run_id: "run_x" }).set("run_x", { state });
    const accepted = async (run: string) => {
      await hub.sleep(1000);
      hub.say(sdk.assistantText("May I?"));
      hub.change(() => hub.active.push("run_x"));
      hub.end(run);
      await hub.sleep(pause);
      hub.change(() => hub.runs.push("run_x"));
      await speak(hub, "run_x", 3, pause);
    };
    hub.accepted = (run) => void accepted(run);
    const { lines, error } = await ran(hub);
    assert.deepEqual(lines, hub.told(0));
    assert.equal(error instanceof sdk.TaskError && error.run, state === "failed" && "run_x", String(error));
  }
});

test("each message is told once over a thousand cuts", async (t) => {
  const hub = new OmniHub(t);
  let seed = 1;
  hub.budget = () => (seed = (seed * 48271) % 0x7fffffff) % 700; // an event has up to about 450 bytes, so each gets through at last
  hub.accepted = (run) => void speak(hub, run, 300);
  const cursors: string[] = [];
  const { lines, error } = await ran(hub, { update: ({ message, cursor }) => message && cursor && cursors.push(cursor) });
  assert.equal(error, undefined);
  assert.deepEqual(lines, hub.told(0));
  assert.ok(hub.streams.length > 1000, `only ${hub.streams.length} connections`);
  assert.deepEqual([cursors.length, cursors.at(-1)], [600, hub.cursor(600)]);
});

test("a run is gone on with by its key", async (t) => {
  const hub = new OmniHub(t);
  hub.accepted = (run) => void speak(hub, run, 5);
  const lines: string[] = [];
  let from = "";
  const update = ({ cursor }: sdk.OmniUpdate) => void (from = cursor ?? from);
  for await (const message of hub.session.run([{ type: "text", text: "x" }], { key: "k-1", update })) {
    lines.push(sdk.lineOf(message));
    if (from === hub.cursor(4)) {
      break;
    }
  }
  assert.ok(!hub.sent.includes("POST /abort"), "to leave the loop has stopped the run");
  const more = await ran(hub, { key: "k-1", from });
  assert.deepEqual([...lines, ...more.lines], hub.told(0));
  assert.equal(hub.tasks.size, 1);
});

test("a task is given once to a hub that is busy", async (t) => {
  const hub = new OmniHub(t);
  let times = 0;
  hub.refuse.set("POST /tasks", () => (++times < 3 ? { status: 503, body: { code: "unavailable", detail: "No." } } : undefined));
  hub.accepted = (run) => void speak(hub, run, 1);
  assert.deepEqual(await ran(hub), { lines: hub.told(0) });
  assert.deepEqual([hub.tasks.size, times], [1, 3]);
});

test("refusals end a run", async (t) => {
  for (const [key, status, code] of [["POST /tasks", 409, "task_in_progress"], ["GET /stream", 404, "not_found"]] as const) {
    const hub = new OmniHub(t);
    hub.refuse.set(key, () => ({ status, body: { code, detail: "No." } }));
    const { lines, error } = await ran(hub);
    assert.ok(error instanceof sdk.ProblemError && error.code === code, String(error));
    assert.deepEqual(lines, []);
  }
});

test("the signal ends a run's loop with its reason, and an ended one begins nothing", async (t) => {
  const hub = new OmniHub(t);
  const over = new AbortController();
  hub.accepted = () => hub.say(sdk.userText("x"));
  hub.base.clock.after(3_600_000, () => over.abort(new Error("enough")));
  const { lines, error } = await ran(hub, { signal: over.signal });
  assert.deepEqual([lines.length, error?.message], [1, "enough"]);
  const before = hub.sent.length;
  assert.equal((await ran(hub, { signal: over.signal })).error?.message, "enough");
  assert.equal(hub.sent.length, before);
});

test("a silent connection is given up, one with pings is not", async (t) => {
  for (const pings of [true, false]) {
    const hub = new OmniHub(t);
    hub.pings = pings;
    hub.accepted = (run) => void hub.sleep(600_000).then(() => speak(hub, run, 1, 1));
    let down = 0;
    const { lines, error } = await ran(hub, {
      update: ({ error }) => {
        if (error) {
          assert.match(error.message, /silent/);
          down++;
        }
      },
    });
    assert.equal(error, undefined);
    assert.deepEqual(lines, hub.told(0));
    assert.equal(down === 0, pings, `${down} connections were given up`);
  }
});

test("a run goes on behind what is not kept, and ends where the hub was restored", async (t) => {
  const hub = new OmniHub(t);
  for (let i = 0; i < 7; i++) {
    hub.say(sdk.userText(String(i)), sdk.partialText("start", ""));
  }
  hub.floor = 3;
  hub.accepted = (run) => void hub.sleep(60_000).then(() => speak(hub, run, 2));
  const { lines, error } = await ran(hub, { from: hub.cursor(1) });
  assert.equal(error, undefined);
  assert.deepEqual(lines, [...hub.told(3).slice(0, 8).filter((line) => !line.includes("partial_")), ...hub.told(7)]);
  const restored = await ran(hub, { from: "ffffffff-7" });
  assert.ok(restored.error instanceof sdk.ResyncError && restored.error.reason === "epoch");
});

test("a program answers what is asked for", async (t) => {
  const cases: Array<[string, RunOptions["approve"]]> = [
    ['{"decision":"allow"}', () => "allow"],
    ['{"decision":"deny"}', () => Promise.resolve("deny" as const)],
    ['{"decision":"deny","reason":"no terminal"}', () => Promise.reject(new Error("no terminal"))],
  ];
  for (const [want, approve] of cases) {
    const hub = new OmniHub(t);
    hub.budget = () => 500;
    const decided = new Promise<"allow">((resolve) => hub.refuse.set("POST /approvals/req_call_1", () => void resolve("allow")));
    hub.accepted = (run) => void ask(hub, "call_1", decided).then(() => hub.end(run));
    const asked: OmniApproval[] = [];
    const { lines, error } = await ran(hub, {
      approve: (one, signal) => {
        asked.push(one);
        return approve?.(one, signal) ?? "deny";
      },
    });
    assert.equal(error, undefined);
    assert.deepEqual(lines, hub.told(0));
    assert.deepEqual(asked, [{ requestId: "req_call_1", toolCall: { name: "bash", arguments: "{}", tool_call_id: "call_1" } }]);
    assert.deepEqual(hub.sent.filter((one) => one.includes("/approvals/")), [`POST /approvals/req_call_1 ${want}`]);
  }
});

test("an approval is over when somebody else answers, and one that cannot be answered ends the loop", async (t) => {
  const hub = new OmniHub(t);
  hub.accepted = (run) => void ask(hub, "call_1", hub.sleep(60_000).then(() => "deny")).then(() => hub.end(run));
  let over = 0;
  const waits = { approve: (_: OmniApproval, signal: AbortSignal) => new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(new Error(`over ${++over}`)))) };
  assert.equal((await ran(hub, waits)).error, undefined);
  assert.equal(over, 1);
  assert.ok(!hub.sent.some((one) => one.includes("/approvals/")));

  for (const status of [403, 404, 409]) {
    const other = new OmniHub(t);
    other.refuse.set("POST /approvals/req_call_1", () => ({ status, body: { code: "no", detail: "No." } }));
    other.accepted = (run) => void ask(other, "call_1", other.sleep(60_000).then(() => "deny")).then(() => other.end(run));
    const { error } = await ran(other, { approve: () => "allow" });
    assert.equal(error?.message.startsWith("answer the approval of bash"), status === 403 ? true : undefined, String(error));
  }
});

test("what is done to a conversation is asked of the hub", async (t) => {
  const hub = new OmniHub(t);
  const { session } = hub;
  const says = (key: string, status: number, body?: object) => hub.refuse.set(key, () => ({ status, body }));
  says("POST /steer", 202, { steerId: "steer_1" });
  assert.equal(await session.steer("slower"), "steer_1");
  await session.withdraw("steer_1");
  await session.approve("call#2", "deny", "no");
  says("POST /abort", 202, {});
  assert.equal(await session.abort("enough"), true);
  says("POST /abort", 204);
  assert.equal(await session.abort(), false);
  says("POST /retry-now", 200, { skipped: true });
  assert.equal(await session.retryNow(), true);
  says("POST /compact", 202, { runId: "run_1" });
  assert.equal(await session.compact(), "run_1");
  says("POST /compact", 409, { code: "unsupported_by_runtime", detail: "No." });
  await assert.rejects(session.compact(), (error: sdk.ProblemError) => error.code === "unsupported_by_runtime");
  assert.deepEqual(hub.sent.slice(0, 3), ['POST /steer {"text":"slower"}', "DELETE /steer/steer_1", 'POST /approvals/call#2 {"decision":"deny","reason":"no"}']);
});

test("history is read to its end, to the byte", async (t) => {
  const hub = new OmniHub(t);
  for (let i = 0; i < 9; i++) {
    hub.say(sdk.readMessage(`{"timestamp":"2030-01-01T00:00:00.000Z","type":"model_msg","payload":{"type":"thinking","role":"assistant","thinking":"${i}","fidelity":{"z":1.0, "a":1e400}}}`));
  }
  const lines: string[] = [];
  let cursor = "";
  for await (const page of hub.session.messages()) {
    lines.push(...page.messages.map(({ message }) => sdk.lineOf(message)));
    ({ cursor } = page);
  }
  assert.deepEqual(lines, hub.told(0));
  assert.equal(cursor, hub.cursor(9));
  hub.refuse.set("GET /messages", () => ({
    body: { messages: [], cursor: "c", more: false, floor: "f", live: { cursor: "c", fragments: [sdk.partialText("start", "")] } },
  }));
  const { live, ...page } = await hub.session.page();
  assert.deepEqual([page, live?.cursor, live?.fragments[0]?.type], [{ messages: [], cursor: "c", more: false, floor: "f" }, "c", "model_msg"]);
});

test("a stream survives what is none, and tells what is beside the messages", async (t) => {
  const hub = new OmniHub(t);
  hub.say(sdk.userText("x"));
  const answers = [{ status: 200, body: {} }, { status: 502, body: {} }, { status: 429, body: { code: "rate_limited", detail: "No." }, retry_after: 7 }, undefined];
  hub.refuse.set("GET /stream", () => answers.shift());
  const seen: string[] = [];
  for await (const { link, cursor, message, state } of hub.session.stream({ after: "0" })) {
    seen.push(`${link ?? (message ? "message" : "state")} ${cursor ?? ""}`);
    if (state) {
      break;
    }
  }
  assert.deepEqual(seen, ["down ", "down ", "down ", "up 0badcafe-0", "message 0badcafe-1", "state "]);
});
