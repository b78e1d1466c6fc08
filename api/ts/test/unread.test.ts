import assert from "node:assert/strict";
import { test } from "node:test";

import { type Frame, type FrameType, Reducer } from "../src/index.js";

type Told = Pick<Frame, "type" | "raw">;

const ME = "ada";
const PEOPLE = [ME, "bob"];

/** Numbers from 0 up to below n, the same for the same seed. */
function dice(seed: number): (n: number) => number {
  let state = seed * 2654435761 + 1;
  return (n) => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
}

function frame(type: FrameType, payload: object): Told {
  return { type, raw: JSON.stringify({ session_id: "s", ...payload }) };
}

/** A conversation as the hub has it, with the frames that tell of what happens in it. */
class Talk {
  readonly senders: string[] = []; // of the messages, from number 1 on
  readonly frames: Told[] = [frame("session.created", { type: "group", members: PEOPLE.map((member_id) => ({ member_id })) })];
  readonly #recalled = new Set<number>();
  readonly #marks = new Map<string, number>();
  #changes = 0;

  unread(user: string): number {
    const mark = this.#marks.get(user) ?? 0;
    return this.senders.filter((sender, i) => i >= mark && sender !== user && !this.#recalled.has(i + 1)).length;
  }

  /** What the hub has counted for a user. */
  reading(user: string): Told {
    const counted = { last_read_seq: this.#marks.get(user) ?? 0, last_seq: this.senders.length, last_change: this.#changes, unread: this.unread(user) };
    return frame("message.read", { user_id: user, ...counted });
  }

  /** What is said of a message now: one that was recalled says so, whenever it is told. */
  message(seq: number): Told {
    return frame("message.new", { id: `m${seq}`, seq_id: seq, sender_id: this.senders[seq - 1], recalled: this.#recalled.has(seq) });
  }

  /** One thing that somebody does. */
  happens(roll: (n: number) => number): void {
    const who = PEOPLE[roll(PEOPLE.length)] ?? ME;
    const seq = roll(this.senders.length + 1);
    const what = roll(10);
    if (what < 5) {
      this.senders.push(who);
      this.frames.push(this.message(this.senders.length));
    } else if (what < 7) {
      if (seq > (this.#marks.get(who) ?? 0)) {
        this.#marks.set(who, seq);
        this.frames.push(this.reading(who));
      }
    } else if (what === 7) {
      this.#changes++; // an edit, a pin or a reaction
    } else if (seq > 0 && !this.#recalled.has(seq)) {
      this.#recalled.add(seq);
      this.#changes++;
      const about = { message_id: `m${seq}`, seq_id: seq, sender_id: this.senders[seq - 1] };
      this.frames.push(frame("message.recall", { ...about, change_seq: this.#changes }));
    }
  }
}

/** What a device is told, in an order of its own and twice: from the beginning, or from a snapshot on, with some of what was before. */
function heard(roll: (n: number) => number): { talk: Talk; told: Told[] } {
  const talk = new Talk();
  for (let n = roll(30); n > 0; n--) {
    talk.happens(roll);
  }
  let told = [...talk.frames];
  if (roll(2) === 0) {
    const [created = talk.reading(ME)] = talk.frames;
    told = [created, talk.reading(ME), ...talk.frames.slice(roll(talk.frames.length))];
  }
  const known = talk.frames.length;
  for (let n = roll(30); n > 0; n--) {
    talk.happens(roll);
  }
  told.push(...talk.frames.slice(known));
  if (talk.senders.length > 0) {
    told.push(talk.message(1 + roll(talk.senders.length)));
  }
  const twice = [...told, ...told].map((one) => ({ one, at: roll(1 << 20) }));
  return { talk, told: twice.sort((a, b) => a.at - b.at).map(({ one }) => one) };
}

test("however late, often and in whichever order a device is told of a conversation, it counts as the hub does, also in another tab", () => {
  for (let seed = 1; seed <= 150; seed++) {
    const roll = dice(seed);
    const { talk, told } = heard(roll);
    const limits = { messages: [1, 3, Infinity][roll(3)] };
    let device = new Reducer(limits);
    device.of(ME);
    told.forEach((one, i) => {
      device.apply(one);
      if (i % 7 === 0) {
        device = Reducer.load(structuredClone(device.save()), limits);
      }
    });
    assert.equal(device.unread("s"), talk.unread(ME), `seed ${seed}`);
    assert.equal(device.badge, talk.unread(ME), `badge, seed ${seed}`);
  }
});

test("nothing is unread in a conversation that is not known, or for nobody", () => {
  const device = new Reducer();
  device.apply(frame("session.created", { members: [] }));
  assert.equal(device.unread("s"), undefined);
  device.of(ME);
  assert.equal(device.unread("s"), 0);
  device.apply(frame("message.new", { session_id: "other", id: "m", seq_id: 1, sender_id: "bob" }));
  assert.equal(device.unread("other"), undefined);
});

test("the badge leaves out what is muted or dissolved, and read marks are those of who is in", () => {
  const device = new Reducer();
  device.of(ME);
  for (const session_id of ["a", "b", "c"]) {
    device.apply(frame("session.created", { session_id, members: [{ member_id: ME }] }));
    device.apply(frame("message.new", { session_id, id: `m${session_id}`, seq_id: 1, sender_id: "bob" }));
  }
  assert.equal(device.badge, 3);
  device.apply(frame("session.info_updated", { session_id: "a", changes: { muted: true, settings_version: 1 } }));
  device.apply(frame("session.dissolved", { session_id: "b" }));
  assert.equal(device.badge, 1);
  for (const user_id of [ME, "eve"]) {
    device.apply(frame("message.read", { session_id: "c", user_id, last_read_seq: 1, last_seq: 1, last_change: 0, unread: 0 }));
  }
  assert.deepEqual([...device.readMarks("c")], [[ME, 1]]);
  assert.equal(device.badge, 0);
});
