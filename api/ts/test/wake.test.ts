import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import { MemoryPosition, SleptError, type StreamEvent } from "../src/index.js";
import { FakeHub, type FarEnd, problem } from "./hub.js";

/** A page of a browser, as far as a stream looks at it. */
class Page {
  readonly document = Object.assign(new EventTarget(), { visibilityState: "visible" });
  readonly window = new EventTarget();

  constructor(t: TestContext) {
    const global = globalThis as Record<string, unknown>;
    global["document"] = this.document;
    global["addEventListener"] = this.window.addEventListener.bind(this.window);
    global["removeEventListener"] = this.window.removeEventListener.bind(this.window);
    t.after(() => {
      delete global["document"];
      delete global["addEventListener"];
      delete global["removeEventListener"];
    });
  }

  show(visibilityState: "visible" | "hidden"): void {
    this.document.visibilityState = visibilityState;
    this.document.dispatchEvent(new Event("visibilitychange"));
  }

  online(): void {
    this.window.dispatchEvent(new Event("online"));
  }
}

interface Scene {
  hub: FakeHub;
  page: Page;
  next: () => Promise<StreamEvent>;
}

/** A stream in a page. */
function sceneOf(t: TestContext): Scene {
  const page = new Page(t);
  const hub = new FakeHub(false);
  const over = new AbortController();
  const events = hub.client().stream(new MemoryPosition(), { signal: over.signal });
  t.after(() => {
    over.abort();
    hub.clock.stop();
  });
  return { hub, page, next: async () => (await events.next()).value as StreamEvent };
}

async function connected(t: TestContext): Promise<Scene & { end: FarEnd }> {
  const scene = sceneOf(t);
  const opened = scene.hub.socket().then((end) => {
    end.hello("fresh", "c0");
    return end;
  });
  assert.equal((await scene.next()).link, "up");
  return { ...scene, end: await opened };
}

test("a page that gets its network back connects anew at once", async (t) => {
  const { hub, page, next } = await connected(t);
  const down = next();
  page.online();
  assert.ok((await down).error instanceof SleptError);
  const start = hub.clock.now();
  void hub.socket().then((end) => end.hello("replayed", "c0"));
  assert.equal((await next()).link, "up");
  assert.equal(hub.clock.now(), start);
});

test("a page that is seen again tries at once, but not sooner than the hub asks", async (t) => {
  const { hub, page, next } = sceneOf(t);
  hub.accept = () => ({ status: 502 });
  hub.rest.set("GET /client/auth/me", [{ status: 502 }]);
  for (let tries = 0; tries < 9; tries++) {
    await next(); // the wait is ten seconds by now
  }
  let start = hub.clock.now();
  const soon = next();
  await new Promise((resolve) => setImmediate(resolve));
  page.show("visible");
  await soon;
  assert.ok(hub.clock.now() - start < 7_000, "the wait was cut short");
  hub.rest.set("GET /client/auth/me", [problem(429, "rate_limited", { retry_after: 60 })]);
  await next();
  start = hub.clock.now();
  const later = next();
  await new Promise((resolve) => setImmediate(resolve));
  page.show("visible");
  await later;
  assert.ok(hub.clock.now() - start >= 60_000, "the hub was left alone");
});

test("a hidden page whose timers are late is not asleep", async (t) => {
  const { hub, page, next } = await connected(t);
  page.show("hidden");
  const event = next();
  hub.clock.sleep(40_000); // a browser lets the timers of such a page run once a minute
  assert.match(String((await event).error), /silent/);
});

test("a page that is seen again after a long silence does not wait for its late timers", async (t) => {
  const { hub, page, next, end } = await connected(t);
  let closed = false;
  void end.closed.then(() => (closed = true));
  page.show("hidden");
  const event = next();
  await new Promise((resolve) => setImmediate(resolve));
  hub.clock.sleep(50_000);
  page.show("visible");
  await new Promise((resolve) => setImmediate(resolve)); // before any timer runs
  assert.ok(closed);
  assert.ok((await event).error instanceof SleptError);
});

test("a page that is shown again was not asleep because its timers were late", async (t) => {
  const { hub, page, next, end } = await connected(t);
  page.show("hidden");
  const event = next();
  hub.clock.sleep(40_000);
  page.show("visible");
  end.message("msg_1");
  assert.equal((await event).frame?.type, "message.new");
  const after = next();
  end.message("msg_2");
  for (let turn = 0; turn < 40; turn++) {
    await new Promise((resolve) => setImmediate(resolve)); // until the late timers have run
  }
  end.message("msg_3");
  assert.equal((await after).frame?.type, "message.new");
  assert.equal((await next()).frame?.type, "message.new");
});
