import type { FrameType, Rule } from "./hubEvents.js";

/** How much of the past is kept if nobody says. */
const KEPT_BY_DEFAULT = 10_000;

const ENDS: readonly string[] = ["agent.done", "agent.failed", "agent.cancel"] satisfies FrameType[];

/**
 * How much of the past a reducer keeps; 10,000 of each if absent, `Infinity` for all. Beyond it the oldest is forgotten: of a conversation the messages
 * with the lowest numbers, with their reactions and recalls; of the runs those that ended first, with what was asked in them and needs no answer. Never
 * forgotten are open questions, conversations and who is in them, how much is unread, pins, marks, runs under way, and of every run its outcome,
 * watermark and digest.
 *
 * What is told does not depend on the limits, but for one thing: an edit, a reaction or a recall of a forgotten message counts as new each time that it
 * comes, and is not kept. Hubs repeat only what is recent, so with limits of hundreds this is never seen, and `digest` is that of a reducer without limits.
 */
export interface Limits {
  /** Of each conversation. */
  messages?: number;
  /** That have ended. */
  runs?: number;
}

/** What was forgotten, as plain data. */
export interface MemoryState {
  floors: Array<[string, number]>;
  ended: string[];
  outcomes: Array<[string, string]>;
}

/** A message in the order of its conversation. */
interface Numbered {
  seq: number;
  id: string;
}

/** What the payloads of messages and questions say about what they belong to. */
interface Concern {
  session_id?: string;
  seq_id?: number;
  edited_at?: unknown;
  recalled?: boolean;
  read?: boolean;
  payload?: { task_id?: string };
}

/** What of a reducer's records may be forgotten, in the order in which it is. */
export class Memory {
  readonly #records: Map<string, string>;
  readonly #limits: Limits;
  readonly #messages = new Map<string, Numbered[]>(); // by conversation
  readonly #floors: Map<string, number>; // the newest message that was forgotten, by conversation
  readonly #ended: string[]; // and kept; the one that ended first in front
  readonly #outcomes: Map<string, string>; // of the runs that were forgotten
  readonly #tied = new Map<string, Set<string>>(); // keys of records that go with a message or a run, by its key

  constructor(records: Map<string, string>, limits: Limits, state: Partial<MemoryState> = {}) {
    this.#records = records;
    this.#limits = limits;
    this.#floors = new Map(state.floors);
    this.#outcomes = new Map(state.outcomes);
    this.#ended = [...(state.ended ?? [])];
    for (const [key, raw] of [...records]) {
      this.#index(key.slice(0, key.indexOf(" ")), key, key.slice(key.indexOf(" ") + 1).split("/")[0] ?? "", raw);
    }
  }

  save(): MemoryState {
    return { floors: [...this.#floors], ended: [...this.#ended], outcomes: [...this.#outcomes] };
  }

  /** How a run ended that was forgotten. */
  outcome(run: string): FrameType | undefined {
    return this.#outcomes.get(run) as FrameType | undefined;
  }

  /** What a frame comes to that is about something forgotten; undefined if it is about anything else. */
  past(rule: Rule, [first = ""]: string[], raw: string): "applied" | "repeated" | undefined {
    if (this.#floors.size === 0 && this.#outcomes.size === 0) {
      return undefined;
    }
    switch (rule.record) {
      case "message":
        return this.#records.has(`message ${first}`) ? undefined : this.#pastMessage(concernOf(raw));
      case "recall":
      case "reaction":
        return !this.#records.has(`message ${first}`) && this.#floor(concernOf(raw)) > 0 ? "applied" : undefined;
      case "dispatch":
      case "control":
        return this.#outcomes.has(first) ? "repeated" : undefined;
      case "notification": {
        const about = this.#records.has(`notification ${first}`) ? undefined : concernOf(raw);
        return about?.read && this.#outcomes.has(about.payload?.task_id ?? "") ? "repeated" : undefined;
      }
    }
    return ENDS.includes(rule.record) && this.#outcomes.get(first) === rule.record ? "repeated" : undefined;
  }

  /** Everything up to the floor was told, so only an edit or a recall may be news. */
  #pastMessage(message: Concern): "applied" | "repeated" | undefined {
    if ((message.seq_id ?? 0) > this.#floor(message)) {
      return undefined;
    }
    return message.recalled || message.edited_at ? "applied" : "repeated";
  }

  #floor({ session_id = "" }: Concern): number {
    return this.#floors.get(session_id) ?? 0;
  }

  /** Notes what a record that was applied belongs to, and forgets what is too old then. */
  remember(rule: Rule, parts: string[], raw: string): void {
    const [first = ""] = parts;
    const key = `${rule.record} ${parts.join("/")}`;
    if (rule.effect === "remove") {
      this.#tied.get(`message ${first}`)?.delete(key);
      return;
    }
    this.#index(rule.record, key, first, raw);
    if (rule.record === "message") {
      this.#forgetMessages(concernOf(raw).session_id ?? "");
    } else if (ENDS.includes(rule.record) && !this.#outcomes.has(first) && !this.#ended.includes(first)) {
      this.#ended.push(first);
      this.#forgetRuns();
    } else if (rule.record === "notification") {
      const run = concernOf(raw).payload?.task_id ?? "";
      if (this.#outcomes.has(run)) {
        this.#forgetRun(run);
      }
    }
  }

  /** Notes what a record goes with. */
  #index(record: string, key: string, first: string, raw: string): void {
    if (record === "message") {
      const { session_id = "", seq_id: seq = 0 } = concernOf(raw);
      if (this.#records.has(`recall ${first}`)) {
        this.#tie(key, `recall ${first}`);
      }
      this.#number(session_id, { seq, id: first });
    } else if (record === "recall" || record === "reaction") {
      this.#tie(`message ${first}`, key);
    } else if (record === "dispatch" || record === "control" || ENDS.includes(record)) {
      this.#tie(`run ${first}`, key);
    } else if (record === "notification") {
      const run = concernOf(raw).payload?.task_id;
      if (run) {
        this.#tie(`run ${run}`, key);
      }
    }
  }

  #tie(owner: string, key: string): void {
    const all = this.#tied.get(owner);
    if (all) {
      all.add(key);
    } else {
      this.#tied.set(owner, new Set([key]));
    }
  }

  /** Puts a message at its place. One without a conversation or a number is never forgotten. */
  #number(session: string, news: Numbered): void {
    if (session === "" || news.seq <= 0) {
      return;
    }
    const all = this.#messages.get(session) ?? [];
    this.#messages.set(session, all);
    let at = all.length;
    while (at > 0 && (all[at - 1]?.seq ?? 0) > news.seq) {
      at--;
    }
    if (all[at - 1]?.seq !== news.seq) {
      all.splice(at, 0, news);
    }
  }

  #forgetMessages(session: string): void {
    const all = this.#messages.get(session) ?? [];
    for (const { seq, id } of all.splice(0, all.length - (this.#limits.messages ?? KEPT_BY_DEFAULT))) {
      const key = `message ${id}`;
      for (const tied of this.#tied.get(key) ?? []) {
        this.#records.delete(tied);
      }
      this.#tied.delete(key);
      this.#records.delete(key);
      this.#floors.set(session, Math.max(seq, this.#floors.get(session) ?? 0));
    }
  }

  #forgetRuns(): void {
    while (this.#ended.length > (this.#limits.runs ?? KEPT_BY_DEFAULT)) {
      const run = this.#ended.shift() ?? "";
      this.#outcomes.set(run, ENDS.find((type) => this.#records.has(`${type} ${run}`)) ?? "");
      this.#forgetRun(run);
    }
  }

  /** Forgets what is tied to a run, but for questions that are open. */
  #forgetRun(run: string): void {
    const tied = this.#tied.get(`run ${run}`);
    for (const key of [...(tied ?? [])]) {
      if (!key.startsWith("notification ") || concernOf(this.#records.get(key) ?? "{}").read) {
        this.#records.delete(key);
        tied?.delete(key);
      }
    }
    if (!tied?.size) {
      this.#tied.delete(`run ${run}`);
    }
  }
}

/** Of what has another form nothing is known. */
function concernOf(raw: string): Concern {
  try {
    return (JSON.parse(raw) as Concern | null) ?? {};
  } catch {
    return {};
  }
}
