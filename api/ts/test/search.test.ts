import assert from "node:assert/strict";
import { test } from "node:test";

import { FakeHub } from "./hub.js";

test("a search asks for as many pages as are taken of it", async (t) => {
  const hub = new FakeHub();
  t.after(() => hub.clock.stop());
  const asked: string[] = [];
  const client = hub.client(undefined, {
    fetch: async (input, init) => {
      const url = new URL(String(input));
      if (url.pathname !== "/client/search") {
        return hub.fetch(input, init);
      }
      asked.push(url.search);
      const after = url.searchParams.get("after");
      const page = { items: [{ id: `msg_${after}` }], partial: false, ...(after === "p2" ? {} : { next: after ? "p2" : "p1" }) };
      return Response.json(page);
    },
  });
  for await (const { id } of client.search("a b", { session: "sess_1" })) {
    if (id === "msg_p1") {
      break;
    }
  }
  assert.deepEqual(asked, ["?q=a+b&session_id=sess_1", "?q=a+b&session_id=sess_1&after=p1"]);
  const found: string[] = [];
  for await (const { id } of client.search("a")) {
    found.push(id);
  }
  assert.deepEqual(found, ["msg_null", "msg_p1", "msg_p2"]);
});
