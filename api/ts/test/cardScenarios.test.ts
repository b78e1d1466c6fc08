import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { type Card, type CardChannel, type CardErrorInfo, CardForest, cardRetry, parseCardEvent } from "../src/index.js";
import { canonical, members, object } from "../src/json.js";
import { listOf, read, value } from "./scenarios.js";

const file = read(readFileSync(new URL("../../../card-scenarios.json", import.meta.url), "utf8"), ["version", "forests", "retries"]);

/** How often the random part of a wait is drawn. */
const DRAWS = 200;

test("the scenarios of cards are known here", () => {
  assert.equal(file.get("version"), "1");
  assert.ok(listOf(file.get("forests")).length > 10 && listOf(file.get("retries")).length > 5);
});

for (const raw of listOf(file.get("forests"))) {
  const scenario = read(raw, ["name", "rule", "steps", "want"]);
  test(`cards: ${value(scenario.get("name"))}`, () => {
    const forest = new CardForest();
    listOf(scenario.get("steps")).forEach((step, number) => take(forest, step, number + 1));
    compare(forest, scenario.get("want") ?? "{}");
  });
}

for (const raw of listOf(file.get("retries"))) {
  const { rule, error, failures, wait_ms } = value<Retry>(object(read(raw, ["rule", "error", "failures", "wait_ms"])));
  test(`retries: ${rule}`, () => {
    const waits = Array.from({ length: DRAWS }, () => cardRetry(error, failures));
    if (wait_ms === null) {
      assert.deepEqual([...new Set(waits)], [undefined]);
      return;
    }
    const [least, most] = wait_ms;
    assert.ok(waits.every((wait) => wait !== undefined && wait >= least && wait <= most), `${waits}`);
  });
}

interface Retry {
  rule: string;
  error: CardErrorInfo;
  failures: number;
  wait_ms: [number, number] | null;
}

/** Takes the event of a step so many times, each with the next number. */
function take(forest: CardForest, raw: string, number: number): void {
  const step = read(raw, ["take", "times", "verdict"]);
  const fields = members(step.get("take") ?? "") ?? new Map<string, string>();
  const envelope = members(fields.get("envelope") ?? "") ?? new Map<string, string>();
  const seq = value<number | null>(envelope.get("seq"));
  for (let i = 0; i < value<number>(step.get("times") ?? "1"); i++) {
    if (seq !== null) {
      envelope.set("seq", String(seq + i));
    }
    const verdict = forest.apply(parseCardEvent(object(fields.set("envelope", object(envelope)))));
    assert.equal(verdict, value(step.get("verdict")), `step ${number}`);
  }
}

interface Want {
  digest?: string;
  roots?: string[];
  below?: Record<string, string[]>;
  text?: Record<string, Record<CardChannel, string>>;
  cursors?: Record<string, number>;
  visible?: string[];
  interrupted?: string[];
  may_wait?: boolean;
  session?: { model?: string; title?: string; members?: string[] };
  error?: string | null;
}

function compare(forest: CardForest, raw: string): void {
  const fields = read(raw, ["view", "digest", "roots", "below", "text", "cursors", "visible", "interrupted", "may_wait", "session", "error"]);
  const want = value<Want>(raw);
  assert.equal(forest.view(), canonical(fields.get("view") ?? ""));
  assert.equal(forest.digest, want.digest);
  if (want.roots) {
    assert.deepEqual(forest.roots().map(idOf), want.roots);
  }
  for (const [parent, below] of Object.entries(want.below ?? {})) {
    assert.deepEqual(forest.below(parent).map(idOf), below);
  }
  for (const [id, channels] of Object.entries(want.text ?? {})) {
    for (const [channel, text] of Object.entries(channels)) {
      assert.equal(forest.card(id)?.text(channel as CardChannel), text);
    }
  }
  assert.deepEqual(forest.cursors(), want.cursors ?? forest.cursors());
  if (want.visible) {
    assert.deepEqual(forest.prompts().filter((prompt) => prompt.visible).map(({ requestId }) => requestId), want.visible);
  }
  assert.deepEqual(forest.prompts().filter((prompt) => forest.interrupted(prompt)).map(({ requestId }) => requestId), want.interrupted ?? []);
  assert.equal(forest.mayWait, want.may_wait ?? forest.mayWait);
  if (want.session) {
    const { model, title, members } = forest.session;
    assert.deepEqual({ model, title, members }, { model: "", title: "", members: [], ...want.session });
  }
  assert.equal(forest.session.error?.type, want.error ?? undefined);
}

function idOf({ id }: Card): string {
  return id;
}
