import { type Channel, type Message, plain, type Surroundings, unplain } from "./channel.js";
import type { Clock } from "./clock.js";
import type { Feed } from "./feed.js";
import type { Position } from "./position.js";
import { KickedError, LoggedOutError, messageOf } from "./problem.js";
import type { Reducer } from "./reducer.js";
import { Teller } from "./typing.js";
import type { Update } from "./update.js";
import { uuid } from "./uuid.js";

/** How many updates may wait for a tab that is slow. Beyond it they are forgotten, and the tab asks for the whole state. */
const MAX_WAITING = 10_000;

/** How long the leader may leave a tab without an answer before the tab says so and asks again, in milliseconds. */
const SAY_AFTER = 10_000;

/** Makes the feed of a tab, over a position. */
export type FeedMaker = (at: Position, signal: AbortSignal) => Feed;

/** What a shared feed is made of. */
export interface SharedParts {
  /** Of the device: tabs with one name share one connection. */
  name: string;
  feed: FeedMaker;
  /** Kept in the profile; written by the leader alone. */
  position: Position;
  around: Surroundings;
  clock: Clock;
  /** Tells over this tab's connection, which it has if it leads, that the user types; false if it has none. */
  typing: (session: string) => boolean;
}

const UNANSWERED = "another tab of this browser profile has the connection and does not answer: the browser may have frozen it. Show that tab, or close it";

/** Where the state of this tab stands: after the nth update of a leadership. */
interface Place {
  term: string;
  n: number;
  cursor: string; // the newest one that the state covers
}

/**
 * One feed for all tabs of a browser profile. The tab that holds the lock is the leader: it has the only connection, applies what comes, tells
 * the other tabs and then keeps the cursor. When it goes, the browser gives the lock to another tab, which goes on from the place that its own
 * state has reached: the kept cursor, or one step beyond.
 */
export class SharedFeed {
  readonly #parts: SharedParts;
  readonly #me = uuid();
  readonly #leave = new AbortController();
  readonly #feed: Feed;
  readonly #channel: Channel;
  readonly #teller: Teller;
  #place: Place | undefined; // undefined: this tab lacks something
  #waiting: Update[] = [];
  #wake: (() => void) | undefined;
  #release: (() => void) | undefined; // set while this tab leads
  #end: Error | undefined;

  constructor(parts: SharedParts) {
    this.#parts = parts;
    this.#channel = parts.around.channel(parts.name);
    this.#teller = new Teller(parts.clock, (session) => this.#typing(session));
    this.#feed = parts.feed(
      { loadCursor: () => this.#place?.cursor || parts.position.loadCursor(), saveCursor: (cursor) => parts.position.saveCursor(cursor) },
      this.#leave.signal,
    );
  }

  /** What was told so far, put together. Show this: a tab that joins gets it as a whole, not update by update. */
  get state(): Reducer {
    return this.#feed.state;
  }

  /** Whether this tab has the connection. */
  get leading(): boolean {
    return this.#release !== undefined;
  }

  /** The users who type in a conversation at this moment; see `Feed.typists`. */
  typists(session: string): string[] {
    return this.#feed.typists(session);
  }

  /** Tells the others of a conversation that this user types, over the connection that some tab has; see `Client.typing`. */
  typing(session: string): void {
    this.#teller.typing(session);
  }

  /**
   * Tells updates for as long as the caller iterates, in every tab, whichever has the connection. `ready` says that `state` is whole. An `error`
   * with nothing else says that the tab with the connection does not answer; it is asked again. It ends as `Feed.follow` does, in all tabs. Once only; the end of the signal, of the loop or of the tab leaves the others going.
   */
  async *follow(signal?: AbortSignal): AsyncGenerator<Update, void, void> {
    const stop = () => this.#fail(asError(signal?.reason));
    signal?.addEventListener("abort", stop);
    this.#channel.onmessage = ({ data }) => this.#hear(data);
    const held = this.#wait();
    try {
      signal?.throwIfAborted();
      this.#tell({ kind: "join", from: this.#me });
      yield* this.#listen();
      yield* this.#lead();
    } finally {
      signal?.removeEventListener("abort", stop);
      this.#channel.close();
      this.#leave.abort(new Error("left"));
      this.#release?.();
      await held;
    }
  }

  /** Waits for the lock, and holds it until this tab leaves. */
  async #wait(): Promise<void> {
    try {
      await this.#parts.around.locks.request(this.#parts.name, { signal: this.#leave.signal }, async () => {
        const held = new Promise<void>((resolve) => (this.#release = resolve));
        this.#wake?.();
        await held;
      });
    } catch (error) {
      this.#fail(asError(error));
    }
  }

  /** Tells what the leader tells, until this tab leads. */
  async *#listen(): AsyncGenerator<Update, void, void> {
    for (;;) {
      const update = this.#waiting.shift();
      if (update) {
        yield update;
      } else if (this.#end) {
        throw this.#end;
      } else if (this.leading) {
        return;
      } else if (await this.#unanswered()) {
        yield { snapshot: false, isNew: false, asked: false, ready: false, cursor: "", error: new Error(UNANSWERED) };
        this.#tell({ kind: "join", from: this.#me });
      }
    }
  }

  /** Waits until something happens here. True if this tab has asked the leader for the whole, and has no answer for so long. */
  async #unanswered(): Promise<boolean> {
    let late = false;
    await new Promise<void>((resolve) => {
      const passed = () => {
        late = true;
        resolve();
      };
      const stop = this.#place ? () => {} : this.#parts.clock.after(SAY_AFTER, passed);
      this.#wake = () => {
        stop();
        resolve();
      };
    });
    return late;
  }

  #typing(session: string): boolean {
    if (this.leading) {
      return this.#parts.typing(session);
    }
    this.#tell({ kind: "typing", session });
    return true;
  }

  async *#lead(): AsyncGenerator<Update, void, void> {
    const term = uuid();
    const cursor = this.#place?.cursor ?? "";
    let resync = !this.#feed.ready; // a snapshot says more, and forgets more, than the updates tell
    const place = (this.#place = { term, n: 0, cursor });
    this.#tell({ kind: "lead", term, cursor });
    try {
      for await (const update of this.#feed.follow()) {
        resync ||= update.snapshot;
        place.n++;
        place.cursor = update.cursor || place.cursor;
        this.#tell({ kind: "update", term, n: place.n, update: plain(update), resync: resync && update.ready });
        resync &&= !update.ready;
        yield update; // after which the feed keeps the cursor
      }
    } catch (error) {
      if (error instanceof KickedError || error instanceof LoggedOutError) {
        this.#tell({ kind: "end", name: error.name, why: error.message });
      }
      throw this.#end ?? error;
    }
  }

  #hear(message: Message): void {
    if (this.leading && this.#place) {
      this.#answer(message, this.#place);
      return;
    }
    switch (message.kind) {
      case "lead":
        return this.#led(message.term, message.cursor);
      case "update":
        return this.#told(message);
      case "state":
        return message.to === this.#me ? this.#join(message) : undefined;
      case "end":
        return this.#fail(message.name === "LoggedOutError" ? new LoggedOutError() : new KickedError(message.why));
    }
  }

  /** Tells a tab that lacks something how all stands. */
  #answer(message: Message, { term, n, cursor }: Place): void {
    if (message.kind === "join") {
      this.#tell({ kind: "state", to: message.from, term, n, cursor, state: this.#feed.save() });
    } else if (message.kind === "typing") {
      this.#parts.typing(message.session);
    }
  }

  /** Another tab leads now. If it begins where this one stands, nothing is missing. */
  #led(term: string, cursor: string): void {
    if (this.#place && cursor && this.#place.cursor === cursor) {
      this.#place = { term, n: 0, cursor };
    } else {
      this.#lack();
    }
  }

  #told({ term, n, update, resync }: Extract<Message, { kind: "update" }>): void {
    const place = this.#place;
    if (!place || (place.term === term && n <= place.n)) {
      return; // asked for, or known
    }
    const verdict = update.frame && place.term === term && n === place.n + 1 ? this.#feed.apply(update.frame) : undefined;
    if (place.term !== term || n !== place.n + 1 || verdict === "missed" || resync) {
      this.#lack();
      return;
    }
    place.n = n;
    place.cursor = update.cursor || place.cursor;
    this.#push({ ...unplain(update), isNew: verdict === "applied" });
  }

  #join({ term, n, cursor, state }: Extract<Message, { kind: "state" }>): void {
    this.#feed.load(state);
    this.#place = { term, n, cursor };
    if (this.#feed.ready) {
      this.#push({ snapshot: false, isNew: false, asked: false, ready: true, cursor: "" });
    } // else the leader has a snapshot to take, and tells all when it is whole
  }

  /** Something is missing here: asks for the whole. If nobody leads, nobody answers, and this tab takes the snapshot when it leads. */
  #lack(): void {
    if (this.#place) {
      this.#feed.doubt();
    }
    this.#place = undefined;
    this.#wake?.(); // to count how long the answer takes
    this.#tell({ kind: "join", from: this.#me });
  }

  #push(update: Update): void {
    if (this.#waiting.length >= MAX_WAITING) {
      this.#waiting = [];
      this.#lack();
      return;
    }
    this.#waiting.push(update);
    this.#wake?.();
  }

  #tell(message: Message): void {
    this.#channel.postMessage(message);
  }

  #fail(error: Error): void {
    this.#end ??= error;
    this.#leave.abort(error);
    this.#wake?.();
  }
}

function asError(cause: unknown): Error {
  return cause instanceof Error ? cause : new Error(messageOf(cause));
}
