import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import { type ConnectionError, keyOf, LoggedOutError, MemoryPosition, NotOpenedError, type Position, PositionError, SleptError, type StreamEvent } from "../src/index.js";
import { FakeHub, problem } from "./hub.js";

function hubOf(t: TestContext, tells = true): FakeHub {
  const hub = new FakeHub(tells);
  t.after(() => hub.clock.stop());
  return hub;
}

/** Pulls events one by one. */
class Follower {
  readonly #events: AsyncGenerator<StreamEvent, void, void>;

  constructor(t: TestContext, hub: FakeHub, at: Position, signal?: AbortSignal) {
    const over = new AbortController();
    t.after(() => over.abort());
    this.#events = hub.client().stream(at, { signal: signal ?? over.signal });
  }

  async event(): Promise<StreamEvent> {
    const { value } = await this.#events.next();
    assert.ok(value, "the stream ended");
    return value;
  }

  async up(): Promise<StreamEvent> {
    const event = await this.event();
    assert.equal(event.link, "up");
    return event;
  }

  async down(): Promise<Error> {
    const event = await this.event();
    assert.equal(event.link, "down");
    return event.error!;
  }

  async frame(key: string): Promise<void> {
    const event = await this.event();
    assert.equal(event.frame && keyOf(event.frame), key);
  }
}

test("a cursor is kept once its frame is taken, and a new connection goes on behind what was handed on", async (t) => {
  const hub = hubOf(t);
  const at = new MemoryPosition("c0");
  const f = new Follower(t, hub, at);
  const first = hub.socket().then((end) => {
    end.hello("replayed", "c0");
    end.message("msg_1", "c1 &=");
    return end;
  });
  await f.up();
  await f.frame("message.new msg_1");
  assert.equal(at.cursor, "c0");
  (await first).cut();
  await f.down();
  assert.equal(at.cursor, "c1 &=");
  const again = hub.socket();
  f.event().catch(() => {}); // which the end of the test cuts short
  assert.equal((await again).cursor, "c1 &=");
});

test("a frame that comes with the answer to the upgrade is not lost", async (t) => {
  const hub = hubOf(t);
  hub.accept = (end) => queueMicrotask(() => end.hello("fresh", "c0"));
  const f = new Follower(t, hub, new MemoryPosition());
  assert.equal((await f.up()).frame?.cursor, "c0");
});

test("the token goes as a subprotocol where no header can be set, never in the URL", async (t) => {
  const hub = hubOf(t);
  new Follower(t, hub, new MemoryPosition()).event().catch(() => {});
  const end = await hub.socket();
  assert.deepEqual(end.protocols, ["switchyard.bearer.v1", "access-0"]);
});

test("a cursor that cannot be kept ends the stream", async (t) => {
  const hub = hubOf(t);
  const full: Position = {
    loadCursor: () => "",
    saveCursor: () => {
      throw new Error("disk full");
    },
  };
  const f = new Follower(t, hub, full);
  void hub.socket().then((end) => end.hello("fresh", "c0"));
  await f.up();
  await assert.rejects(f.event(), (error) => error instanceof PositionError && /disk full/.test(error.message));
});

test("a frame that is too large ends the connection", async (t) => {
  const hub = hubOf(t);
  const f = new Follower(t, hub, new MemoryPosition());
  void hub.socket().then((end) => {
    end.hello("fresh");
    end.text(`{"type":"message.new","seq_id":2,"payload":"${"x".repeat(4 << 20)}"}`);
  });
  await f.up();
  assert.match((await f.down()).message, /unreadable/);
});

test("a caller who is too slow gets the rest from the cursor", async (t) => {
  const hub = hubOf(t);
  const f = new Follower(t, hub, new MemoryPosition());
  void hub.socket().then((end) => {
    end.hello("fresh", "c0");
    for (let i = 1; i <= 10_050; i++) {
      end.message(`msg_${i}`, `c${i}`);
    }
  });
  await f.up();
  for (let i = 1; i < 10_000; i++) {
    await f.frame(`message.new msg_${i}`);
  }
  assert.match((await f.down()).message, /more frames wait/);
  f.event().catch(() => {}); // which the end of the test cuts short
  assert.equal((await hub.socket()).cursor, "c9999");
});

test("retries slow down to their limit", async (t) => {
  const hub = hubOf(t);
  hub.accept = () => ({ status: 502 });
  const f = new Follower(t, hub, new MemoryPosition());
  await f.down();
  for (let want = 100, tries = 0; tries < 10; want = Math.min(want * 2, 10_000), tries++) {
    const start = hub.clock.now();
    await f.down();
    const waited = hub.clock.now() - start;
    assert.ok(waited >= want * 0.75 && waited <= want * 1.25 + 1, `try ${tries}: ${waited} ms, want about ${want}`);
  }
});

test("a hub that answers and opens no socket is left alone for longer and longer", async (t) => {
  const hub = hubOf(t, false);
  hub.accept = () => problem(503, "busy", { retry_after: 7 });
  const f = new Follower(t, hub, new MemoryPosition());
  assert.ok((await f.down()) instanceof NotOpenedError);
  for (const want of [5_000, 10_000, 10_000]) {
    const start = hub.clock.now();
    assert.match((await f.down()).message, /the hub answers/);
    const waited = hub.clock.now() - start;
    assert.ok(waited >= Math.max(5_000, want * 0.75) && waited <= want * 1.25 + 1, `${waited} ms, want about ${want}`);
  }
});

test("a hub that is silent for too long is given up, sooner or later as its heartbeat says", async (t) => {
  for (const [more, want] of [
    [{}, 45_000],
    [{ heartbeat_secs: 60 }, 125_000],
  ] as const) {
    const hub = hubOf(t);
    const f = new Follower(t, hub, new MemoryPosition());
    void hub.socket().then((end) => end.hello("fresh", "", more));
    await f.up();
    const start = hub.clock.now();
    assert.match((await f.down()).message, /silent/);
    assert.equal(hub.clock.now() - start, want);
  }
});

test("a closed lid is noticed within seconds", async (t) => {
  const hub = hubOf(t);
  const f = new Follower(t, hub, new MemoryPosition());
  void hub.socket().then((end) => end.hello("fresh", "c0"));
  await f.up();
  hub.clock.sleep(20_000);
  const woken = hub.clock.now();
  assert.ok((await f.down()) instanceof SleptError);
  void hub.socket().then((end) => end.hello("replayed", "c0"));
  await f.up();
  assert.ok(hub.clock.now() - woken <= 2_000);
});

test("the reason of a close is told", async (t) => {
  const hub = hubOf(t);
  const f = new Follower(t, hub, new MemoryPosition());
  void hub.socket().then((end) => {
    end.hello("fresh");
    end.close(4409, "slow, resume");
  });
  await f.up();
  const error = (await f.down()) as ConnectionError;
  assert.deepEqual([error.code, error.reason], [4409, "slow, resume"]);
});

test("the signal ends a stream that waits for a frame, for a try, or for the hub", async (t) => {
  const enough = new Error("enough");
  const waiting: Array<(hub: FakeHub) => void> = [
    (hub) => void hub.socket().then((end) => end.hello("fresh")),
    (hub) => (hub.accept = () => ({ status: 429, retry_after: 86_400, body: { code: "rate_limited", detail: "Wait." } })),
    () => {},
  ];
  for (const prepare of waiting) {
    const hub = hubOf(t);
    const leave = new AbortController();
    prepare(hub);
    const f = new Follower(t, hub, new MemoryPosition(), leave.signal);
    if (prepare !== waiting[2]) {
      await f.event();
    }
    const next = f.event();
    leave.abort(enough);
    await assert.rejects(next, enough);
  }
});

test("a login that is over ends the stream", async (t) => {
  const hub = hubOf(t, false);
  hub.accept = () => ({ status: 401, body: { code: "unauthenticated", detail: "No." } });
  const f = new Follower(t, hub, new MemoryPosition());
  hub.refresh = "spent";
  await assert.rejects(f.event(), LoggedOutError);
});
