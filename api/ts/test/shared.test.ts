import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import { type Beginning, KickedError, keyOf, LoggedOutError, MemoryKeeper, MemoryPosition, SharedFeed } from "../src/index.js";
import { FakeHub, type FarEnd } from "./hub.js";
import { Profile } from "./profile.js";

/** One tab: it tells what it was told, and counts what it keeps. */
class Tab {
  readonly told: string[] = [];
  readonly errors: string[] = [];
  readonly kept: string[] = [];
  readonly feed: SharedFeed;
  readonly over: Promise<unknown>;
  readonly #leave = new AbortController();
  ready = 0;
  /** Lets the tab's loop wait before it comes back. */
  slowly: () => Promise<void> = async () => {};
  /** Lets the tab wait while it keeps a cursor. */
  keep: () => Promise<void> = async () => {};
  keeping = false;
  /** Lets the tab wait for an answer over REST. */
  ask: () => Promise<void> = async () => {};
  asking = false;
  #out = false; // the loop has an update

  constructor(
    readonly scene: Scene,
    readonly name: string,
  ) {
    const { signal } = this.#leave;
    const gone = new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    gone.catch(() => {}); // nobody may be asking
    const fetch: typeof globalThis.fetch = async (...request) => {
      this.asking = true;
      await Promise.race([this.ask(), gone]);
      return scene.hub.fetch(...request);
    };
    const client = scene.hub.client(3_600_000, { keeper: scene.keeper, fetch });
    const position = {
      loadCursor: () => scene.position.loadCursor(),
      saveCursor: async (cursor: string) => {
        this.keeping = true;
        await this.keep();
        this.kept.push(cursor);
        scene.position.saveCursor(cursor);
        this.keeping = false;
      },
    };
    const feed = new SharedFeed({
      name: "device",
      feed: (at, signal) => client.feed(at, { signal, begin: scene.begin }),
      position,
      around: scene.profile.tab(this),
      clock: scene.hub.clock,
      typing: (session) => client.typing(session),
    });
    this.feed = feed;
    this.over = this.#run().catch((error: unknown) => error);
    scene.t.after(() => this.#leave.abort(new Error("the test is over")));
  }

  async #run(): Promise<void> {
    for await (const update of this.feed.follow(this.#leave.signal)) {
      this.ready += Number(update.ready);
      if (update.error && !update.link) {
        this.errors.push(update.error.message);
      }
      if (update.isNew && update.frame) {
        this.told.push(keyOf(update.frame).replace("message.new ", ""));
      }
      this.#out = true;
      await this.slowly();
      this.#out = false;
    }
  }

  close(): void {
    this.#leave.abort(new Error("closed"));
  }

  async until(what: () => boolean): Promise<void> {
    for (let turn = 0; !what(); turn++) {
      assert.ok(turn < 20_000, `${this.name}: waited in vain; told ${this.told}, kept ${this.kept}`);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** Nothing more will happen in this tab by itself. */
  settled(): boolean {
    return this.#out || this.keeping || this.kept.includes("c1");
  }

  knows(...ids: string[]): boolean {
    return ids.every((id) => this.feed.state.message(id) !== undefined);
  }
}

const never = () => new Promise<void>(() => {});

class Scene {
  readonly hub = new FakeHub();
  readonly profile = new Profile();
  readonly keeper: MemoryKeeper;
  readonly position = new MemoryPosition("c0");
  begin: Beginning = "missed";
  connections = 0;

  constructor(readonly t: TestContext) {
    this.keeper = this.hub.keeper(3_600_000);
    const { accept } = this.hub;
    this.hub.accept = (end, token) => {
      this.connections++;
      return accept(end, token);
    };
    t.after(() => this.hub.clock.stop());
  }

  /** What REST tells: one conversation, with one message. */
  message(id: string, createdAt = "2026-01-01T00:00:00Z"): void {
    const message = { id, message_id: id, session_id: "sess_1", seq_id: 1, content: { text: id }, created_at: createdAt };
    this.hub.rest.set("GET /client/sessions", [{ body: { items: [{ id: "sess_1", last_seq: 2, updated_at: createdAt }] } }]);
    this.hub.rest.set("GET /client/sessions/sess_1/messages", [{ body: { items: [message], last_seq: 2 } }]);
  }

  /** Two tabs, the first of which leads. */
  async two(): Promise<[Tab, Tab, FarEnd]> {
    const first = new Tab(this, "first");
    const end = await this.hub.socket();
    end.hello("replayed", "c0");
    const second = new Tab(this, "second");
    await second.until(() => second.ready > 0);
    return [first, second, end];
  }
}

test("two tabs have one connection, and only the leader keeps the cursor, after it has applied", async (t) => {
  const scene = new Scene(t);
  const [first, second, end] = await scene.two();
  let leaveLoop = () => {};
  first.slowly = () => new Promise<void>((resolve) => (leaveLoop = resolve));
  end.message("msg_1", "c1");
  await second.until(() => second.told.length === 1);
  await first.until(() => first.told.length === 1);
  assert.deepEqual(first.kept, ["c0"], "while the leader's loop has the frame");
  leaveLoop();
  await first.until(() => first.kept.length === 2);
  assert.deepEqual([first.kept, second.kept], [["c0", "c1"], []]);
  assert.deepEqual([first.feed.leading, second.feed.leading, scene.connections], [true, false, 1]);
  assert.equal(second.feed.state.digest, first.feed.state.digest);
});

test("a tab that comes later gets the state as a whole", async (t) => {
  const scene = new Scene(t);
  const [first, , end] = await scene.two();
  end.message("msg_1", "c1");
  await first.until(() => first.kept.includes("c1"));
  const third = new Tab(scene, "third");
  await third.until(() => third.ready > 0);
  assert.ok(third.knows("msg_1"));
  end.message("msg_2", "c2");
  await third.until(() => third.told.includes("msg_2"));
  assert.equal(third.feed.state.digest, first.feed.state.digest);
});

test("when the leader closes, another tab goes on from the kept cursor and misses nothing", async (t) => {
  const scene = new Scene(t);
  const [first, second, end] = await scene.two();
  const third = new Tab(scene, "third");
  await third.until(() => third.ready > 0);
  end.message("msg_1", "c1");
  await first.until(() => first.kept.includes("c1"));
  first.close();
  const next = await scene.hub.socket();
  assert.equal(next.cursor, "c1");
  next.hello("replayed", "c1");
  next.message("msg_2", "c2");
  await third.until(() => third.told.includes("msg_2"));
  assert.deepEqual(second.told, ["msg_1", "msg_2"]);
  assert.deepEqual(third.told, ["msg_1", "msg_2"]);
  assert.deepEqual([second.kept, third.kept, scene.position.cursor], [["c1", "c2"], [], "c2"]);
  assert.equal(scene.connections, 2);
});

test("a leader that dies before it has kept the cursor is followed by one that knows more", async (t) => {
  const scene = new Scene(t);
  const [first, second, end] = await scene.two();
  first.slowly = () => new Promise(() => {}); // it never comes back
  end.message("msg_1", "c1");
  await second.until(() => second.told.length === 1);
  scene.profile.kill(first);
  const next = await scene.hub.socket();
  assert.deepEqual([next.cursor, scene.position.cursor], ["c1", "c0"]);
});

test("a leader may die at any moment: the next one gets what is lacking, and each fact is told once", async (t) => {
  const moments: Record<string, (scene: Scene, leader: Tab) => void> = {
    "before it has told the others": (scene, leader) => {
      scene.profile.lose = ({ kind }) => kind === "update";
      leader.slowly = never;
    },
    "before its application has come back": (_, leader) => (leader.slowly = never),
    "while it keeps the cursor": (_, leader) => (leader.keep = never),
    "after it has kept the cursor": () => {},
    "after it has kept the cursor, and nobody else was told": (scene) => (scene.profile.lose = ({ kind }) => kind === "update"),
  };
  for (const [moment, prepare] of Object.entries(moments)) {
    await t.test(moment, async (t) => {
      const scene = new Scene(t);
      const [first, second, end] = await scene.two();
      prepare(scene, first);
      end.message("msg_1", "c1");
      await first.until(() => first.told.length === 1);
      await first.until(() => first.settled());
      scene.profile.kill(first);
      const next = await scene.hub.socket();
      next.hello("replayed", next.cursor);
      if (next.cursor === "c0") {
        next.message("msg_1", "c1");
      }
      next.message("msg_2", "c2");
      await second.until(() => second.told.length === 2);
      assert.deepEqual(second.told, ["msg_1", "msg_2"]);
      await second.until(() => scene.position.cursor === "c2");
    });
  }
});

test("a leader may die in the middle of its snapshot: the next one takes it, and nobody is ready before", async (t) => {
  const beginnings: Record<string, (scene: Scene) => Promise<Tab>> = {
    "the first of the profile": async (scene) => {
      scene.begin = "whole";
      const first = new Tab(scene, "first");
      first.ask = never;
      return first;
    },
    "one with a hole": async (scene) => {
      const [first, second, end] = await scene.two();
      let updates = 0;
      scene.profile.lose = ({ kind }) => kind === "state" || (kind === "update" && updates++ === 0);
      end.message("msg_1", "c1");
      end.message("msg_2", "c2");
      await first.until(() => first.kept.includes("c2"));
      second.ask = never;
      scene.profile.kill(first);
      return second;
    },
  };
  for (const [which, begin] of Object.entries(beginnings)) {
    await t.test(which, async (t) => {
      const scene = new Scene(t);
      scene.message("msg_1");
      const leader = await begin(scene);
      const end = await scene.hub.socket();
      end.hello("replayed", end.cursor);
      await leader.until(() => leader.asking);
      let answered = false;
      scene.profile.lose = ({ kind }) => {
        answered ||= kind === "state";
        return false;
      };
      const last = new Tab(scene, "last");
      await last.until(() => answered);
      scene.profile.kill(leader);
      const next = await scene.hub.socket();
      assert.deepEqual([next.cursor, last.ready], [scene.position.cursor, 0]);
      next.hello("replayed", next.cursor);
      await last.until(() => last.ready > 0);
      assert.ok(last.knows("msg_1"));
    });
  }
});

test("a tab that missed what the dead leader has kept goes on from what it knows", async (t) => {
  const scene = new Scene(t);
  const [first, second, end] = await scene.two();
  scene.profile.lose = (message) => message.kind === "update";
  end.message("msg_1", "c1");
  await first.until(() => first.kept.includes("c1"));
  scene.profile.kill(first);
  const next = await scene.hub.socket();
  assert.equal(next.cursor, "c0");
  next.hello("replayed", "c0");
  next.message("msg_1", "c1");
  await second.until(() => second.told.includes("msg_1"));
});

test("a tab that notices a hole asks for the whole", async (t) => {
  const scene = new Scene(t);
  const [first, second, end] = await scene.two();
  let lost = 0;
  scene.profile.lose = (message) => message.kind === "update" && lost++ === 0;
  end.message("msg_1", "c1");
  end.message("msg_2", "c2");
  end.message("msg_3", "c3");
  await second.until(() => second.knows("msg_1", "msg_2", "msg_3"));
  assert.equal(second.feed.state.digest, first.feed.state.digest);
});

test("a tab with a hole that has to lead takes a snapshot", async (t) => {
  const scene = new Scene(t);
  const [first, second, end] = await scene.two();
  scene.message("msg_1");
  let updates = 0;
  scene.profile.lose = ({ kind }) => kind === "state" || (kind === "update" && updates++ === 0);
  end.message("msg_1", "c1");
  end.message("msg_2", "c2");
  await first.until(() => first.kept.includes("c2"));
  scene.profile.kill(first);
  const next = await scene.hub.socket();
  assert.equal(next.cursor, "c2", "its own place is gone");
  next.hello("replayed", "c2");
  await second.until(() => second.knows("msg_1"));
});

test("a run whose beginning only the leader has fetched comes to the others as a whole", async (t) => {
  const scene = new Scene(t);
  const [first, second, end] = await scene.two();
  const event = (n: number) => ({ id: `evt_${n}`, run_id: "run_1", event_seq: n, wire_type: "run.agent.text_delta", payload: { delta: n }, trace_id: "4b" });
  scene.hub.rest.set("GET /web/agent-tasks/run_1/events", [{ body: { items: [event(1), event(2)], last_event_seq: 3 } }]);
  end.hello("replayed", "c0");
  end.send("agent.stream", { task_id: "run_1", session_id: "sess_1", agent_instance_id: "a", event_seq: 3, event_type: "run.started", payload: "{}" }, "c1");
  await second.until(() => second.feed.state.watermark("run_1") === 3);
  assert.equal(second.feed.state.runDigest("run_1"), first.feed.state.runDigest("run_1"));
});

test("a tab that goes on tells no message that is older than the feed that asked for none", async (t) => {
  const scene = new Scene(t);
  scene.begin = "live";
  const [first, second] = await scene.two();
  const lost = new Date(scene.hub.clock.now());
  scene.profile.kill(first);
  scene.message("msg_old", "2026-01-01T00:00:00Z");
  const next = await scene.hub.socket();
  next.hello("reset", "c9");
  await second.until(() => scene.position.cursor === "c9");
  assert.deepEqual(second.told, []);
  next.cut();
  scene.message("msg_new", new Date(lost.getTime() + 3_600_000).toISOString());
  (await scene.hub.socket()).hello("reset", "c10");
  await second.until(() => second.told.includes("msg_new"));
});

test("a kicked device ends in all tabs, and none of them connects again", async (t) => {
  const scene = new Scene(t);
  const [first, second, end] = await scene.two();
  end.send("device.kicked", { reason: "logged_in_elsewhere" });
  assert.ok((await first.over) instanceof KickedError);
  assert.ok((await second.over) instanceof KickedError);
  await assert.rejects(scene.keeper.load(), LoggedOutError);
  const late = new Tab(scene, "late");
  assert.ok((await late.over) instanceof LoggedOutError);
  assert.equal(scene.connections, 1);
});

test("any tab tells of typing over the one connection, and knows who types", async (t) => {
  const scene = new Scene(t);
  const [first, second, end] = await scene.two();
  second.feed.typing("sess_1");
  second.feed.typing("sess_1");
  await first.until(() => scene.hub.said.length > 0);
  first.feed.typing("sess_2");
  assert.deepEqual(scene.hub.said.map((said) => JSON.parse(said).payload.session_id), ["sess_1", "sess_2"]);
  end.send("typing", { user_id: "ben", session_id: "sess_1" });
  await second.until(() => second.feed.typists("sess_1").length > 0);
  assert.deepEqual([first.feed.typists("sess_1"), second.feed.typists("sess_1")], [["ben"], ["ben"]]);
});

test("a tab that gets no answer says why it waits, and asks until it has one", async (t) => {
  const scene = new Scene(t);
  const first = new Tab(scene, "first");
  const end = await scene.hub.socket();
  end.hello("replayed", "c0");
  let joins = 0;
  scene.profile.lose = ({ kind }, to) => kind === "join" && to === first && ++joins < 3; // as if the browser had frozen it
  const began = scene.hub.clock.now();
  const second = new Tab(scene, "second");
  await second.until(() => second.ready > 0);
  assert.deepEqual(second.errors.map((error) => /does not answer.*frozen/.test(error)), [true, true]);
  assert.ok(scene.hub.clock.now() - began < 30_000);
});

test("a page without Web Locks says so", async (t) => {
  const scene = new Scene(t);
  await assert.rejects(scene.hub.client().shared(), /https/);
});
