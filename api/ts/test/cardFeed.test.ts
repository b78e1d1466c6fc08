import assert from "node:assert/strict";
import { test } from "node:test";

import { CardForest, ConnectionError, parseCardEvent } from "../src/index.js";
import { CardFollower, CardHub, type Said, TRACE } from "./cardHub.js";

const busy = { type: "overloaded", retryable: true } as const;

test("cards go on where they were", async (t) => {
  const hub = new CardHub();
  const f = new CardFollower(t, hub, { session: "sess_1", agent: "agent_1" });
  const played = (async () => {
    let end = await hub.socket();
    await hub.expect({ type: "session.create", session_id: "sess_1", agent_id: "agent_1" });
    hub.tell(end, "opened", { capabilities: {} });
    await hub.expect({ type: "session.resume", trace_id: TRACE, last_seq: 0 });
    hub.resumed(end, 1, 2);
    end.text(hub.add());
    const second = hub.append("a");
    end.text(second);
    end.cut();
    end = await hub.open();
    await hub.expect({ type: "session.resume", trace_id: TRACE, last_seq: 2, message_cursors: { msg_1: 2 } });
    const [third, fourth] = [hub.append("b"), hub.append("c")];
    end.text(hub.append("d")); // live, before the answer
    hub.resumed(end, 3, 5);
    hub.last = 4;
    [second, third, fourth, hub.append("d")].forEach((text) => end.text(text));
  })();
  assert.equal((await f.events("opened")).link, "up");
  await f.events("resumed", "card.add", "card.append");
  await f.down();
  await f.events("opened", "resumed", "card.append", "card.append", "card.append");
  assert.equal(f.text, "abcd");
  await played;
});

test("a forest that is kept is gone on with", async (t) => {
  const hub = new CardHub();
  const forest = new CardForest();
  for (const text of [hub.add(), hub.append("a")]) {
    forest.apply(parseCardEvent(text));
  }
  const f = new CardFollower(t, hub, { session: "sess_1", forest });
  const played = hub.welcome(2);
  await f.events("opened");
  await played;
});

test("a question that is sent again is shown once, also an old one", async (t) => {
  const hub = new CardHub();
  const f = new CardFollower(t, hub);
  const asked = hub.event("prompt.user", { request_id: "req_1", kind: "question", inner: { question: "q" } });
  const played = (async () => {
    for (const cut of [true, false]) {
      const end = await hub.open();
      end.text(asked);
      await hub.expectResume(cut ? 0 : 1);
      hub.resumed(end, 1, 1);
      end.text(asked);
      if (cut) {
        end.cut();
      } else {
        end.text(hub.add());
      }
    }
  })();
  const { event } = await f.events("opened", "prompt.user");
  assert.equal(event?.type === "prompt.user" && event.payload.request_id, "req_1");
  await f.events("resumed");
  await f.down();
  await f.events("opened", "resumed", "card.add");
  await played;
  const prompts = f.feed.forest.prompts();
  assert.deepEqual(prompts.map(({ requestId, visible, inner }) => [requestId, visible, inner]), [["req_1", true, { question: "q" }]]);
});

test("an answer that is refused hides its question", async (t) => {
  const hub = new CardHub();
  const f = new CardFollower(t, hub);
  const played = (async () => {
    const end = await hub.welcome(0);
    hub.resumed(end, 1, 1);
    end.text(hub.event("prompt.user", { request_id: "req_1", kind: "permission", inner: {} }));
    const { event_id, ...said } = await hub.heard();
    assert.deepEqual(said, { type: "prompt.user_response", request_id: "req_1", decision: "approved", payload: { scope: "once" } });
    hub.refuse(end, { type: "invalid_input" }, { event_id, request_id: "req_1", type: said.type });
  })();
  await f.events("opened", "resumed", "prompt.user");
  assert.ok(f.feed.forest.prompt("req_1")?.visible);
  const eventId = f.feed.send({ type: "prompt.user_response", request_id: "req_1", decision: "approved", payload: { scope: "once" } });
  const { failed } = await f.events("error");
  assert.deepEqual([failed?.eventId, failed?.again, failed?.error.user_message], [eventId, false, "u"]);
  assert.equal(f.feed.forest.prompt("req_1")?.visible, false);
  await played;
});

test("an old question may have expired", () => {
  const forest = new CardForest();
  const asked = Date.parse("2026-05-07T10:00:00.000Z");
  forest.apply(parseCardEvent(new CardHubAt(asked).event("prompt.user", { request_id: "req_1", kind: "question", inner: {} })));
  const week = 7 * 86_400_000;
  const prompt = forest.prompt("req_1");
  assert.deepEqual([prompt?.mayHaveExpired(asked + week - 1), prompt?.mayHaveExpired(asked + week)], [false, true]);
});

/** A hub whose time stands. */
class CardHubAt extends CardHub {
  constructor(at: number) {
    super();
    this.clock.stop();
    this.clock.sleep(at - this.clock.now());
  }
}

test("a gap is asked for once", async (t) => {
  const hub = new CardHub();
  const f = new CardFollower(t, hub);
  const played = (async () => {
    const end = await hub.welcome(0);
    hub.resumed(end, 1, 1);
    end.text(hub.add());
    const [lost, third] = [hub.append("a"), hub.append("b")];
    end.text(third);
    await hub.expectResume(1);
    end.text(hub.append("c")); // nothing is asked while the answer is awaited
    hub.resumed(end, 2, 3);
    end.text(lost);
    end.text(third);
    hub.append("never sent");
    const fifth = hub.append("e");
    end.text(fifth);
    await hub.expectResume(3);
    hub.resumed(end, 4, 6);
    end.text(fifth); // the hub does not have it
    await hub.welcome(3);
  })();
  await f.events("opened", "resumed", "card.add", "resumed", "card.append", "card.append");
  assert.equal(f.text, "ab");
  await f.events("resumed");
  assert.match((await f.down()).message, /event 4/);
  await f.events("opened");
  await played;
});

test("what has expired is forgotten", async (t) => {
  const hub = new CardHub();
  const f = new CardFollower(t, hub);
  const played = (async () => {
    const end = await hub.welcome(0);
    hub.tell(end, "resume_failed", { trace_id: TRACE, reason: "events_expired" });
    hub.last = 90;
    end.text(hub.add());
    end.text(hub.append("a"));
    end.cut();
    await hub.welcome(92);
  })();
  await f.events("opened", "resume_failed", "card.add", "card.append");
  assert.equal(f.text, "a");
  await f.down();
  await f.events("opened");
  await played;
});

test("a client pings every 30 seconds, and a pong is not told", async (t) => {
  const hub = new CardHub();
  const f = new CardFollower(t, hub);
  const waited: number[] = [];
  const played = (async () => {
    const end = await hub.welcome(0);
    for (let began = hub.clock.now(); waited.length < 3; began = hub.clock.now()) {
      assert.deepEqual(await hub.next(), { type: "ping" });
      waited.push(hub.clock.now() - began);
      end.text('{"type":"pong"}\n');
    }
    end.text(hub.add());
  })();
  await f.events("opened", "card.add");
  assert.deepEqual(waited, [30_000, 30_000, 30_000]);
  await played;
});

test("a hub that answers no ping is given up", async (t) => {
  const hub = new CardHub();
  const f = new CardFollower(t, hub);
  const played = hub.welcome(0).then(() => hub.welcome(0));
  await f.events("opened");
  const began = hub.clock.now();
  assert.match((await f.down()).message, /silent/);
  assert.equal(hub.clock.now() - began, 45_000);
  await f.events("opened");
  await played;
});

test("what cannot be taken now is sent again by itself, and not for ever", async (t) => {
  const hub = new CardHub();
  const f = new CardFollower(t, hub);
  const waits: number[] = [];
  const played = (async () => {
    const end = await hub.welcome(0);
    for (let began = hub.clock.now(); waits.length < 6; began = hub.clock.now()) {
      assert.deepEqual(await hub.heard(), { type: "user.message", event_id: "c1", text: "hi" });
      waits.push(hub.clock.now() - began);
      hub.refuse(end, busy, { event_id: "c1", type: "user.message" });
    }
  })();
  await f.events("opened");
  assert.equal(f.feed.send({ type: "user.message", text: "hi" }, "c1"), "c1");
  for (let failures = 1; failures <= 6; failures++) {
    const { failed } = await f.events("error");
    assert.deepEqual([failed?.again, failed?.eventId], [failures < 6, "c1"], `failure ${failures}`);
  }
  await played;
  [0, 1_000, 2_000, 4_000, 8_000].forEach((least, i) => {
    const wait = waits[i + 1] ?? -1;
    assert.ok(wait >= least && wait <= least * 1.25, `sent again ${wait} ms after failure ${i + 1}`);
  });
});

test("what is wrong is not sent again, nor what the hub does not name", async (t) => {
  const hub = new CardHub();
  const f = new CardFollower(t, hub);
  const played = (async () => {
    const end = await hub.welcome(0);
    assert.equal((await hub.heard()).type, "session.interrupt");
    hub.refuse(end, { type: "invalid_input" }, { event_id: "c1" });
    hub.refuse(end, busy);
    assert.deepEqual(await hub.next(), { type: "ping" }, "and nothing before");
  })();
  await f.events("opened");
  f.feed.send({ type: "session.interrupt" }, "c1");
  for (const eventId of ["c1", ""]) {
    const { failed } = await f.events("error");
    assert.deepEqual([failed?.eventId, failed?.again], [eventId, false]);
  }
  void f.update().catch(() => {}); // which the end of the test cuts short
  await played;
});

test("what is due is sent over the next connection, once", async (t) => {
  const hub = new CardHub();
  const f = new CardFollower(t, hub);
  const played = (async (): Promise<Said> => {
    const end = await hub.welcome(0);
    await hub.heard();
    hub.refuse(end, { ...busy, retry_after_ms: 60_000 }, { event_id: "c1" });
    end.cut();
    const next = await hub.welcome(0);
    const again = await hub.heard();
    for (let minutes = 0; minutes < 1.5; minutes += 0.5) {
      assert.deepEqual(await hub.next(), { type: "ping" });
      next.text('{"type":"pong"}');
    }
    next.cut();
    await hub.welcome(0);
    assert.deepEqual(await hub.next(), { type: "ping" }, "and nothing before");
    return again;
  })();
  await f.events("opened");
  f.feed.send({ type: "session.interrupt" }, "c1");
  assert.ok((await f.events("error")).failed?.again);
  await f.down();
  await f.events("opened");
  await f.down();
  await f.events("opened");
  void f.update().catch(() => {});
  assert.deepEqual(await played, { type: "session.interrupt", event_id: "c1" });
});

test("nothing is sent without a connection", (t) => {
  const f = new CardFollower(t, new CardHub());
  assert.throws(() => f.feed.send({ type: "user.message", text: "hi" }), ConnectionError);
});

test("a conversation is made once, and gone on with", async (t) => {
  const hub = new CardHub();
  const f = new CardFollower(t, hub, { tools: [{ name: "clock", run: () => ({}) }] });
  const made: Said[] = [];
  const played = (async () => {
    for (const opens of [false, true, false]) {
      const end = await hub.socket();
      made.push(await hub.heard());
      if (opens) {
        hub.tell(end, "opened", { capabilities: {} });
        await hub.heard();
      }
      end.cut();
    }
  })();
  await f.down();
  await f.events("opened");
  await f.down();
  await f.down();
  await played;
  const [first, second, third] = made;
  assert.match(first?.event_id ?? "", /^evt_[0-9a-f]{20}$/);
  const create = { type: "session.create", event_id: first?.event_id, capabilities: { client_tools: true }, tools: [{ name: "clock" }] };
  assert.deepEqual([first, second, third], [create, create, { ...create, session_id: "sess_1" }]);
});
