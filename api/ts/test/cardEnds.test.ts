import assert from "node:assert/strict";
import { test } from "node:test";

import { AFTER_CARD_CLOSE, AFTER_CLOSE, LoggedOutError, NoCardsError, ProblemError, SleptError } from "../src/index.js";
import { CardFollower, CardHub } from "./cardHub.js";
import { problem } from "./hub.js";

test("ends of a connection are waited for as they ask", async (t) => {
  for (const [code, reason, least, most] of [
    [1006, "", 75, 130],
    [1011, "oops", 75, 130],
    [1012, "restart, retry_ms=1500", 1_500, 1_880],
    [1013, "slow, resume", 5_000, 6_300],
    [4408, "silent, resume", 75, 130],
  ] as const) {
    const hub = new CardHub();
    const f = new CardFollower(t, hub);
    const played = (async () => {
      (await hub.welcome(0)).close(code, reason);
      const began = hub.clock.now();
      await hub.welcome(0);
      return hub.clock.now() - began;
    })();
    await f.events("opened");
    await f.down();
    await f.events("opened");
    const waited = await played;
    assert.ok(waited >= least && waited <= most, `came back ${waited} ms after ${code}`);
    hub.clock.stop();
  }
});

test("the close codes of cards mean what they mean on /client/ws", () => {
  for (const [code, then] of Object.entries(AFTER_CARD_CLOSE)) {
    const there = AFTER_CLOSE[Number(code)]; // a code that has no entry there is come back from
    assert.equal(then === "stay_away" ? there : (there ?? "resume"), then === "stay_away" ? undefined : then, code);
  }
});

test("too many connections in vain end the feed", async (t) => {
  const hub = new CardHub();
  hub.accept = () => problem(500, "internal");
  const f = new CardFollower(t, hub);
  const began = hub.clock.now();
  for (let i = 1; i < 10; i++) {
    await f.down();
  }
  const error = await f.end();
  assert.match(error.message, /gave up after 10 connections/);
  assert.ok(error.cause instanceof ProblemError && error.cause.code === "internal");
  const took = hub.clock.now() - began;
  assert.ok(took >= 15_000 && took <= 45_000, `gave up after ${took} ms`);
});

test("a connection that brings something begins the count anew", async (t) => {
  const hub = new CardHub();
  const f = new CardFollower(t, hub, { session: "sess_1", attempts: 2 });
  void (async () => {
    for (let last = 0; last < 4; last++) {
      const end = await hub.welcome(last);
      hub.resumed(end, last + 1, last + 1);
      end.text(hub.add());
      end.cut();
    }
    (await hub.socket()).cut();
  })();
  for (let i = 0; i < 4; i++) {
    await f.events("opened", "resumed", "card.add");
    await f.down();
  }
  assert.match((await f.end()).message, /gave up after 2/);
});

test("a conversation that is not there ends the feed", async (t) => {
  const ways: Array<(hub: CardHub) => Promise<void>> = [
    async (hub) => {
      const end = await hub.socket();
      await hub.heard();
      hub.refuse(end, { type: "invalid_input" }, { type: "session.create" });
    },
    async (hub) => (await hub.welcome(0)).close(1008, "not in the conversation any more"),
  ];
  for (const way of ways) {
    const hub = new CardHub();
    const f = new CardFollower(t, hub);
    void way(hub);
    if (way !== ways[0]) {
      await f.events("opened");
    }
    assert.ok((await f.end()) instanceof NoCardsError);
    hub.clock.stop();
  }
});

test("a hub that cannot open or resume now is asked later", async (t) => {
  const hub = new CardHub();
  const f = new CardFollower(t, hub);
  const busy = { type: "overloaded", retryable: true, retry_after_ms: 3_000 } as const;
  const played = (async () => {
    let end = await hub.socket();
    await hub.heard();
    hub.refuse(end, busy, { type: "session.create" });
    const began = hub.clock.now();
    end = await hub.welcome(0);
    const waited = hub.clock.now() - began;
    hub.refuse(end, busy, { type: "session.resume" });
    await hub.welcome(0);
    return waited;
  })();
  assert.match((await f.down()).message, /overloaded/);
  await f.events("opened");
  await f.down();
  await f.events("opened");
  const waited = await played;
  assert.ok(waited >= 3_000 && waited <= 4_000, `came back after ${waited} ms`);
});

test("a login that has ended is renewed, or said", async (t) => {
  const hub = new CardHub();
  const f = new CardFollower(t, hub);
  void (async () => {
    (await hub.welcome(0)).close(4401, "login ended");
    const end = await hub.welcome(0);
    hub.refresh = "spent";
    end.close(4401, "login ended");
  })();
  await f.events("opened");
  await f.down();
  await f.events("opened");
  assert.equal(hub.renewals, 1);
  await f.down();
  assert.ok((await f.end()) instanceof LoggedOutError);
});

test("a closed lid is noticed within seconds", async (t) => {
  const hub = new CardHub();
  const f = new CardFollower(t, hub);
  const played = hub.welcome(0).then(() => hub.welcome(0));
  await f.events("opened");
  hub.clock.sleep(20_000);
  const woken = hub.clock.now();
  assert.ok((await f.down()) instanceof SleptError);
  await f.events("opened");
  await played;
  assert.ok(hub.clock.now() - woken <= 2_000);
});

test("the signal ends a feed", async (t) => {
  const hub = new CardHub();
  const leave = new AbortController();
  const enough = new Error("enough");
  const f = new CardFollower(t, hub, { session: "sess_1", signal: leave.signal });
  const played = hub.welcome(0);
  await f.events("opened");
  await played;
  const end = f.end();
  leave.abort(enough);
  assert.equal(await end, enough);
});

test("what is no event breaks the connection, and the next one brings it again", async (t) => {
  for (const text of ["{", "[]", '{"type":""}', '{"type":"card.add","envelope":{"seq":"1"}}', '{"type":"card.close","metrics":{"tokens_in":"many"}}']) {
    const hub = new CardHub();
    const f = new CardFollower(t, hub);
    const played = (async () => {
      (await hub.welcome(0)).text(text);
      await hub.welcome(0);
    })();
    await f.events("opened");
    assert.match((await f.down()).message, /unreadable/);
    await f.events("opened");
    await played;
    hub.clock.stop();
  }
});
