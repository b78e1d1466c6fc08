import { questions } from "./bubble.js";
import { Chain } from "./digest.js";
import { type Frame, keyFields, listed, ruleOf } from "./frame.js";
import type { FrameType, Rule } from "./hubEvents.js";
import { canonical, elements, members } from "./json.js";
import { type Limits, Memory, type MemoryState } from "./memory.js";
import { edited } from "./membership.js";
import { merged } from "./merge.js";
import { isRecalled, older, recallOf, remains, without } from "./recalled.js";
import type { Message, SessionCreatedPayload } from "./types.gen.js";
import { Tallies, type TallyState } from "./unread.js";

/**
 * What `Reducer.apply` did with a frame. `ignored`: not kept, for it is ephemeral, about the connection, unknown, or without its key.
 * `applied`: new, or a new version of a record. `repeated`: known already, nothing changed. `missed`: a line of a run's log, but not the next
 * one; nothing changed, fetch the events after `watermark` first.
 */
export type Verdict = "ignored" | "applied" | "repeated" | "missed";

/** A reducer as plain data, for another tab or a store. */
export interface ReducerState {
  records: Array<[string, string]>;
  marks: Array<[string, bigint]>;
  all: { link: string; length: number };
  runs: Array<[string, { link: string; length: number }]>;
  me: string;
  /** Absent in the state of an older SDK, which forgets nothing. */
  memory?: MemoryState;
  /** Absent in the state of an older SDK, which does not count. */
  unread?: TallyState[];
}

/** The one record that hubs do not keep: how friends stand, the last that was told of each. */
const PRESENCE = "presence";

/** The record that is also part of another one, of the conversation. */
const MEMBERSHIP = "member";

/** Applies frames by business key into a snapshot, so that a frame that comes twice counts once. Of the past it keeps as much as `Limits` say. */
export class Reducer {
  #records = new Map<string, string>(); // payloads as they came, by record and key
  #marks = new Map<string, bigint>(); // numbers that only grow, by record and key; the last event_seq of each run among them
  #all = new Chain();
  #runs = new Map<string, Chain>();
  #me = "";
  #memory: Memory;
  #tallies = new Tallies();

  constructor(limits: Limits = {}) {
    this.#memory = new Memory(this.#records, limits);
  }

  /** Says whose snapshot this is: a conversation that this user leaves is forgotten. */
  of(user: string): void {
    this.#me = user;
  }

  /** Whose snapshot this is; "" if nobody has said so. */
  get user(): string {
    return this.#me;
  }

  /** Applies one frame. */
  apply(frame: Pick<Frame, "type" | "raw">): Verdict {
    const rule = ruleOf(frame.type);
    if (rule?.effect === "whole") {
      return this.#replace(rule, frame.raw);
    }
    const parts = rule && rule.effect !== "ignored" ? keyFields(frame.raw, rule.key) : undefined;
    if (!rule || !parts) {
      return "ignored";
    }
    this.#tallies.note(frame.type, frame.raw, this.#me);
    let verdict: Verdict = this.#memory.past(rule, parts, frame.raw) ?? this.#present(rule, parts, frame.raw);
    if (rule.record === MEMBERSHIP && this.#member(rule, parts, frame.raw)) {
      verdict = "applied";
    }
    if (verdict === "applied" && rule.record !== PRESENCE) {
      this.#all.add(`${frame.type} ${parts.join("/")}`, frame.raw);
    }
    return verdict;
  }

  /** Applies a frame that is about nothing forgotten. */
  #present(rule: Rule, parts: string[], raw: string): Verdict {
    const left = this.#asRecalled(rule, parts, raw);
    const verdict: Verdict = left === undefined ? "repeated" : this.#apply(rule, parts, left);
    if (verdict !== "applied") {
      return verdict;
    }
    if (rule.record === "recall") {
      this.#recalled(parts[0] ?? "");
    }
    this.#memory.remember(rule, parts, raw);
    return verdict;
  }

  /**
   * What a payload comes to where its message was recalled, undefined if nothing is left of it: a recall stands whatever comes later. A message
   * that says itself that it was recalled is as good as message.recall.
   */
  #asRecalled(rule: Rule, parts: string[], raw: string): string | undefined {
    const gone = (id = "") => this.#records.has(recordKey("recall", id));
    const [first = "", second = ""] = parts;
    if (rule.record === "message") {
      if (isRecalled(raw) && !gone(first)) {
        this.#records.set(recordKey("recall", first), recallOf(raw));
        this.#records.delete(recordKey("message", first)); // whichever version it was
        this.#recalled(first);
      }
      return gone(first) ? remains(raw) : raw;
    }
    const about = rule.record === "pin" ? second : rule.record === "reaction" ? first : undefined;
    return about !== undefined && rule.effect === "put" && gone(about) ? undefined : raw;
  }

  /** Makes of a message, if it is known, what is left of it. */
  #recalled(id: string): void {
    const key = recordKey("message", id);
    const before = this.#records.get(key);
    if (before !== undefined) {
      this.#records.set(key, remains(before));
    }
    for (const key of this.#records.keys()) {
      if (key.startsWith(recordKey("reaction", id, "")) || (key.startsWith("pin ") && key.endsWith(`/${id}`))) {
        this.#records.delete(key);
      }
    }
  }

  #apply(rule: Rule, parts: string[], raw: string): Verdict {
    if (rule.effect === "forward") {
      return this.#forward(rule, parts);
    }
    if (rule.effect === "appended") {
      return this.#append(rule, parts, raw);
    }
    const key = recordKey(rule.record, ...parts);
    const before = this.#records.get(key);
    if (rule.effect === "remove") {
      return this.#records.delete(key) ? "applied" : "repeated";
    }
    if (before !== undefined && rule.version && older(raw, before, rule.version)) {
      return "repeated";
    }
    const record = rule.omit ? without(raw, rule.omit) : raw;
    const after = rule.effect === "merge" && record !== undefined ? merged(before, record) : record;
    if (after === undefined) {
      return "ignored";
    }
    if (before !== undefined && (rule.effect === "once" || same(before, after) || (rule.final && stays(before, after, rule.final)))) {
      return "repeated";
    }
    this.#records.set(key, after);
    return "applied";
  }

  /** Makes the records of a kind those that a payload lists. */
  #replace(rule: Rule, raw: string): Verdict {
    const items = elements(listed(rule, raw) ?? "");
    if (!items) {
      return "ignored";
    }
    const after = new Map<string, string>();
    for (const item of items) {
      const parts = keyFields(item, [rule.of ?? ""]);
      if (!parts) {
        return "ignored";
      }
      after.set(recordKey(rule.record, ...parts), item);
    }
    const before = [...this.#records].filter(([key]) => key.startsWith(`${rule.record} `));
    if (before.length === after.size && before.every(([key, record]) => same(record, after.get(key) ?? ""))) {
      return "repeated";
    }
    before.forEach(([key]) => this.#records.delete(key));
    after.forEach((item, key) => this.#records.set(key, item));
    return "applied";
  }

  /** Says that a connection begins: versions of presence are those of the hub that tells them, and the next one may be another. */
  connected(): void {
    for (const [key, record] of this.#records) {
      if (key.startsWith(`${PRESENCE} `)) {
        this.#records.set(key, without(record, ["version"]) ?? record);
      }
    }
  }

  /** Edits who is in a conversation that is known; false if that changes nothing. */
  #member(rule: Rule, [session = "", member = ""]: string[], raw: string): boolean {
    if (rule.effect === "remove" && member === this.#me) {
      return this.#leave(session);
    }
    const key = recordKey("session", session);
    const record = this.#records.get(key);
    if (record === undefined) {
      return false;
    }
    const after = edited(record, member, rule.effect === "remove" ? { left: true } : { joined: raw });
    if (same(record, after)) {
      return false;
    }
    this.#records.set(key, after);
    return true;
  }

  /** Forgets a conversation, and what is asked in it: whoever has left is not told how that ends. It says whether there was anything. */
  #leave(session: string): boolean {
    const before = this.#records.size;
    this.#records.delete(recordKey("session", session));
    this.#tallies.forget(session);
    for (const { session_id, request_id } of questions(this)) {
      if (session_id === session) {
        this.forget("notification", request_id);
      }
    }
    return this.#records.size < before;
  }

  #forward(rule: Rule, parts: string[]): Verdict {
    const number = integer(parts.at(-1));
    const key = recordKey(rule.record, ...parts.slice(0, -1));
    if (number === undefined) {
      return "ignored";
    }
    if (number <= this.#mark(key)) {
      return "repeated";
    }
    this.#marks.set(key, number);
    return "applied";
  }

  #append(rule: Rule, parts: string[], raw: string): Verdict {
    const [run = "", number] = parts;
    const seq = integer(number);
    const key = recordKey(rule.record, run);
    const mark = this.#mark(key);
    if (seq === undefined) {
      return "ignored";
    }
    if (seq <= mark) {
      return "repeated";
    }
    if (seq > mark + 1n) {
      return "missed";
    }
    this.#marks.set(key, seq);
    this.#logOf(run).addEvent(seq, raw);
    return "applied";
  }

  #mark(key: string): bigint {
    return this.#marks.get(key) ?? 0n;
  }

  #logOf(run: string): Chain {
    let chain = this.#runs.get(run);
    if (!chain) {
      this.#runs.set(run, (chain = new Chain()));
    }
    return chain;
  }

  /** The last event_seq of the run's log that was applied, 0 if none was. */
  watermark(run: string): number {
    return Number(this.#mark(recordKey("log", run)));
  }

  /** Makes the next event of a run the one after seq, for a caller who does not want what came before. */
  begin(run: string, seq: number): void {
    this.#marks.set(recordKey("log", run), BigInt(seq));
  }

  /** The newest version of a message, undefined if none was applied. */
  message(id: string): Message | undefined {
    return this.record("message", id) as Message | undefined;
  }

  /** The payload of one record, such as `record("pin", session, message)`; undefined if there is none. `RULES` has the names. */
  record(record: string, ...key: string[]): unknown {
    const raw = this.#records.get(recordKey(record, ...key));
    return raw === undefined ? undefined : JSON.parse(raw);
  }

  /** The payloads of all records of a kind, in the order of their keys. */
  recordsOf(record: string): unknown[] {
    const keys = [...this.#records.keys()].filter((key) => key.startsWith(`${record} `)).sort();
    return keys.map((key) => JSON.parse(this.#records.get(key) ?? "null"));
  }

  /** What was put together, by record and key, such as "message msg_01912f5c": the text of the newest payload of each. */
  records(): Map<string, string> {
    return new Map(this.#records);
  }

  /** The numbers that only grow: the last event of each run as "log run_9f2c", how far each user has read as "read SESSION/USER". */
  marks(): Map<string, number> {
    return new Map(Array.from(this.#marks, ([key, mark]) => [key, Number(mark)]));
  }

  /**
   * How many messages of a conversation this user has not read: those behind the read mark that others sent and did not take back. It is what a fresh
   * list of conversations would say, on each of the user's devices. Undefined if the conversation is not known.
   */
  unread(session: string): number | undefined {
    const known = this.#me !== "" && this.#records.has(recordKey("session", session));
    return known ? this.#tallies.unread(session, this.#readBy(session, this.#me)) : undefined;
  }

  /** How many messages are unread in all conversations together, without those that are muted or dissolved. */
  get badge(): number {
    const sessions = this.recordsOf("session") as SessionCreatedPayload[];
    const loud = sessions.filter(({ session_id, muted }) => !muted && !this.#records.has(recordKey("session.dissolved", session_id)));
    return loud.reduce((all, { session_id }) => all + (this.unread(session_id) ?? 0), 0);
  }

  /** How far those have read who are in a conversation; who has read nothing is not in it. */
  readMarks(session: string): Map<string, number> {
    const record = this.record("session", session) as Partial<SessionCreatedPayload> | undefined;
    const marks = (record?.members ?? []).map(({ member_id }) => [member_id, this.#readBy(session, member_id)] as const);
    return new Map(marks.filter(([, mark]) => mark > 0));
  }

  #readBy(session: string, user: string): number {
    return Number(this.#mark(recordKey("read", session, user)));
  }

  /** Forgets what was counted by the numbers of another record. */
  recount(): void {
    this.#tallies.forget();
  }

  /** Forgets one record. */
  forget(record: string, ...key: string[]): void {
    this.#records.delete(recordKey(record, ...key));
  }

  /** Forgets the records of a kind whose key is not among keep: a list of all there are does not have them. */
  retain(record: string, keep: ReadonlySet<string>): void {
    for (const key of this.#records.keys()) {
      if (key.startsWith(`${record} `) && !keep.has(key.slice(record.length + 1))) {
        this.#records.delete(key);
      }
    }
  }

  /** The type of the frame that ended the run: agent.done, agent.failed or agent.cancel; undefined if none has. */
  outcome(run: string): FrameType | undefined {
    const ends = ["agent.done", "agent.failed", "agent.cancel"] as const;
    return ends.find((type) => this.#records.has(recordKey(type, run))) ?? this.#memory.outcome(run);
  }

  /** How many frames of the record were applied. */
  get length(): number {
    return this.#all.length;
  }

  /**
   * Over all frames of the record that were applied, in their order: two devices with the same digest have seen the same. Presence is no part
   * of the record.
   */
  get digest(): string {
    return this.#all.toString();
  }

  /** Over the events of one run that were applied. It equals the LogDigest of the Go SDK over the same events. */
  runDigest(run: string): string {
    return this.#logOf(run).toString();
  }

  /** The whole snapshot as plain data. */
  save(): ReducerState {
    return {
      records: [...this.#records],
      marks: [...this.#marks],
      all: this.#all.save(),
      runs: [...this.#runs].map(([run, chain]) => [run, chain.save()]),
      me: this.#me,
      memory: this.#memory.save(),
      unread: this.#tallies.save(),
    };
  }

  static load(state: ReducerState, limits: Limits = {}): Reducer {
    const reducer = new Reducer(limits);
    reducer.#records = new Map(state.records);
    reducer.#marks = new Map(state.marks);
    reducer.#all = Chain.load(state.all);
    reducer.#runs = new Map(state.runs.map(([run, chain]) => [run, Chain.load(chain)]));
    reducer.#me = state.me;
    reducer.#memory = new Memory(reducer.#records, limits, state.memory);
    reducer.#tallies = Tallies.load(state.unread);
    return reducer;
  }
}

function recordKey(record: string, ...parts: string[]): string {
  return `${record} ${parts.join("/")}`;
}

/** Whether two payloads are the same value, however they are written: one may come from the socket, one from REST. */
function same(a: string, b: string): boolean {
  if (a === b) {
    return true;
  }
  try {
    return canonical(a) === canonical(b);
  } catch {
    return false; // nested too deep to be compared
  }
}

/** Whether a field that is true in a record would become false. */
function stays(before: string, after: string, field: string): boolean {
  return members(before)?.get(field) === "true" && members(after)?.get(field) !== "true";
}

/** A whole number of 64 bits, undefined if text is none. */
function integer(text: string | undefined): bigint | undefined {
  if (!text || !/^[+-]?\d+$/.test(text)) {
    return undefined;
  }
  const number = BigInt(text.replace("+", ""));
  return number === BigInt.asIntN(64, number) ? number : undefined;
}
