import assert from "node:assert/strict";
import { test } from "node:test";

import { type Feed, keyOf, MemoryPosition, type Update } from "../src/index.js";
import { FakeHub } from "./hub.js";

/** Follows until the caller has enough, and returns the keys of the new facts. */
async function follow(feed: Feed, enough: (update: Update, told: string[]) => boolean): Promise<string[]> {
  const told: string[] = [];
  for await (const update of feed.follow()) {
    if (update.isNew && update.frame) {
      told.push(keyOf(update.frame));
    }
    if (enough(update, told)) {
      break;
    }
  }
  return told;
}

test("who leaves in the middle of a snapshot is owed it", async (t) => {
  const hub = new FakeHub();
  t.after(() => hub.clock.stop());
  const message = (seq: number) => ({ id: `msg_${seq}`, session_id: "sess_1", seq_id: seq, created_at: "2026-01-01T00:00:00Z" });
  hub.rest.set("GET /client/sessions", [{ body: { items: [{ id: "sess_1", last_seq: 2, updated_at: "2026-01-01T00:00:00Z" }] } }]);
  hub.rest.set("GET /client/sessions/sess_1/messages", [{ body: { items: [message(1), message(2)] } }]);
  hub.rest.set("GET /client/sessions/sess_1/messages/sync", [{ body: { items: [message(2)] } }]);
  const at = new MemoryPosition();
  const feed = hub.client().feed(at, { begin: "missed" });
  void hub.socket().then((end) => end.hello("fresh", "c5"));
  const before = await follow(feed, (_, told) => told.includes("message.new msg_1"));
  void hub.socket().then((end) => end.hello("replayed", "c6")); // this hub remembers the device, but not what it was told by REST
  const after = await follow(feed, ({ ready }) => {
    assert.equal(at.cursor, "", "kept before the snapshot is whole");
    return ready;
  });
  assert.deepEqual([before.at(-1), after], ["message.new msg_1", ["message.new msg_2"]]);
});

test("who leaves while a hole in a log is filled is told the rest", async (t) => {
  const hub = new FakeHub();
  t.after(() => hub.clock.stop());
  const event = (seq: number) => ({ id: `evt_${seq}`, run_id: "run_1", event_seq: seq, wire_type: "run.agent.text_delta", payload: {}, trace_id: "4b" });
  hub.rest.set("GET /client/sessions", [{ body: { items: [] } }]);
  hub.rest.set("GET /web/agent-tasks/run_1/events", [{ body: { items: [1, 2, 3, 4].map(event) } }]);
  const asked: string[] = [];
  const play = async () => {
    const end = await hub.socket();
    asked.push(end.cursor);
    end.hello("replayed", "c0");
    end.send("agent.stream", { task_id: "run_1", session_id: "sess_1", agent_instance_id: "a", event_seq: 4, event_type: "run.agent.text_delta", payload: "{}" }, "c4");
  };
  const feed = hub.client().feed(new MemoryPosition("c0"));
  void play();
  const before = await follow(feed, (_, told) => told.length === 2);
  void play();
  const after = await follow(feed, (_, told) => told.length === 2);
  assert.deepEqual([before, after], [
    ["agent.stream run_1/1", "agent.stream run_1/2"],
    ["agent.stream run_1/3", "agent.stream run_1/4"],
  ]);
  assert.deepEqual(asked, ["c0", "c0"], "before the frame, both times");
});

test("a feed of what happens from now on tells nothing older, whatever the hub cannot replay", async (t) => {
  const hub = new FakeHub();
  t.after(() => hub.clock.stop());
  const began = hub.clock.now();
  const message = (name: string, at: number) => ({ id: `msg_${name}`, session_id: "sess_1", seq_id: 1, created_at: new Date(at).toISOString() });
  hub.rest.set("GET /client/sessions", [{ body: { items: [{ id: "sess_1", last_seq: 2, updated_at: "2031-01-01T00:00:00Z" }] } }]);
  hub.rest.set("GET /client/sessions/sess_1/messages", [{ body: { items: [message("old", began - 1), message("new", began + 1_000)] } }]);
  const feed = hub.client().feed(new MemoryPosition(), { begin: "live" });
  void hub.socket().then((end) => {
    end.hello("fresh", "c0");
    end.send("system.gap", { reason: "buffer" }, "c1");
  });
  let ready = 0;
  assert.deepEqual(await follow(feed, (update) => update.ready && ++ready === 2), ["message.new msg_new"]);
});
