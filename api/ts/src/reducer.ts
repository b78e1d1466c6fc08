import { Chain } from "./digest.js";
import { type Frame, keyFields, ruleOf } from "./frame.js";
import type { FrameType, Rule } from "./hubEvents.js";
import { canonical, members, object } from "./json.js";
import { edited } from "./membership.js";
import type { Message } from "./types.gen.js";

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
}

/** The one record that hubs do not keep. */
const PRESENCE = "presence";

/** The record that is also part of another one, of the conversation. */
const MEMBERSHIP = "member";

/** Applies frames by business key into a snapshot, so that a frame that comes twice counts once. */
export class Reducer {
  #records = new Map<string, string>(); // payloads as they came, by record and key
  #marks = new Map<string, bigint>(); // numbers that only grow, by record and key; the last event_seq of each run among them
  #all = new Chain();
  #runs = new Map<string, Chain>();
  #me = "";

  /** Says whose snapshot this is: a conversation that this user leaves is forgotten. */
  of(user: string): void {
    this.#me = user;
  }

  /** Applies one frame. */
  apply(frame: Pick<Frame, "type" | "raw">): Verdict {
    const rule = ruleOf(frame.type);
    const parts = rule && rule.effect !== "ignored" ? keyFields(frame.raw, rule.key) : undefined;
    if (!rule || !parts) {
      return "ignored";
    }
    let verdict = this.#apply(rule, parts, frame.raw);
    if (rule.record === MEMBERSHIP && this.#member(rule, parts, frame.raw)) {
      verdict = "applied";
    }
    if (verdict === "applied" && rule.record !== PRESENCE) {
      this.#all.add(`${frame.type} ${parts.join("/")}`, frame.raw);
    }
    return verdict;
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
    const after = rule.effect === "merge" ? merged(before, raw) : raw;
    if (after === undefined) {
      return "ignored";
    }
    if (before !== undefined && (rule.effect === "once" || same(before, after))) {
      return "repeated";
    }
    this.#records.set(key, after);
    return "applied";
  }

  /** Edits who is in a conversation that is known; false if that changes nothing. */
  #member(rule: Rule, [session = "", member = ""]: string[], raw: string): boolean {
    const key = recordKey("session", session);
    const record = this.#records.get(key);
    if (record === undefined) {
      return false;
    }
    if (rule.effect === "remove" && member === this.#me) {
      return this.#records.delete(key);
    }
    const after = edited(record, member, rule.effect === "remove" ? { left: true } : { joined: raw });
    if (same(record, after)) {
      return false;
    }
    this.#records.set(key, after);
    return true;
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
    return ends.find((type) => this.#records.has(recordKey(type, run)));
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
    };
  }

  static load(state: ReducerState): Reducer {
    const reducer = new Reducer();
    reducer.#records = new Map(state.records);
    reducer.#marks = new Map(state.marks);
    reducer.#all = Chain.load(state.all);
    reducer.#runs = new Map(state.runs.map(([run, chain]) => [run, Chain.load(chain)]));
    reducer.#me = state.me;
    return reducer;
  }
}

function recordKey(record: string, ...parts: string[]): string {
  return `${record} ${parts.join("/")}`;
}

/** A record after a frame whose fields win. The fields of session.info_updated stand in its `changes`. Undefined if they are no object. */
function merged(record: string | undefined, raw: string): string | undefined {
  const news = members(raw);
  const changes = news?.get("changes") ?? "{}";
  const changed = members(changes === "null" ? "{}" : changes);
  if (!news || !changed) {
    return undefined;
  }
  news.delete("changes");
  return object(new Map([...(members(record ?? "{}") ?? []), ...news, ...changed]));
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

/** A whole number of 64 bits, undefined if text is none. */
function integer(text: string | undefined): bigint | undefined {
  if (!text || !/^[+-]?\d+$/.test(text)) {
    return undefined;
  }
  const number = BigInt(text.replace("+", ""));
  return number === BigInt.asIntN(64, number) ? number : undefined;
}
