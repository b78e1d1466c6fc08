import type { Clock } from "./clock.js";
import { ConnectionError, messageOf, type ProblemError, problemOf, UnreachableError } from "./problem.js";
import { ANSWER_WITHIN } from "./send.js";
import { type IncomingMessage, MAX_FRAME, type Opener, type WebSocketLike } from "./websocket.js";

/** How many frames may wait for a caller who is slow. Beyond it the socket is closed: the rest comes again from the cursor. */
const MAX_WAITING = 10_000;

/** How much of a refusal is read, in characters. */
const MAX_PROBLEM = 64 * 1024;

/**
 * A connection: the texts that it brings, in order. It listens from the first moment on: what comes with the answer to the upgrade is there before
 * anybody could be told that the socket is open.
 */
export class Socket {
  readonly #socket: WebSocketLike;
  readonly #clock: Clock;
  #texts: string[] = [];
  #open = false;
  #end: Error | undefined;
  #wake: (() => void) | undefined;

  constructor(socket: WebSocketLike, clock: Clock) {
    this.#socket = socket;
    this.#clock = clock;
    socket.onopen = () => {
      this.#open = true;
      this.#wake?.();
    };
    socket.onmessage = (event) => this.#take(event.data);
    socket.onerror = () => {}; // a close follows and says more
    socket.onclose = ({ code, reason }) => {
      const why = `${code}${reason ? ` ${reason}` : ""}`;
      this.fail(this.#open ? new ConnectionError(`connection ended: ${why}`, code, reason) : new UnreachableError(`the socket was not opened: ${why}`));
    };
    socket.on?.("unexpected-response", (request, response) => {
      const refused = (error: Error) => {
        this.fail(error);
        request.destroy();
      };
      refusal(response).then(refused, refused);
    });
  }

  /** Waits until the socket is open. */
  async opened(): Promise<void> {
    await this.#until(() => this.#open, ANSWER_WITHIN, () => new UnreachableError("no answer in time"));
    if (!this.#open) {
      throw this.#end;
    }
  }

  /** The next text. Rejects with why the connection is over: closed, failed, or silent for so many milliseconds. */
  async next(patience: number): Promise<string> {
    await this.#until(() => this.#texts.length > 0, patience, () => new ConnectionError("the hub has been silent for too long"));
    const text = this.#texts.shift();
    if (text === undefined) {
      throw this.#end;
    }
    return text;
  }

  /** Says something to the hub; false if the connection is over. */
  say(text: string): boolean {
    if (this.#open && !this.#end) {
      this.#socket.send(text);
      return true;
    }
    return false;
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

  /** Waits until something is the case or the connection is over, which it is when that takes too long. */
  async #until(isCase: () => boolean, patience: number, late: () => Error): Promise<void> {
    const stop = this.#clock.after(patience, () => this.fail(late()));
    try {
      while (!isCase() && !this.#end) {
        await new Promise<void>((resolve) => (this.#wake = resolve));
      }
    } finally {
      stop();
    }
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

/**
 * Connects. Where the HTTP answer to a refused upgrade can be seen, which is with `ws`, a refusal rejects with a ProblemError; anything else
 * with an UnreachableError.
 */
export async function openSocket(open: Opener, url: string, token: string, clock: Clock, signal: AbortSignal | undefined): Promise<Socket> {
  signal?.throwIfAborted();
  const socket = new Socket(open(url, token), clock);
  const abort = () => socket.fail(signal?.reason);
  signal?.addEventListener("abort", abort);
  try {
    await socket.opened();
  } finally {
    signal?.removeEventListener("abort", abort);
  }
  return socket;
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
