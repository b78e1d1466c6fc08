import assert from "node:assert/strict";
import { test } from "node:test";

import { OMNI_MAX_BYTES } from "../src/omni.js";
import { ConnectionError } from "../src/problem.js";
import { type Block, BlockReader } from "../src/sse.js";

function bodyOf(chunks: Iterable<Uint8Array>): ReadableStream<Uint8Array> {
  const rest = chunks[Symbol.iterator]();
  return new ReadableStream({
    pull: (out) => {
      const { value, done } = rest.next();
      return done ? out.close() : out.enqueue(value);
    },
  });
}

async function blocks(chunks: Iterable<Uint8Array>): Promise<Block[]> {
  const reader = new BlockReader(bodyOf(chunks));
  const all: Block[] = [];
  await assert.rejects(async () => {
    for (;;) {
      all.push(await reader.next(() => {}));
    }
  }, ConnectionError);
  return all;
}

test("server-sent events are read, however they are cut", async () => {
  const long = "字".repeat(70_000);
  const text = `: hello\n\n\nid: a-1\n\r\nevent: server_event\ndata: {"x":\ndata: 1}\n\n:ping\n\ndata:no space\nretry: 5\n\nid\ndata: ${long}\n\ndata: cut`;
  const bytes = new TextEncoder().encode(text);
  const want: Block[] = [
    { event: "", id: "a-1" }, { event: "server_event", data: '{"x":\n1}' }, { event: "", data: "no space" }, { event: "", id: "", data: long },
  ];
  for (const size of [1, 7, 4096, bytes.length]) {
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.subarray(i * size, (i + 1) * size));
    assert.deepEqual(await blocks(chunks), want, `in pieces of ${size}`);
  }
});

test("a block is bounded, and the longest message fits", async () => {
  const chunk = new Uint8Array(1024 * 1024).fill(120);
  assert.deepEqual(await blocks(Array.from({ length: 40 }, () => chunk)), []);
  const whole = [new TextEncoder().encode("data: "), ...Array.from({ length: OMNI_MAX_BYTES / chunk.length }, () => chunk), new TextEncoder().encode("\n\n")];
  const [block] = await blocks(whole);
  assert.equal(block?.data?.length, OMNI_MAX_BYTES);
});
