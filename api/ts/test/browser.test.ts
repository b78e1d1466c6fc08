import assert from "node:assert/strict";
import { test } from "node:test";

import { BrowserKeeper, type Credentials, LoggedOutError } from "../src/index.js";
import { FakeHub } from "./hub.js";
import { Storage } from "./storage.js";

const credentials: Credentials = { user_id: "user_1", username: "ada", device_id: "dev_1", access_token: "access-0", expires_at: 0, refresh_token: "refresh-0" };
const renewed: Credentials = { ...credentials, access_token: "access-1", refresh_token: "refresh-1" };

test("a database that cannot be opened now may be opened later", async (t) => {
  const storage = new Storage(t);
  storage.failures = 1;
  const keeper = new BrowserKeeper();
  await assert.rejects(keeper.load(), { message: "no database now" });
  await keeper.save(credentials);
  assert.deepEqual(await keeper.load(), credentials);
});

test("a login that the hub does not take any more is forgotten", async (t) => {
  new Storage(t);
  const hub = new FakeHub();
  t.after(() => hub.clock.stop());
  hub.refresh = "spent";
  const keeper = new BrowserKeeper();
  await keeper.save(credentials);
  await assert.rejects(hub.client(0, { keeper }).api.getMe(), LoggedOutError);
  await assert.rejects(keeper.load(), LoggedOutError);
});

test("a login that could not be renewed for another reason is kept", async (t) => {
  new Storage(t);
  const keeper = new BrowserKeeper();
  await keeper.save(credentials);
  await assert.rejects(keeper.update(() => Promise.reject(new Error("no network"))), { message: "no network" });
  assert.deepEqual(await keeper.load(), credentials);
});

/** Begins a renewal in one tab, lets another act, and returns what is kept when both are through. */
async function during(act: (other: BrowserKeeper) => Promise<void>): Promise<Credentials> {
  const keeper = new BrowserKeeper();
  await keeper.save(credentials);
  let answer = (_: Credentials) => {};
  let asked = () => {};
  const begun = new Promise<void>((resolve) => (asked = resolve));
  const renewal = keeper.update(() => {
    asked();
    return new Promise((resolve) => (answer = resolve));
  });
  await begun;
  const acted = act(new BrowserKeeper());
  for (let turn = 0; turn < 20; turn++) {
    await new Promise((resolve) => setImmediate(resolve)); // for what would not wait
  }
  answer(renewed);
  await Promise.all([renewal, acted]);
  return keeper.load();
}

test("a renewal under way does not bring a forgotten login back", async (t) => {
  new Storage(t);
  await assert.rejects(during((other) => other.clear()), LoggedOutError);
});

test("a renewal under way does not replace a new login", async (t) => {
  new Storage(t);
  const login: Credentials = { ...credentials, device_id: "dev_2" };
  assert.deepEqual(await during((other) => other.save(login)), login);
});

test("a page without Web Locks says so when a login is to be kept", async (t) => {
  new Storage(t);
  Object.defineProperty(globalThis, "navigator", { value: {}, configurable: true });
  await assert.rejects(new BrowserKeeper().save(credentials), /https/);
});
