import type { FrameType } from "./hubEvents.js";

/**
 * How many messages of a conversation were unread by the hub's count: those behind mark that are of others and were not taken back, when last was the
 * newest message and change the newest change of one.
 */
interface Counted {
  mark: number;
  last: number;
  change: number;
  unread: number;
}

/** What is counted of one conversation, as plain data. */
export interface TallyState extends Counted {
  session: string;
  newest: number;
  not: Array<[number, number]>;
}

/** What payloads say about unread messages. */
interface Said {
  session_id?: string;
  user_id?: string;
  sender_id?: string;
  seq_id?: number;
  recalled?: boolean;
  change_seq?: number;
  last_read_seq?: number;
  last_seq?: number;
  last_change?: number;
  unread?: number;
}

/** The hub's newest count of a conversation, with what has happened since. Whatever it is told of may come in any order and again. */
class Tally {
  counted: Counted = { mark: 0, last: 0, change: 0, unread: 0 };
  newest = 0;
  /** Messages that are not unread: 0 for own ones, the number of the change for those that were taken back. */
  readonly not = new Map<number, number>();

  unread(mark: number): number {
    // A mark beyond the count is of a hub that does not count.
    const c = mark > this.counted.mark ? { mark, last: mark, change: 0, unread: 0 } : this.counted;
    let n = c.unread + Math.max(0, this.newest - c.last);
    for (const [seq, change] of this.not) {
      n -= counts(c, seq, change) ? 1 : 0;
    }
    return Math.max(0, n);
  }

  /** Takes a count of the hub, if it is news: none of its three numbers ever goes back. What it knows already need not be kept. */
  count(c: Counted): void {
    this.newest = Math.max(this.newest, c.last);
    const { mark, last, change } = this.counted;
    if ((c.mark - mark || c.last - last || c.change - change) <= 0) {
      return;
    }
    this.counted = c;
    for (const [seq, at] of this.not) {
      if (!counts(c, seq, at)) {
        this.not.delete(seq);
      }
    }
  }

  /** Takes a message out of what is unread. */
  except(seq: number, change: number): void {
    const at = Math.max(change, this.not.get(seq) ?? 0);
    if (counts(this.counted, seq, at)) {
      this.not.set(seq, at);
    }
  }
}

/** Whether a count has as unread what is not. */
function counts({ mark, last, change }: Counted, seq: number, at: number): boolean {
  return seq > mark && (seq > last || at > change);
}

/** Counts what one user has not read, by conversation. */
export class Tallies {
  readonly #all = new Map<string, Tally>();

  /** How many messages are unread, given how far the user has read. */
  unread(session: string, mark: number): number {
    return this.#of(session).unread(mark);
  }

  /** Notes what a frame says about unread messages of a user, whatever else becomes of it. */
  note(type: FrameType, raw: string, me: string): void {
    if (type !== "message.new" && type !== "message.recall" && type !== "message.read" && type !== "session.created") {
      return;
    }
    const said = saidOf(raw);
    const { session_id, seq_id = 0, last_seq, change_seq = 0, unread } = said;
    if (!session_id) {
      return;
    }
    const tally = this.#of(session_id);
    if (type === "message.read") {
      if (said.user_id === me && last_seq !== undefined && unread !== undefined) {
        tally.count({ mark: said.last_read_seq ?? 0, last: last_seq, change: said.last_change ?? 0, unread });
      }
    } else if (type === "session.created") {
      if (last_seq !== undefined) {
        tally.count({ mark: last_seq, last: last_seq, change: 0, unread: 0 }); // who joins has read what there is
      }
    } else {
      tally.newest = Math.max(tally.newest, seq_id);
      if (said.sender_id === me) {
        tally.except(seq_id, 0);
      } else if (said.recalled || type === "message.recall") {
        tally.except(seq_id, change_seq);
      }
    }
  }

  /** Forgets a conversation, or all of them. */
  forget(session?: string): void {
    if (session === undefined) {
      this.#all.clear();
    } else {
      this.#all.delete(session);
    }
  }

  save(): TallyState[] {
    return Array.from(this.#all, ([session, { counted, newest, not }]) => ({ session, ...counted, newest, not: [...not] }));
  }

  static load(state: TallyState[] = []): Tallies {
    const tallies = new Tallies();
    for (const { session, newest, not, mark, last, change, unread } of state) {
      const tally = tallies.#of(session);
      tally.counted = { mark, last, change, unread };
      tally.newest = newest;
      not.forEach(([seq, at]) => tally.not.set(seq, at));
    }
    return tallies;
  }

  #of(session: string): Tally {
    let tally = this.#all.get(session);
    if (!tally) {
      this.#all.set(session, (tally = new Tally()));
    }
    return tally;
  }
}

/** Of what has another form nothing is known. */
function saidOf(raw: string): Said {
  try {
    return (JSON.parse(raw) as Said | null) ?? {};
  } catch {
    return {};
  }
}
