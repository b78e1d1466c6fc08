import assert from "node:assert/strict";
import { test } from "node:test";
import { runInNewContext } from "node:vm";

import { canonical, elements, members } from "../src/json.js";

test("the members of an object keep their text", () => {
  const text = ' { "a" : 1.0 , "b\\u0063": [ {"x":"]}"} , 2 ],"n":12345678901234567890,"s":"q\\"\\\\","t":true,"o":{} } ';
  assert.deepEqual([...(members(text) ?? [])], [
    ["a", "1.0"],
    ["bc", '[ {"x":"]}"} , 2 ]'],
    ["n", "12345678901234567890"],
    ["s", '"q\\"\\\\"'],
    ["t", "true"],
    ["o", "{}"],
  ]);
});

test("of a repeated name the last member counts", () => {
  assert.equal(members('{"a":1,"a":2}')?.get("a"), "2");
});

test("what is no object has no members, what is no array no elements", () => {
  for (const text of ["null", "1", '"{}"', "[]"]) {
    assert.equal(members(text), undefined, text);
  }
  for (const text of ["null", '"[]"', "{}"]) {
    assert.equal(elements(text), undefined, text);
  }
});

test("the elements of an array keep their text", () => {
  assert.deepEqual(elements(' [ 1.50 , "a,]" ,[2],{"b":[]} ,null ] '), ["1.50", '"a,]"', "[2]", '{"b":[]}', "null"]);
  assert.deepEqual(elements("[]"), []);
});

test("equal values have one canonical form", () => {
  assert.equal(canonical(' {"b": [1.0, "\\u0041"], "a": {"d": null, "c": 1e3}} '), '{"a":{"c":1e3,"d":null},"b":[1.0,"A"]}');
  assert.notEqual(canonical("1.0"), canonical("1"));
});

test("a value that is nested too deep has no canonical form", () => {
  assert.throws(() => canonical("[".repeat(5000) + "]".repeat(5000)), RangeError);
});

test("whatever JSON.stringify writes is read as JSON.parse reads it", () => {
  for (let seed = 1; seed < 300; seed++) {
    const value = arbitrary(random(seed), 4);
    const text = JSON.stringify(value, undefined, seed % 3);
    assert.deepEqual(reread(text), JSON.parse(text), text);
    assert.equal(canonical(text), canonical(JSON.stringify(value)), text);
  }
});

test("a text that is no JSON has an end", () => {
  const read = () => {
    for (let seed = 1; seed < 2_000; seed++) {
      const next = random(seed);
      const text = JSON.stringify(arbitrary(next, 4), undefined, seed % 3);
      const at = Math.floor(next() * text.length);
      const noise = '{}[]",:\\ x'[Math.floor(next() * 10)];
      for (const broken of [text.slice(0, at), text.slice(0, at) + noise + text.slice(at + 1), `[${text.slice(at)}`, `{"a":${text.slice(0, at)}`]) {
        for (const look of [members, elements, canonical]) {
          attempt(() => look(broken));
        }
      }
    }
    return "through";
  };
  assert.equal(runInNewContext("read()", { read }, { timeout: 20_000 }), "through");
});

function attempt(look: () => unknown): void {
  try {
    look();
  } catch (error) {
    assert.ok(error instanceof SyntaxError, String(error));
  }
}

/** Reads a value by its members and elements alone. */
function reread(text: string): unknown {
  const object = members(text);
  if (object) {
    return Object.fromEntries(Array.from(object, ([name, raw]) => [name, reread(raw)]));
  }
  return elements(text)?.map(reread) ?? JSON.parse(text);
}

function arbitrary(next: () => number, depth: number): unknown {
  const kind = Math.floor(next() * (depth > 0 ? 6 : 4));
  const many = () => Array.from({ length: Math.floor(next() * 4) });
  switch (kind) {
    case 0:
      return next() < 0.5 ? null : next() < 0.5;
    case 1:
      return (next() - 0.5) * 10 ** Math.floor(next() * 30);
    case 2:
    case 3:
      return many()
        .map(() => ['"', "\\", "{", "]", ",", ":", " ", "\n", "é", "😀", "x"][Math.floor(next() * 11)])
        .join("");
    case 4:
      return many().map(() => arbitrary(next, depth - 1));
    default:
      return Object.fromEntries(many().map((_, i) => [`${arbitrary(next, 0)}${i}`, arbitrary(next, depth - 1)]));
  }
}

/** Numbers from 0 to 1 that follow from a seed. */
function random(seed: number): () => number {
  return () => (seed = (seed * 48271) % 2147483647) / 2147483647;
}
