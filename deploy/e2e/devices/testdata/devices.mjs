// Plays devices for a test: it takes one command a line, as JSON, and answers each with one line.
import { createInterface } from "node:readline";
import { Client, MemoryKeeper, MemoryPosition, Reducer } from "@switchyard/client";

const devices = new Map();

const unreadOf = (reducer) => {
  const sessions = [...reducer.records().keys()].filter((key) => key.startsWith("session ")).map((key) => key.slice("session ".length));
  return Object.fromEntries(sessions.map((session) => [session, reducer.unread(session)]));
};

const stateOf = (reducer) => ({
  records: Object.fromEntries(reducer.records()), marks: Object.fromEntries(reducer.marks()), unread: unreadOf(reducer),
});

/** Follows until a message with this text comes, and says what has been put together by then. */
async function follow(feed, farewell) {
  for await (const { frame, isNew } of feed.follow()) {
    if (isNew && frame.type === "message.new" && frame.payload.content.text === farewell) {
      return stateOf(feed.state);
    }
  }
}

const commands = {
  /** Applies frames to a snapshot of its own. Lines of a log that came too early are applied when it is their turn. */
  reduce({ user, frames }) {
    const reducer = new Reducer();
    reducer.of(user);
    for (let left = frames, before = Infinity; left.length > 0 && left.length < before; ) {
      before = left.length;
      left = left.filter((frame) => reducer.apply(frame) === "missed");
    }
    return stateOf(reducer);
  },

  /** Lets a device follow from a place on. */
  follow({ name, hub, credentials, cursor, since, farewell }) {
    const client = new Client({ hub, keeper: new MemoryKeeper(credentials) });
    const feed = client.feed(new MemoryPosition(cursor), { begin: "missed", since: new Date(since) });
    devices.set(name, follow(feed, farewell));
    return {};
  },

  /** Waits until the device has seen its farewell. */
  async state({ name }) {
    const state = await devices.get(name);
    devices.delete(name);
    return state;
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { command, input } = JSON.parse(line);
  console.log(JSON.stringify(await commands[command](input)));
}
