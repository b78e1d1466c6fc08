import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";

import { Chain } from "../src/digest.js";
import { hex, sha256 } from "../src/sha256.js";

test("SHA-256 is that of everybody else, at every length around a block", () => {
  for (let length = 0; length < 200; length++) {
    const bytes = Uint8Array.from({ length }, (_, i) => (i * 7 + length) % 256);
    assert.equal(hex(sha256(bytes)), createHash("sha256").update(bytes).digest("hex"), `${length} bytes`);
  }
  const large = new Uint8Array(1_000_003).fill(0xa5);
  assert.equal(hex(sha256(large)), createHash("sha256").update(large).digest("hex"));
});

test("an event counts by number, name and the bytes of its payload", () => {
  const digestOf = (seq: bigint, payload: string) => {
    const chain = new Chain();
    chain.addEvent(seq, payload);
    return chain.toString();
  };
  const once = digestOf(1n, '{"event_type":"run.started","payload":"{\\"a\\": 1.0}"}');
  const stored = createHash("sha256").update('{"a": 1.0}').digest("hex");
  assert.equal(once, createHash("sha256").update(Buffer.concat([Buffer.alloc(32), Buffer.from(`1 run.started ${stored}`)])).digest("hex"));
  assert.equal(digestOf(1n, '{"payload":{"a": 1.0},"event_type":"run.started"}'), once, "as text or as it is");
  assert.notEqual(digestOf(1n, '{"event_type":"run.started","payload":"{\\"a\\": 1.00}"}'), once);
  assert.notEqual(digestOf(2n, '{"event_type":"run.started","payload":"{\\"a\\": 1.0}"}'), once);
});

test("a chain goes on in another tab", () => {
  const here = new Chain();
  here.add("message.new msg_1", "{}");
  const there = Chain.load(structuredClone(here.save()));
  here.add("message.new msg_2", "{}");
  there.add("message.new msg_2", "{}");
  assert.equal(there.toString(), here.toString());
  assert.equal(there.length, 2);
});
