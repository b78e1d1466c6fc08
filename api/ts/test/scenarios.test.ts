import assert from "node:assert/strict";
import { test } from "node:test";

import { bubbles, Client, type Frame, KickedError, keyOf, LoggedOutError, MemoryPosition, type Reducer, type Update, words } from "../src/index.js";
import { canonical } from "../src/json.js";
import { FakeHub, type FarEnd } from "./hub.js";
import { type Outcome, readScenarios, type Scenario, type Step } from "./scenarios.js";

/** The user of the frame by which a hub says that a scenario is over. */
const END = "end";

/** For how many milliseconds a hub is left alone that has said for how long, to a socket which does not tell. */
const UNTOLD = [5_000, 6_300] as const;

const DAY = 86_400_000;

// Sockets of ws say why an upgrade was refused, those of a browser do not.
for (const tells of [true, false]) {
  for (const scenario of readScenarios(new URL("../../../scenarios.json", import.meta.url))) {
    test(`${scenario.name}${tells ? "" : ", with a browser's socket"}`, async () => {
      const hub = new FakeHub(tells);
      try {
        await play(hub, scenario);
      } finally {
        hub.clock.stop();
      }
    });
  }
}

/** Lets a client live through a scenario. */
async function play(hub: FakeHub, scenario: Scenario): Promise<void> {
  scenario.rest.forEach((answers, path) => hub.rest.set(path, answers));
  const faults: string[] = [];
  const made = perform(hub, scenario, faults);
  const at = new MemoryPosition(scenario.start.cursor ?? "");
  const client: Client = hub.client(DAY, { keeper: hub.keeper(DAY, scenario.start.user) });
  const { begin = "missed", session, since, heads, changes, keep } = scenario.start;
  const feed = client.feed(at, { begin, session, heads, changes, keep, since: since === undefined ? undefined : new Date(since) });
  const told: string[] = [];
  const said: Record<string, string> = {};
  let ended = "";
  try {
    for await (const update of scenario.start.by === "sync" ? feed.sync() : feed.follow()) {
      if (update.frame && isEnd(update.frame)) {
        break;
      }
      if (update.truncated) {
        told.push(`truncated ${update.session ?? ""}`.trim());
      }
      if (update.isNew && update.frame) {
        told.push(nameOf(update));
        const { run, text } = words(update.frame) ?? { run: "", text: "" };
        said[run] = (said[run] ?? "") + text;
      }
    }
  } catch (error) {
    ended = endName(error);
  }
  delete said[""];
  assert.deepEqual([...faults, ...hub.faults], []);
  assert.equal(made(), scenario.connections.length, "connections");
  compare(scenario.want, { cursor: at.cursor, ended, told, words: said }, feed.state, hub);
}

/** Lets the hub play its part; returns how many connections were made. */
function perform(hub: FakeHub, scenario: Scenario, faults: string[]): () => number {
  let made = 0;
  let over = hub.clock.now(); // when the connection before ended
  hub.accept = (end) => {
    const number = ++made;
    const part = scenario.connections[number - 1];
    const after = hub.clock.now() - over;
    if (!part) {
      faults.push(`connection ${number}: nobody expects it`);
      return { status: 503 };
    }
    if (end.cursor !== part.cursor) {
      faults.push(`connection ${number}: cursor ${end.cursor}, want ${part.cursor}`);
    }
    const asked = scenario.connections[number - 2]?.refuse?.retry_after;
    const want = asked && !hub.tells ? UNTOLD : part.after_ms;
    if (want && (after < want[0] || after > want[1])) {
      faults.push(`connection ${number}: made after ${after} ms, want ${want}`);
    }
    over = hub.clock.now();
    if (part.refuse) {
      return part.refuse;
    }
    void end.closed.then(() => (over = hub.clock.now()));
    setImmediate(() => part.script.every((step) => act(end, step)) && finish(end, scenario.start.session));
    return undefined;
  };
  return () => made;
}

/** Does one step; false if it was the last one. */
function act(end: FarEnd, step: Step): boolean {
  if (step.send !== undefined) {
    end.seq = Math.max(end.seq, (JSON.parse(step.send) as Frame).seq_id ?? 0);
    end.text(step.send);
  } else if (step.text !== undefined) {
    end.seq++;
    end.text(step.text);
  } else if (step.cut) {
    end.cut();
  } else if (step.close) {
    end.close(step.close.code, step.close.reason);
  }
  return step.send !== undefined || step.text !== undefined;
}

function finish(end: FarEnd, session = ""): void {
  end.send("typing", { user_id: END, session_id: session });
}

function isEnd(frame: Frame): boolean {
  return frame.type === "typing" && frame.payload.user_id === END;
}

function nameOf(update: Update): string {
  return (update.asked ? "asked " : "") + keyOf(update.frame!);
}

function endName(error: unknown): string {
  if (error instanceof KickedError) {
    return "kicked";
  }
  return error instanceof LoggedOutError ? "logged_out" : String(error);
}

function compare(want: Outcome, got: Outcome, state: Reducer, hub: FakeHub): void {
  assert.equal(got.cursor, want.cursor, "kept cursor");
  assert.equal(got.ended, want.ended, "ended");
  if (want.told) {
    assert.deepEqual(got.told, want.told);
  }
  if (want.records) {
    assert.deepEqual(canonicalRecords(state.records()), canonicalRecords(want.records));
  }
  if (want.marks) {
    assert.deepEqual(Object.fromEntries(state.marks()), want.marks);
  }
  for (const [session, unread] of Object.entries(want.unread ?? {})) {
    assert.equal(state.unread(session), unread, `unread of ${session}`);
  }
  if (want.words) {
    assert.deepEqual(got.words, want.words);
  }
  for (const [session, texts] of Object.entries(want.bubbles ?? {})) {
    const shown = bubbles(state, session).map((bubble) => bubble.text);
    assert.deepEqual(shown, texts, `bubbles of ${session}`);
  }
  for (const [request, count] of Object.entries(want.requests ?? {})) {
    assert.equal(hub.count(request), count, request);
  }
  if (want.digest) {
    assert.equal(state.digest, want.digest);
  }
}

function canonicalRecords(records: Map<string, string>): Record<string, string> {
  return Object.fromEntries([...records].sort().map(([key, raw]) => [key, canonical(raw)]));
}
