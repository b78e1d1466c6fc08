import assert from "node:assert/strict";
import { test } from "node:test";

import { MemoryPosition } from "../src/index.js";
import { FakeHub } from "./hub.js";

const told = '{"type":"typing","payload":{"session_id":"sess_1"}}';

test("typing is told over the stream that stands, and once in three seconds", async (t) => {
  const hub = new FakeHub();
  t.after(() => hub.clock.stop());
  const client = hub.client();
  assert.equal(client.typing("sess_1"), false, "without a stream");
  const links: boolean[] = [];
  let last = 0;
  void hub.socket().then((end) => {
    end.hello("fresh", "c0");
    void hub.socket().then((next) => next.hello("replayed", "c0"));
    setImmediate(() => end.cut());
  });
  for await (const { link } of client.stream(new MemoryPosition())) {
    links.push(client.typing("sess_1"));
    if (link === "up" && links.length === 1) {
      last = hub.clock.now();
      assert.ok(client.typing("sess_1"), "again at once");
      assert.ok(client.typing("sess_2"), "another conversation");
      assert.deepEqual(hub.said, [told, told.replace("sess_1", "sess_2")]);
      hub.clock.sleep(3_000);
      assert.ok(client.typing("sess_1"));
      assert.deepEqual(hub.said.length, 3, `at ${hub.clock.now() - last} ms`);
      hub.clock.sleep(3_000);
    } else if (link === "up") {
      break;
    }
  }
  assert.deepEqual(links, [true, false, true], "up, down, up");
  assert.equal(client.typing("sess_1"), false, "the loop is over");
});

test("who types is known for six seconds, or until the message comes", async (t) => {
  const hub = new FakeHub();
  t.after(() => hub.clock.stop());
  const feed = hub.client().feed(new MemoryPosition("c0"), { begin: "missed" });
  void hub.socket().then((end) => {
    end.hello("replayed", "c0");
    end.send("typing", { user_id: "ada", session_id: "sess_1" });
    end.send("typing", { user_id: "ben", session_id: "sess_1" });
    end.send("typing", { user_id: "ada", session_id: "sess_2" });
    end.send("typing", { user_id: "ada", session_id: "sess_1" });
    end.send("message.new", { id: "msg_1", session_id: "sess_1", sender_id: "ben", seq_id: 1 }, "c1");
  });
  for await (const { frame } of feed.follow()) {
    if (frame?.type === "message.new") {
      break;
    }
    if (feed.typists("sess_2").length > 0) {
      assert.deepEqual(feed.typists("sess_1").sort(), ["ada", "ben"]);
    }
  }
  assert.deepEqual([feed.typists("sess_1"), feed.typists("sess_2"), feed.typists("sess_3")], [["ada"], ["ada"], []]);
  hub.clock.sleep(5_900);
  assert.deepEqual(feed.typists("sess_1"), ["ada"]);
  hub.clock.sleep(200);
  assert.deepEqual(feed.typists("sess_1"), []);
});
