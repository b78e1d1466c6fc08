import assert from "node:assert/strict";
import { test } from "node:test";

import { CallCancelledError, type CardCall, type CardResult, type CardTool } from "../src/index.js";
import { CardFollower, CardHub } from "./cardHub.js";
import type { FarEnd } from "./hub.js";

/** The card of a call of a client's tool. */
function callOf(hub: CardHub, id: string, name = "pick"): string {
  return hub.tool(id, "card.add", { name, target: "client", input: { a: 1 }, phase: "executing" });
}

const closed = (hub: CardHub, id: string) => hub.tool(id, "card.close", { status: "ok" });

/** A tool and what it was called with. */
function toolOf(run: (call: CardCall) => Promise<CardResult> | CardResult): { calls: CardCall[]; tools: CardTool[] } {
  const calls: CardCall[] = [];
  const counted = (call: CardCall) => {
    calls.push(call);
    return run(call);
  };
  return { calls, tools: [{ name: "pick", timeout_ms: 7, run: counted }] };
}

async function result(hub: CardHub): Promise<Record<string, unknown>> {
  const { event_id, ...said } = await hub.heard();
  assert.match(event_id ?? "", /^evt_/);
  return said;
}

test("calls are carried out once the trace is known", async (t) => {
  const hub = new CardHub();
  const { calls, tools } = toolOf(({ id }) => {
    if (id === "bad") {
      throw new Error("no such page");
    }
    if (id === "off") {
      throw new CallCancelledError("not now");
    }
    return id === "odd" ? { output: 1n } : { output: "seen", metadata: { render_hint: "url" } };
  });
  const f = new CardFollower(t, hub, { session: "sess_1", tools });
  const played = (async () => {
    const end = await hub.socket();
    await hub.expect({ type: "session.create", session_id: "sess_1", capabilities: { client_tools: true }, tools: [{ name: "pick", timeout_ms: 7 }] });
    hub.tell(end, "opened", { capabilities: {} });
    await hub.expectResume(0);
    hub.resumed(end, 1, 4);
    end.text(callOf(hub, "past"));
    end.text(callOf(hub, "open"));
    end.text(closed(hub, "past"));
    end.text(callOf(hub, "other", "elsewhere"));
    assert.deepEqual(await result(hub), { type: "tool.result", tool_use_id: "open", status: "ok", output: "seen", metadata: { render_hint: "url" } });
    for (const [id, status] of [["live", "ok"], ["bad", "failed"], ["off", "cancelled"], ["odd", "failed"]] as const) {
      end.text(callOf(hub, id));
      const said = await result(hub);
      assert.deepEqual([said["tool_use_id"], said["status"]], [id, status]);
    }
    end.text(hub.tool("large", "card.add", { name: "pick", target: "client", metadata: { input_blob: { sha256: "aa", size: 1 << 20 } } }));
    assert.equal((await result(hub))["status"], "failed");
  })();
  await f.events("opened", "resumed", "card.add", "card.add", "card.close", "card.add", "card.add", "card.add", "card.add", "card.add", "card.add");
  await played;
  assert.deepEqual(calls.map(({ id, name, input }) => [id, name, input])[0], ["open", "pick", { a: 1 }]);
  assert.equal(calls.length, 5);
});

test("a result is sent again until it counts, and a call is stopped when nobody waits for it", async (t) => {
  const hub = new CardHub();
  let settle: (result: CardResult) => void = () => {};
  const { calls, tools } = toolOf(() => new Promise((resolve) => (settle = resolve)));
  const f = new CardFollower(t, hub, { session: "sess_1", tools });
  const up = async (last: number, to: number): Promise<FarEnd> => {
    const end = await hub.welcome(last);
    hub.resumed(end, last + 1, to);
    return end;
  };
  const played = (async () => {
    let end = await up(0, 0);
    end.text(callOf(hub, "c1"));
    while (calls.length === 0) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    end.cut();
    settle({ output: 7 }); // while the link is down
    for (const _ of [1, 2]) {
      end = await up(1, 1);
      assert.deepEqual(await result(hub), { type: "tool.result", tool_use_id: "c1", status: "ok", output: 7 });
      end.cut();
    }
    end = await up(1, 2);
    end.text(closed(hub, "c1"));
    end.text(callOf(hub, "c2"));
    while (calls.length === 1) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    end.text(closed(hub, "c2"));
  })();
  await f.events("opened", "resumed", "card.add");
  for (const _ of [1, 2]) {
    await f.down();
    await f.events("opened", "resumed");
  }
  await f.down();
  await f.events("opened", "resumed", "card.close", "card.add", "card.close");
  await played;
  assert.equal(calls[1]?.signal.aborted, true);
  settle({ output: 8 });
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(hub.said.filter((text) => text.includes("tool.result")).length, 2);
});

test("an empty list of tools withdraws them", async (t) => {
  const hub = new CardHub();
  const f = new CardFollower(t, hub, { session: "sess_1", tools: [] });
  const played = (async () => {
    const end = await hub.socket();
    await hub.expect({ type: "session.create", session_id: "sess_1", capabilities: { client_tools: false }, tools: [] });
    hub.tell(end, "opened", { capabilities: {} });
  })();
  await f.events("opened");
  await played;
});
