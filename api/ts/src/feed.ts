import type { RunRef } from "./asked.js";
import type { Frame } from "./frame.js";
import type { FrameType } from "./hubEvents.js";
import { type Position, Progress } from "./position.js";
import { Reducer, type ReducerState, type Verdict } from "./reducer.js";
import { rounds } from "./rounds.js";
import type { Known } from "./missed.js";
import { Questioner, type Told } from "./snapshot.js";
import { Stream, type StreamEvent, type StreamParts } from "./stream.js";
import type { FeedOptions, Update } from "./update.js";
import { Typists } from "./typing.js";
import type { Send } from "./send.js";

/** A feed as plain data, for another tab. */
export interface FeedState {
  reducer: ReducerState;
  runs: RunRef[];
  heads: Array<[string, number]>;
  /** Absent in the state of an older SDK. */
  changes?: Array<[string, number]>;
  before: boolean;
  resumed: boolean;
  owed: boolean;
  began: number | undefined;
}

/**
 * Follows everything that a user may see, without holes: it applies the frames of the stream by their business keys, and fetches by REST what
 * they lack: the state of a device that the hub could not resume, and the log of a run that was under way. One loop at a time.
 */
export class Feed {
  readonly #parts: StreamParts & { send: Send };
  readonly #at: Progress;
  readonly #options: FeedOptions;
  #reducer: Reducer;
  #runs = new Map<string, RunRef>(); // seen and not ended
  #heads: Map<string, number>; // newest message told of each conversation
  #changes: Map<string, number>; // newest change of a message told of each conversation
  readonly #typists: Typists;
  #joining = new Set<string>(); // conversations of which not everything was told
  readonly #hollow = new Set<string>(); // conversations that were left again before what was said in them was told
  #before = false; // a connection stood before
  #resumed = false; // the hub continued an earlier process of this device, whose application knows what that was told
  #owed = false; // a snapshot has to be taken, or was begun and is not whole
  #began: number | undefined; // when the first connection stood, in milliseconds since 1970

  constructor(parts: StreamParts & { send: Send }, at: Position, options: FeedOptions = {}) {
    this.#parts = parts;
    this.#at = new Progress(at);
    this.#typists = new Typists(parts.clock);
    this.#options = options;
    this.#reducer = new Reducer(options.keep);
    this.#heads = new Map(Object.entries(options.heads ?? {}));
    this.#changes = new Map(Object.entries(options.changes ?? {}));
  }

  /** What the feed has told so far, put together. */
  get state(): Reducer {
    return this.#reducer;
  }

  /**
   * How far the feed has told what became of the messages of each conversation, to be kept with what it told, and given as `FeedOptions.changes` at
   * the next start.
   */
  get changes(): Record<string, number> {
    return Object.fromEntries(this.#changes);
  }

  /** Whether the state is whole: the newest connection has told `ready`. */
  get ready(): boolean {
    return this.#before && !this.#owed;
  }

  /** The users who type in a conversation at this moment. Somebody who was heard to counts for six seconds, or until the message comes. */
  typists(session: string): string[] {
    return this.#typists.of(session);
  }

  /** How a run ended, by what was told so far; undefined if it has not. */
  outcome(run: string): FrameType | undefined {
    return this.#reducer.outcome(run);
  }

  /** Makes sure that the end of a run is told, even if none of its frames reaches this device. */
  track(task: string, session: string): void {
    if (!this.#runs.has(task) && !this.outcome(task)) {
      this.#runs.set(task, { task_id: task, session_id: session, agent_instance_id: "" });
    }
  }

  /** All of it as plain data. */
  save(): FeedState {
    return {
      reducer: this.#reducer.save(),
      runs: [...this.#runs.values()],
      heads: [...this.#heads],
      changes: [...this.#changes],
      before: this.#before,
      resumed: this.#resumed,
      owed: this.#owed,
      began: this.#began,
    };
  }

  /** Goes on from what another feed of this device knew at the place where this one stands, and owes what that one did. */
  load(state: FeedState): void {
    this.#before = state.before;
    this.#resumed = state.resumed;
    this.#owed = state.owed;
    this.#began = state.began;
    this.#reducer = Reducer.load(state.reducer, this.#options.keep);
    this.#runs = new Map(state.runs.map((run) => [run.task_id, run]));
    this.#heads = new Map(state.heads);
    this.#changes = new Map(state.changes ?? []);
  }

  /**
   * Tells updates for as long as the caller iterates. It ends by throwing why going on is no use: LoggedOutError, KickedError, PositionError, or
   * the reason of the signal. Following again goes on behind the last update, which counts as applied then.
   */
  follow(): AsyncGenerator<Update, void, void> {
    return this.#tell(new Stream(this.#parts, this.#at, this.#options.signal).events());
  }

  /**
   * Tells over REST alone what has happened since the feed's place, and ends when it has told all of it: for programs that run now and then. It
   * tells what `follow` would have told, by the same rules, and the two may take turns. An error ends it: what it has told until then counts, and
   * the next one goes on behind it.
   */
  sync(): AsyncGenerator<Update, void, void> {
    return this.#tell(rounds(this.#parts.send, this.#at, this.#options.signal));
  }

  async *#tell(events: AsyncIterable<StreamEvent>): AsyncGenerator<Update, void, void> {
    for await (const event of events) {
      if (event.link === "down") {
        yield update(event);
      } else if (event.link === "up") {
        yield* this.#connected(event);
      } else if (event.snapshot) {
        yield* this.#restored(event);
      } else if (event.frame) {
        yield* this.#frame(event, event.frame);
      }
    }
  }

  /** What this feed knows has holes: the next connection takes a snapshot, whatever the hub can replay. */
  doubt(): void {
    this.#owed = true;
  }

  /** Takes a frame that another tab has told; what it lacks, that tab has fetched. */
  apply(frame: Frame): Verdict {
    if (frame.type === "auth.ok" && frame.seq_id === 1) {
      this.#reducer.connected();
    }
    const verdict = this.#reducer.apply(frame);
    this.#note(frame);
    return verdict;
  }

  /** Fills the hole that a new connection leaves, if the hub has not continued the one before. */
  async *#connected(event: StreamEvent): AsyncGenerator<Update, void, void> {
    const begin = this.#options.begin ?? "whole";
    this.#reducer.of(await this.#parts.tokens.user());
    this.#reducer.connected();
    if (!this.#before) {
      this.#resumed = !event.snapshot && begin !== "whole";
    }
    this.#began ??= this.#parts.clock.now();
    this.#owed ||= this.#incomplete(event);
    if (event.resume?.reason === "other_epoch") {
      this.#changes.clear(); // the hub's numbers are another record's
      this.#reducer.recount();
    }
    yield* this.#allOf(this.#settled(event));
    this.#before = true;
    yield ready(event);
  }

  /** Tells an event, and takes the snapshot that is owed. */
  async *#settled(event: StreamEvent): AsyncGenerator<Update, void, void> {
    yield update(event);
    if (this.#owed) {
      yield* this.#addAll(this.#questioner().snapshot(this.#since(), this.#known, this.#runs));
    }
    this.#owed = false;
  }

  /** Tells all that belongs to a frame. If the caller leaves in the middle of it, the next connection goes on from before that frame. */
  async *#allOf(updates: AsyncIterable<Update>): AsyncGenerator<Update, void, void> {
    let whole = false;
    try {
      yield* updates;
      whole = true;
    } finally {
      if (!whole) {
        this.#at.takeBack();
      }
    }
  }

  /** Whether a snapshot has to fill what the new connection lacks. */
  #incomplete(event: StreamEvent): boolean {
    const begin = this.#options.begin ?? "whole";
    if (this.#before || begin === "missed") {
      return event.snapshot;
    }
    return begin === "whole" || this.#options.since !== undefined;
  }

  /** How old a message may be that a snapshot tells of a conversation which was not heard of before. */
  #since(): number {
    const since = this.#options.since?.getTime() ?? 0;
    return this.#before && this.#options.begin === "live" ? (this.#began ?? since) : since;
  }

  /** Fills the hole that a frame of the connection speaks of. */
  async *#restored(event: StreamEvent): AsyncGenerator<Update, void, void> {
    this.#owed = true;
    yield* this.#allOf(this.#settled(event));
    yield ready(event);
  }

  async *#frame(event: StreamEvent, frame: Frame): AsyncGenerator<Update, void, void> {
    const about = refOf(frame);
    if (this.#options.session !== undefined && about.session_id !== this.#options.session) {
      return;
    }
    const joins = this.#joins(frame, about.session_id);
    let verdict = this.#reducer.apply(frame);
    if (verdict === "missed") {
      yield* this.#allOf(this.#fill(about, (frame.payload as { event_seq: number }).event_seq));
      verdict = this.#reducer.apply(frame);
    }
    this.#note(frame);
    const told: Update = { ...update(event), isNew: verdict === "applied", cursor: frame.cursor ?? "" };
    if (!joins) {
      yield told;
      return;
    }
    yield* this.#allOf(this.#join({ ...told, cursor: "" }, about.session_id));
    yield { ...update({ snapshot: false }), cursor: told.cursor };
  }

  /** Whether a frame brings a conversation that was not known, or one of which not everything was told. */
  #joins(frame: Frame, session: string): boolean {
    const known = this.#reducer.record("session", session) !== undefined && !this.#joining.has(session);
    return frame.type === "session.created" && this.#options.begin !== "live" && !known;
  }

  /**
   * Tells a conversation and what was said in it before: whoever was added hears only what comes after. The place behind both is that of the
   * update which follows.
   */
  async *#join(told: Update, session: string): AsyncGenerator<Update, void, void> {
    this.#joining.add(session);
    yield told;
    yield* this.#addAll(this.#questioner().joined(session, this.#options.since?.getTime() ?? 0, this.#known));
    this.#joining.delete(session);
  }

  /**
   * Tells the events of a run that lie before a frame which is not the next one. A run that was under way when an earlier process of this
   * device was cut off goes on from here: its beginning was told then.
   */
  async *#fill(about: RunRef, seq: number): AsyncGenerator<Update, void, void> {
    if (!this.#resumed || this.#reducer.watermark(about.task_id) > 0) {
      yield* this.#addAll(this.#questioner().events(about, this.#reducer));
    }
    if (this.#reducer.watermark(about.task_id) < seq - 1) {
      this.#reducer.begin(about.task_id, seq - 1);
    }
  }

  get #known(): Known {
    return { state: this.#reducer, heads: this.#heads, hollow: this.#hollow, changes: this.#changes };
  }

  #questioner(): Questioner {
    return new Questioner(this.#parts.send, this.#parts.clock, this.#options);
  }

  /** Tells frames that were fetched, those that are new. */
  async *#addAll(asked: AsyncIterable<Told>): AsyncGenerator<Update, void, void> {
    for await (const told of asked) {
      if (!("raw" in told)) {
        yield { ...update({ snapshot: false }), ...told };
        continue;
      }
      const { type, raw } = told;
      const frame = { type, raw, payload: JSON.parse(raw), seq_id: 0 } as Frame;
      if (this.#reducer.apply(frame) === "applied") {
        this.#note(frame);
        yield { frame, snapshot: false, isNew: true, asked: true, ready: false, cursor: "" };
      }
    }
  }

  /** Keeps what a later hole would have to be filled from. */
  #note(frame: Frame): void {
    this.#typists.hear(frame);
    const about = refOf(frame);
    switch (frame.type) {
      case "message.new": {
        const { session_id, seq_id } = frame.payload;
        this.#heads.set(session_id, Math.max(this.#heads.get(session_id) ?? 0, seq_id ?? 0));
        break;
      }
      case "message.recall":
      case "message.pin":
      case "message.unpin":
      case "message.reaction_added":
      case "message.reaction_removed": {
        // They come in the order of their numbers: whoever has one has all before. An edit has none, so what is known may be too low, never too high.
        const { session_id, change_seq = 0 } = frame.payload;
        if (change_seq > (this.#changes.get(session_id) ?? 0)) {
          this.#changes.set(session_id, change_seq);
        }
        break;
      }
      case "agent.dispatch":
      case "agent.stream":
        if (!this.outcome(about.task_id)) {
          this.#runs.set(about.task_id, about);
        }
        break;
      case "agent.done":
      case "agent.failed":
      case "agent.cancel":
        this.#runs.delete(about.task_id);
    }
  }
}

/** What the frames of a run have in common; fields that it lacks are "". */
function refOf(frame: Frame): RunRef {
  const { task_id, agent_task_id, session_id, agent_instance_id, payload } = frame.payload as unknown as Record<string, unknown>;
  const text = (value: unknown) => (typeof value === "string" ? value : "");
  const below = frame.type === "notification.new" ? (payload as { session_id?: unknown } | undefined)?.session_id : undefined;
  return { task_id: text(task_id) || text(agent_task_id), session_id: text(session_id ?? below), agent_instance_id: text(agent_instance_id) };
}

function update(event: StreamEvent): Update {
  return { ...event, isNew: false, asked: false, ready: false, cursor: "" };
}

function ready(event: StreamEvent): Update {
  return { snapshot: false, isNew: false, asked: false, ready: true, cursor: event.frame?.cursor ?? "" };
}
