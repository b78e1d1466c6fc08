import type { Item } from "./ask.js";
import type { Asked } from "./asked.js";
import type { Reducer } from "./reducer.js";
import { without } from "./recalled.js";
import type { Message } from "./types.gen.js";

/**
 * Tells messages as REST has them, in the frames that would have told of them: the message, who pinned it, each reaction. What the hub has no
 * more of these is taken back.
 */
export function* wholeMessages(messages: Item<Message>[], state: Reducer): Generator<Asked> {
  const held = heldOf(state);
  for (const { raw, value } of messages) {
    const about = { message_id: value.id, session_id: value.session_id };
    const dressed = value.reactions !== undefined || value.pinned !== undefined;
    yield { type: "message.new", raw: (dressed ? without(raw, ["reactions", "pinned"]) : undefined) ?? raw };
    const there = new Set<string>();
    if (value.pinned) {
      there.add(`pin ${value.session_id}/${value.id}`);
      yield { type: "message.pin", raw: JSON.stringify({ ...about, ...value.pinned }) };
    }
    for (const { reaction, count, user_ids } of value.reactions ?? []) {
      for (const user_id of user_ids) {
        there.add(`reaction ${value.id}/${user_id}/${reaction}`);
        yield { type: "message.reaction_added", raw: JSON.stringify({ action: "added", user_id, ...about, reaction, count }) };
      }
    }
    yield* gone(value, (held.get(value.id) ?? []).filter((key) => !there.has(key)).sort());
  }
}

/** The records of pins and reactions by their message. */
function heldOf(state: Reducer): Map<string, string[]> {
  const held = new Map<string, string[]>();
  for (const key of state.records().keys()) {
    const [record, rest = ""] = split(key, " ");
    const [first, second] = split(rest, "/");
    if (record === "pin" || record === "reaction") {
      const id = record === "pin" ? second : first;
      held.set(id, [...(held.get(id) ?? []), key]);
    }
  }
  return held;
}

/** Takes back what is held and not there. */
function* gone(message: Message, keys: string[]): Generator<Asked> {
  const about = { message_id: message.id, session_id: message.session_id };
  for (const key of keys) {
    if (key.startsWith("pin ")) {
      yield { type: "message.unpin", raw: JSON.stringify(about) };
      continue;
    }
    const [user_id, reaction] = split(key.slice(`reaction ${message.id}/`.length), "/");
    const count = message.reactions?.find((way) => way.reaction === reaction)?.count ?? 0;
    yield { type: "message.reaction_removed", raw: JSON.stringify({ action: "removed", user_id, ...about, reaction, count }) };
  }
}

/** What stands before and behind the first separator. */
function split(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + separator.length)];
}
