import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import { anonymous, Client, LoggedOutError, MemoryKeeper, ProblemError, UNEXPECTED, UnreachableError } from "../src/index.js";
import { systemClock } from "../src/clock.js";
import { FakeHub, problem } from "./hub.js";

function hubOf(t: TestContext): FakeHub {
  const hub = new FakeHub();
  t.after(() => hub.clock.stop());
  return hub;
}

test("an expiring token is renewed once for all who ask at once", async (t) => {
  const hub = hubOf(t);
  const client = hub.client(1_000);
  await Promise.all(Array.from({ length: 20 }, () => client.api.getMe()));
  assert.equal(hub.renewals, 1);
  assert.equal((await client.keeper.load()).refresh_token, "refresh-1");
});

test("a refused token is renewed and the request sent again with its body and key", async (t) => {
  const hub = hubOf(t);
  const client = hub.client();
  hub.access = "nothing is good now";
  await assert.rejects(client.api.createGroupSession({ body: { name: "demo" } }), { code: "not_found" });
  assert.equal(hub.renewals, 1);
  assert.equal(hub.bodies.filter((body) => body === '{"name":"demo"}').length, 2);
});

test("a refused renewal means logged out, and the login is forgotten", async (t) => {
  const hub = hubOf(t);
  const client = hub.client(1_000);
  hub.refresh = "spent";
  await assert.rejects(client.api.getMe(), LoggedOutError);
  await assert.rejects(client.keeper.load(), LoggedOutError);
  assert.equal(hub.count("POST /client/auth/refresh"), 1);
  await assert.rejects(client.api.getMe(), LoggedOutError);
  assert.equal(hub.count("POST /client/auth/refresh"), 1, "asked again with a token that is spent");
});

test("a renewal under way does not bring a forgotten login back", async () => {
  const keeper = new MemoryKeeper({ access_token: "a", refresh_token: "r", expires_at: 0, user_id: "", device_id: "", username: "" });
  const renewal = keeper.update(async (newest) => newest);
  await Promise.all([renewal, keeper.clear()]);
  await assert.rejects(keeper.load(), LoggedOutError);
});

test("a renewal is finished though its caller has gone", async (t) => {
  const hub = hubOf(t);
  const leave = new AbortController();
  let asked = () => {};
  let answer = () => {};
  const arrived = new Promise<void>((resolve) => (asked = resolve));
  const slowly = new Promise<void>((resolve) => (answer = resolve));
  const client = hub.client(1_000, {
    fetch: async (input, init) => {
      asked();
      await slowly;
      return hub.fetch(input, init);
    },
  });
  const call = client.api.getMe({ signal: leave.signal });
  await arrived;
  leave.abort(new Error("gone"));
  await assert.rejects(call, { message: "gone" });
  answer();
  await client.keeper.update(async (newest) => newest); // whose turn comes after the renewal
  assert.equal((await client.keeper.load()).refresh_token, "refresh-1");
});

test("who waits for another's renewal can give up", async () => {
  const keeper = new MemoryKeeper({ access_token: "a", refresh_token: "r", expires_at: 0, user_id: "", device_id: "", username: "" });
  void keeper.update(() => new Promise(() => {}));
  await assert.rejects(keeper.update(async (newest) => newest, AbortSignal.abort(new Error("gone"))), { message: "gone" });
});

test("a failed renewal is not in the way of the next", async (t) => {
  const hub = hubOf(t);
  const client = hub.client(1_000);
  hub.rest.set("POST /client/auth/refresh", [problem(503, "busy")]);
  await assert.rejects(client.api.getMe(), { code: "busy" });
  hub.rest.delete("POST /client/auth/refresh");
  await client.api.getMe();
  assert.equal(hub.renewals, 1);
});

test("a refusal says code, sentence and how long to wait", async (t) => {
  const hub = hubOf(t);
  hub.rest.set("GET /client/auth/me", [problem(429, "rate_limited", { retry_after: 7 })]);
  await assert.rejects(hub.client().api.getMe(), (error) => {
    assert.ok(error instanceof ProblemError);
    assert.deepEqual([error.code, error.status, error.retryAfter], ["rate_limited", 429, 7_000]);
    assert.match(error.message, /^No\. \(rate_limited, trace 4bf9/);
    return true;
  });
});

test("a hub that asks for more than five minutes is asked again after five", async (t) => {
  const hub = hubOf(t);
  for (const seconds of [301, 2_592_000, 99_999_999_999]) {
    hub.rest.set("GET /client/auth/me", [problem(429, "rate_limited", { retry_after: seconds })]);
    await assert.rejects(hub.client().api.getMe(), { retryAfter: 300_000 });
  }
});

test("a timer does not fire at once because it is to wait for long", async () => {
  let fired = false;
  const stop = systemClock.after(2 ** 31, () => (fired = true));
  await new Promise((resolve) => setTimeout(resolve, 5)); // one that overflows waits for 1 ms
  stop();
  assert.ok(!fired);
});

test("an answer that is no hub's says so", async (t) => {
  const hub = hubOf(t);
  hub.rest.set("GET /client/auth/me", [{ status: 502, body: "<html>" }]);
  await assert.rejects(hub.client().api.getMe(), { code: UNEXPECTED, status: 502 });
});

test("a hub that is not there is unreachable", async () => {
  const away = async (): Promise<Response> => {
    throw new TypeError("fetch failed");
  };
  await assert.rejects(anonymous("http://hub", away).getHealth(), UnreachableError);
});

test("an address that is none is refused", () => {
  const keeper = new MemoryKeeper({ access_token: "a", refresh_token: "r", expires_at: 0, user_id: "", device_id: "", username: "" });
  for (const hub of ["", "127.0.0.1:8080", "ftp://hub", "http://", "http://%zz"]) {
    assert.throws(() => new Client({ hub, keeper }), TypeError, hub);
  }
  assert.equal(new Client({ hub: "https://hub.example/base/", keeper }).hub, "https://hub.example/base");
});
