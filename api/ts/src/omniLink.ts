import { asError, jitter, later } from "./ask.js";
import type { Clock } from "./clock.js";
import { askedPause } from "./ending.js";
import { SILENCE_SECS } from "./hubEvents.js";
import { type OmniMessage, readMessage } from "./omni.js";
import { type OmniApproval, type OmniState, type OmniUpdate, ResyncError } from "./omniUpdate.js";
import { pause } from "./pause.js";
import { ConnectionError, KickedError, LoggedOutError, messageOf, ProblemError, SleptError, UNEXPECTED } from "./problem.js";
import type { Stream } from "./send.js";
import { type Block, BlockReader } from "./sse.js";
import { watchWakes } from "./wake.js";

const FIRST_BACKOFF = 100;
const LAST_BACKOFF = 10_000;

/** What a stream of messages is made of. */
export interface OmniParts {
  stream: Stream;
  clock: Clock;
}

/** One connection after another to the stream of a conversation. */
export class OmniLink {
  readonly #parts: OmniParts;
  readonly #path: string;
  readonly #signal: AbortSignal | undefined;
  #after: string; // all up to here has been told
  #up = 0; // when the present connection brought its first block; 0 until then
  #fruitful = false; // it has brought messages
  #held: OmniMessage[] = []; // of the event that is not whole yet
  #endPause: (() => void) | undefined;
  #fail: ((why: Error) => void) | undefined;

  constructor(parts: OmniParts, path: string, after: string, signal?: AbortSignal) {
    this.#parts = parts;
    this.#path = path;
    this.#after = after;
    this.#signal = signal;
  }

  /** Tells updates until going on is no use, which rejects, or until the caller leaves the loop. */
  async *updates(): AsyncGenerator<OmniUpdate, void, void> {
    const wake = () => {
      this.#fail?.(new SleptError());
      this.#endPause?.();
    };
    const stopWatching = watchWakes(this.#parts.clock, { slept: wake, seen: () => this.#endPause?.() });
    try {
      yield* this.#forever();
    } finally {
      stopWatching();
    }
  }

  async *#forever(): AsyncGenerator<OmniUpdate, void, void> {
    const { clock } = this.#parts;
    for (let backoff = FIRST_BACKOFF; ; backoff = Math.min(backoff * 2, LAST_BACKOFF)) {
      let error: Error;
      try {
        yield* this.#once();
        return;
      } catch (cause) {
        this.#signal?.throwIfAborted();
        error = asError(cause);
      }
      if (isFinal(error)) {
        throw error;
      }
      if (this.#fruitful || (this.#up > 0 && clock.now() - this.#up >= LAST_BACKOFF)) {
        backoff = FIRST_BACKOFF;
      }
      yield { link: "down", error };
      if (!(error instanceof SleptError)) {
        await this.#pause(jitter(backoff), later(askedPause(error)));
      }
    }
  }

  /** Waits as long as the hub asks, and a backoff that ends early when the machine wakes or gets its network back. */
  async #pause(backoff: number, asked: number): Promise<void> {
    const { clock } = this.#parts;
    const woken = new AbortController();
    this.#endPause = () => woken.abort();
    const begun = clock.now();
    const either = this.#signal ? AbortSignal.any([this.#signal, woken.signal]) : woken.signal;
    await pause(clock, Math.max(backoff, asked), either).catch(() => undefined);
    this.#endPause = undefined;
    this.#signal?.throwIfAborted();
    const left = asked - (clock.now() - begun);
    if (left > 0) {
      await pause(clock, left, this.#signal);
    }
  }

  /** Connects and tells what comes until the connection ends; what it throws says why. */
  async *#once(): AsyncGenerator<OmniUpdate, void, void> {
    this.#up = 0;
    this.#fruitful = false;
    this.#held = [];
    const { clock } = this.#parts;
    const line = new AbortController();
    this.#fail = (why) => line.abort(why);
    const aborted = () => line.abort(this.#signal?.reason);
    this.#signal?.addEventListener("abort", aborted);
    let stop = () => {};
    const heard = () => {
      stop();
      stop = clock.after(SILENCE_SECS * 1000, () => line.abort(new ConnectionError("the hub has been silent for too long")));
    };
    let reader: BlockReader | undefined;
    try {
      this.#signal?.throwIfAborted();
      heard();
      reader = new BlockReader(await this.#connect(line.signal));
      for (;;) {
        heard();
        const block = await reader.next(heard);
        stop(); // while nobody reads, nobody listens
        yield* this.#take(block);
        line.signal.throwIfAborted();
      }
    } catch (error) {
      line.signal.throwIfAborted();
      throw error instanceof TypeError || error instanceof DOMException ? new ConnectionError(messageOf(error)) : error;
    } finally {
      stop();
      this.#fail = undefined;
      this.#signal?.removeEventListener("abort", aborted);
      line.abort();
      await reader?.cancel();
    }
  }

  async #connect(signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    const query = this.#after === "" ? {} : { after: this.#after };
    const response = await this.#parts.stream({ method: "GET", path: this.#path, query, stream: true, answer: "text" }, { signal });
    if (!response.body || !/^text\/event-stream\b/i.test(response.headers.get("Content-Type") ?? "")) {
      await response.body?.cancel();
      throw new ConnectionError(`what ${this.#path} answers is no stream of a hub`);
    }
    return response.body;
  }

  /** Tells what a block says. Messages are held until their event is whole, which an id says: what a connection leaves of one comes again. */
  async *#take({ id, event, data }: Block): AsyncGenerator<OmniUpdate, void, void> {
    if (this.#up === 0) {
      this.#up = this.#parts.clock.now();
      this.#after = data === undefined && id !== undefined ? id : this.#after;
      yield { link: "up", cursor: this.#after };
    }
    if (event === "server_event") {
      yield* beside(data ?? "");
    } else if (event === "" && data !== undefined) {
      this.#held.push(read(data));
    }
    if (event === "" && id !== undefined) {
      yield* this.#tell(id);
    }
  }

  /** Hands on the messages of an event, the last with the cursor behind it. */
  async *#tell(cursor: string): AsyncGenerator<OmniUpdate, void, void> {
    const held = this.#held;
    this.#held = [];
    this.#after = cursor;
    this.#fruitful ||= held.length > 0;
    for (const [i, message] of held.entries()) {
      yield i === held.length - 1 ? { message, cursor } : { message };
    }
  }
}

/** What a server_event says; nothing for one of a later version. */
function* beside(data: string): Generator<OmniUpdate, void, void> {
  const said = JSON.parse(data) as { type: string; title: string; reason: "epoch" | "trimmed" } & OmniState & OmniApproval;
  switch (said.type) {
    case "task_state": {
      const { state, runs, queued, pendingSteering } = said;
      yield { state: { state, runs: runs ?? [], ...(queued === undefined ? {} : { queued }), ...(pendingSteering ? { pendingSteering } : {}) } };
      return;
    }
    case "approval_request": {
      const { requestId, toolCall, cut, origin } = said;
      yield { approval: { requestId, toolCall, ...(cut ? { cut } : {}), ...(origin ? { origin } : {}) } };
      return;
    }
    case "session_title":
      yield { title: said.title };
      return;
    case "resync_required":
      throw new ResyncError(said.reason);
  }
}

function read(data: string): OmniMessage {
  try {
    return readMessage(data);
  } catch (error) {
    throw new ConnectionError(`unreadable message: ${messageOf(error)}`);
  }
}

/** Refusals that may pass, though they are the client's by their numbers. */
const PASSING = [401, 408, 425, 429];

/** Whether connecting again is no use. */
function isFinal(error: Error): boolean {
  if (error instanceof ProblemError) {
    return error.code !== UNEXPECTED && error.status < 500 && !PASSING.includes(error.status);
  }
  return error instanceof ResyncError || error instanceof LoggedOutError || error instanceof KickedError;
}
