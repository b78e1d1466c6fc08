import { asError, jitter, later } from "./ask.js";
import { askedPause, isFatal, isReplaced, PATIENT } from "./ending.js";
import { type Frame, parseFrame } from "./frame.js";
import { SILENCE_SECS } from "./hubEvents.js";
import { Line, type LineParts } from "./line.js";
import type { Progress } from "./position.js";
import { ConnectionError, KickedError, messageOf, NotOpenedError, SleptError } from "./problem.js";
import type { Socket } from "./socket.js";
import type { AuthOKPayload, DeviceKickedPayload } from "./types.gen.js";

/** One thing that a stream tells: a frame, or a change of the connection under it. */
export interface StreamEvent {
  /** Absent when the link went down. */
  frame?: Frame;
  /** `up`: `frame` is the first auth.ok. `down`: `error` says why; the stream connects again by itself. */
  link?: "up" | "down";
  /** With `up`: how the hub took the cursor. */
  resume?: AuthOKPayload;
  /** With `down`. */
  error?: Error;
  /**
   * Frames are missing which the hub cannot send: after an `up` that did not replay from a cursor, and in place of what a system.gap or an
   * error stands for. Read the state by REST before the next event; never apply this frame itself.
   */
  snapshot: boolean;
}

const FIRST_BACKOFF = 100;
const LAST_BACKOFF = 10_000;

/** What a stream is made of. */
export interface StreamParts extends LineParts {
  /** The connection that is followed at the moment. */
  live: { socket?: Socket | undefined };
}

/** One loop over the frames of a device. */
export class Stream {
  readonly #parts: StreamParts;
  readonly #at: Progress;
  readonly #signal: AbortSignal | undefined;
  readonly #line: Line;
  #heard = false; // the present connection has brought at least one frame
  #placeless = false; // the present connection was asked for without a cursor
  #fruitful = false; // it has brought a step that no connection had brought
  #up = 0; // when it brought the first one

  constructor(parts: StreamParts, at: Progress, signal?: AbortSignal) {
    this.#parts = parts;
    this.#at = at;
    this.#signal = signal;
    this.#line = new Line(parts, signal);
  }

  /** Tells events until going on is no use, which rejects, or until the caller leaves the loop. */
  async *events(): AsyncGenerator<StreamEvent, void, void> {
    await this.#at.applied(); // the reader of an earlier loop has come back
    const stopWatching = this.#line.watch();
    try {
      yield* this.#forever();
    } finally {
      stopWatching();
    }
  }

  async *#forever(): AsyncGenerator<StreamEvent, void, void> {
    for (let backoff = FIRST_BACKOFF; ; backoff = Math.min(backoff * 2, LAST_BACKOFF)) {
      this.#heard = this.#fruitful = false;
      let error: Error;
      try {
        yield* this.#once();
        return;
      } catch (cause) {
        error = await this.#ended(asError(cause));
      }
      this.#signal?.throwIfAborted();
      if (isFatal(error)) {
        throw error;
      }
      if (this.#fruitful || (this.#heard && this.#parts.clock.now() - this.#up >= LAST_BACKOFF)) {
        backoff = FIRST_BACKOFF;
      } else if (error instanceof NotOpenedError) {
        backoff = Math.max(backoff, PATIENT);
      }
      yield { link: "down", error, snapshot: false };
      if (!(error instanceof SleptError)) {
        await this.#line.pause(jitter(backoff), later(askedPause(error)));
      } // else nobody else wakes at this moment, and a person is waiting
    }
  }

  /** Connects and tells frames until the connection ends; what it throws says why. */
  async *#once(): AsyncGenerator<StreamEvent, void, void> {
    const socket = (this.#parts.live.socket = await this.#dial());
    try {
      this.#line.patience = SILENCE_SECS * 1000;
      for (let last = 0; ; ) {
        const frame = readFrame(await this.#line.next(socket));
        if (frame.seq_id === 0 && isGap(frame)) {
          yield* this.#take(frame); // it stands outside of the count
        } else if (frame.seq_id === last + 1) {
          last++;
          yield* this.#take(frame);
        } else if (frame.seq_id > last) {
          throw new ConnectionError(`lost a frame: got number ${frame.seq_id}, want ${last + 1}`);
        } // else it is no news
      }
    } finally {
      if (this.#parts.live.socket === socket) {
        this.#parts.live.socket = undefined;
      }
      this.#line.hangUp(socket);
    }
  }

  /** Hands a frame on; when the caller comes back, its cursor is kept. */
  async *#take(frame: Frame): AsyncGenerator<StreamEvent, void, void> {
    const event: StreamEvent = { frame, snapshot: isGap(frame) };
    let cursor = frame.cursor;
    if (frame.type === "auth.ok") {
      const hello = frame.payload;
      cursor ??= hello.cursor; // which may stand in the payload alone
      this.#line.patience = hello.heartbeat_secs ? 2000 * hello.heartbeat_secs + 5000 : this.#line.patience;
      if (!this.#heard) {
        event.link = "up";
        event.resume = hello;
        // A hub that is told no cursor goes by what this device has received. Whether that was taken, nobody knows.
        event.snapshot = hello.resume !== "replayed" || this.#placeless;
      }
      event.frame = cursor ? { ...frame, cursor } : frame;
    }
    if (!this.#heard) {
      this.#heard = true;
      this.#up = this.#parts.clock.now();
    }
    const moved = this.#at.hand(cursor);
    this.#fruitful ||= moved && frame.type !== "auth.ok";
    if (frame.type === "device.kicked") {
      await this.#parts.tokens.drop();
    }
    yield event;
    await this.#at.applied();
    if (frame.type === "device.kicked") {
      throw new KickedError(kickReason(frame.payload));
    }
  }

  async #dial(): Promise<Socket> {
    const cursor = await this.#at.resume();
    this.#placeless = !cursor;
    return this.#line.dial(`/client/ws${cursor ? `?cursor=${encodeURIComponent(cursor)}` : ""}`);
  }

  /** Draws the consequences of the way in which a connection was closed. */
  async #ended(error: Error): Promise<Error> {
    this.#line.ended(error);
    if (isReplaced(error)) {
      await this.#parts.tokens.drop();
      return new KickedError(messageOf(error));
    }
    return error;
  }
}

/** Whether a frame stands for others that are missing (S3: system.gap, error). It carries nothing to apply. */
function isGap(frame: Frame): boolean {
  const type: string = frame.type;
  return type === "system.gap" || type === "error";
}

function readFrame(text: string): Frame {
  try {
    return parseFrame(text);
  } catch (error) {
    throw new ConnectionError(`unreadable frame: ${messageOf(error)}`);
  }
}

function kickReason(payload: DeviceKickedPayload): string {
  return payload.reason || "no reason given";
}
