import type { Clock } from "./clock.js";
import { ConnectionError, messageOf, type ProblemError, problemOf, UnreachableError } from "./problem.js";
import { ANSWER_WITHIN } from "./send.js";
import { type IncomingMessage, MAX_FRAME, type Opener, type WebSocketLike } from "./websocket.js";

/** How many frames may wait for a caller who is slow. Beyond it the socket is closed: the rest comes again from the cursor. */
const MAX_WAITING = 10_000;

/** How much of a refusal is read, in characters. */
const MAX_PROBLEM = 64 * 1024;

/** An open connection: the texts that it brings, in order. */
export class Socket {
  readonly #socket: WebSocketLike;
  readonly #clock: Clock;
  #texts: string[] = [];
  #end: Error | undefined;
  #wake: (() => void) | undefined;

  constructor(socket: WebSocketLike, clock: Clock) {
    this.#socket = socket;
    this.#clock = clock;
    socket.onmessage = (event) => this.#take(event.data);
    socket.onclose = (event) => this.fail(new ConnectionError(closed(event.code, event.reason), event.code, event.reason));
    socket.onerror = () => {}; // a close follows and says more
  }

  /** The next text. Rejects with why the connection is over: closed, failed, or silent for so many milliseconds. */
  async next(patience: number): Promise<string> {
    const stop = this.#clock.after(patience, () => this.fail(new ConnectionError("the hub has been silent for too long")));
    try {
      while (this.#texts.length === 0 && !this.#end) {
        await new Promise<void>((resolve) => (this.#wake = resolve));
      }
    } finally {
      stop();
    }
    const text = this.#texts.shift();
    if (text === undefined) {
      throw this.#end;
    }
    return text;
  }

  /** Ends the connection; what it has brought can still be taken. */
  fail(why: Error): void {
    this.#end ??= why;
    this.close();
    this.#wake?.();
  }

  close(): void {
    this.#socket.onmessage = null;
    this.#socket.close(1000);
  }

  #take(data: unknown): void {
    if (typeof data !== "string" || data.length > MAX_FRAME) {
      this.fail(new ConnectionError("unreadable frame"));
    } else if (this.#texts.length >= MAX_WAITING) {
      this.fail(new ConnectionError("more frames wait than can be kept"));
    } else {
      this.#texts.push(data);
      this.#wake?.();
    }
  }
}

function closed(code: number, reason: string): string {
  return `connection ended: ${code}${reason ? ` ${reason}` : ""}`;
}

/**
 * Connects. Where the HTTP answer to a refused upgrade can be seen, which is with `ws`, a refusal rejects with a ProblemError; anything else
 * with an UnreachableError.
 */
export async function openSocket(open: Opener, url: string, token: string, clock: Clock, signal: AbortSignal | undefined): Promise<Socket> {
  signal?.throwIfAborted();
  const raw = open(url, token);
  const leave: Array<() => void> = [];
  try {
    await new Promise<void>((resolve, reject) => {
      raw.onopen = () => resolve();
      raw.onerror = (event) => reject(new UnreachableError(event?.message || "the socket could not be opened"));
      raw.onclose = (event) => reject(new UnreachableError(closed(event.code, event.reason)));
      raw.on?.("unexpected-response", (request, response) => {
        const refused = (error: Error) => {
          reject(error);
          request.destroy();
        };
        refusal(response).then(refused, refused);
      });
      leave.push(clock.after(ANSWER_WITHIN, () => reject(new UnreachableError("no answer in time"))));
      const abort = () => reject(signal?.reason);
      signal?.addEventListener("abort", abort);
      leave.push(() => signal?.removeEventListener("abort", abort));
    });
  } catch (error) {
    raw.onopen = raw.onclose = null;
    raw.onerror = () => {};
    raw.close();
    throw error;
  } finally {
    leave.forEach((stop) => stop());
  }
  return new Socket(raw, clock);
}

/** Reads the HTTP answer to an upgrade. */
async function refusal(response: IncomingMessage): Promise<ProblemError> {
  let body = "";
  response.setEncoding("utf8");
  await new Promise<void>((resolve, reject) => {
    response.on("data", (part: string) => (body = (body + part).slice(0, MAX_PROBLEM)));
    response.on("end", () => resolve());
    response.on("error", (error: unknown) => reject(new UnreachableError(messageOf(error))));
  });
  const retryAfter = response.headers["retry-after"];
  return problemOf(response.statusCode ?? 0, typeof retryAfter === "string" ? retryAfter : undefined, body);
}
