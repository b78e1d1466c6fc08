import assert from "node:assert/strict";
import { test } from "node:test";

import { type Frame, type FrameType, Reducer } from "../src/index.js";

function frame(type: FrameType, payload: object): Pick<Frame, "type" | "raw"> {
  return { type, raw: JSON.stringify(payload) };
}

/** Ten messages with a reaction each, and ten runs that end, each with a question; that of the last stays open. */
function* history(): Generator<Pick<Frame, "type" | "raw">> {
  for (let n = 1; n <= 10; n++) {
    yield frame("message.new", { id: `msg_${n}`, session_id: "sess_1", seq_id: n });
    yield frame("message.reaction_added", { message_id: `msg_${n}`, session_id: "sess_1", user_id: "u", reaction: "+1" });
    yield frame("agent.dispatch", { task_id: `run_${n}`, prompt: "go" });
    yield frame("notification.new", { id: `req_${n}`, type: "prompt", read: n !== 1, payload: { task_id: `run_${n}` } });
    yield frame("agent.done", { task_id: `run_${n}` });
  }
}

test("a reducer that keeps little tells what one that keeps all tells, also in another tab", () => {
  const limits = { messages: 3, runs: 2 };
  let bounded = new Reducer(limits);
  const whole = new Reducer({ messages: Infinity, runs: Infinity });
  for (const next of history()) {
    assert.equal(bounded.apply(next), whole.apply(next));
    bounded = Reducer.load(structuredClone(bounded.save()), limits);
  }
  assert.equal(bounded.digest, whole.digest);
  assert.deepEqual([...bounded.records().keys()].sort(), [
    "agent.done run_10",
    "agent.done run_9",
    "dispatch run_10",
    "dispatch run_9",
    "message msg_10",
    "message msg_8",
    "message msg_9",
    "notification req_1", // it is open
    "notification req_10",
    "notification req_9",
    "reaction msg_10/u/+1",
    "reaction msg_8/u/+1",
    "reaction msg_9/u/+1",
  ]);
  assert.equal(bounded.outcome("run_1"), "agent.done");
  for (const known of history()) {
    const about = JSON.parse(known.raw) as { seq_id?: number; task_id?: string };
    if (known.type === "message.new" || known.type === "agent.done" || known.type === "agent.dispatch") {
      assert.equal(bounded.apply(known), "repeated", `${known.type} ${about.seq_id ?? about.task_id}`);
    }
  }
});

test("the state of a tab with an older SDK, which forgets nothing, is taken", () => {
  const { memory: _, ...state } = new Reducer().save();
  const loaded = Reducer.load(state, { messages: 1 });
  for (const next of history()) {
    loaded.apply(next);
  }
  assert.deepEqual(loaded.recordsOf("message").map((message) => (message as { id: string }).id), ["msg_10"]);
});
