import type { Api } from "./api.gen.js";
import { asError } from "./ask.js";
import type { Clock } from "./clock.js";
import { isLoginEnded } from "./ending.js";
import { NotOpenedError, ProblemError, SleptError, UnreachableError } from "./problem.js";
import { openSocket, type Socket } from "./socket.js";
import type { TokenSource } from "./tokens.js";
import { watchWakes } from "./wake.js";
import type { Opener } from "./websocket.js";

/** What a line is made of. */
export interface LineParts {
  hub: string;
  api: Pick<Api, "getMe">;
  tokens: TokenSource;
  open: () => Promise<Opener>;
  clock: Clock;
}

/** One connection after another to a socket of the hub: with a token that is good, given up when it is silent or the machine has slept. */
export class Line {
  /** How many milliseconds the hub may be silent. */
  patience = 0;
  readonly #parts: LineParts;
  readonly #signal: AbortSignal | undefined;
  #socket: Socket | undefined;
  #heardAt = 0;
  #token = ""; // that the present connection was made with
  #refused = ""; // the one of a connection whose login the hub has ended
  #endPause: (() => void) | undefined;

  constructor(parts: LineParts, signal?: AbortSignal) {
    this.#parts = parts;
    this.#signal = signal;
  }

  /** Ends waits and connections when the signal or a wake says so, until the function that it returns is called. */
  watch(): () => void {
    const aborted = () => {
      this.#socket?.fail(asError(this.#signal?.reason));
      this.#endPause?.();
    };
    this.#signal?.addEventListener("abort", aborted);
    const stopWatching = watchWakes(this.#parts.clock, { slept: () => this.#slept(), seen: () => this.#seen() });
    return () => {
      stopWatching();
      this.#signal?.removeEventListener("abort", aborted);
      this.#socket?.close();
    };
  }

  /** Connects to a path of the hub. */
  async dial(path: string): Promise<Socket> {
    const { tokens } = this.#parts;
    this.#token = await tokens.token(this.#refused, this.#signal);
    try {
      return await this.#connect(path);
    } catch (error) {
      if (!(await this.#wasRefused(error))) {
        throw error instanceof UnreachableError ? new NotOpenedError({ cause: error }) : error;
      }
    }
    this.#token = await tokens.token(this.#token, this.#signal);
    return this.#connect(path);
  }

  /** The next text of the present connection. */
  async next(socket: Socket): Promise<string> {
    const text = await socket.next(this.patience);
    this.#signal?.throwIfAborted();
    this.#heardAt = this.#parts.clock.now();
    return text;
  }

  hangUp(socket: Socket): void {
    this.#socket = undefined;
    socket.close();
  }

  /** Notes why a connection is over: a token whose login has ended is not used again. */
  ended(error: Error): void {
    if (isLoginEnded(error)) {
      this.#refused = this.#token;
    }
  }

  /** Waits: as long as the hub asks, and a backoff that ends early when the machine wakes or gets its network back. */
  async pause(backoff: number, asked: number): Promise<void> {
    const { clock } = this.#parts;
    const start = clock.now();
    for (let left = Math.max(backoff, asked); left > 0; ) {
      await new Promise<void>((resolve) => {
        const stop = clock.after(left, resolve);
        this.#endPause = () => {
          stop();
          resolve();
        };
      });
      this.#endPause = undefined;
      this.#signal?.throwIfAborted();
      left = asked - (clock.now() - start);
    }
  }

  async #connect(path: string): Promise<Socket> {
    const open = await this.#parts.open();
    const url = `${this.#parts.hub.replace(/^http/, "ws")}${path}`;
    const socket = await openSocket(open, url, this.#token, this.#parts.clock, this.#signal);
    this.#heardAt = this.#parts.clock.now();
    return (this.#socket = socket);
  }

  /**
   * Whether a connection was refused for its token. A browser does not say why a socket was not opened; the same question over REST gets an
   * answer: a new token, a 429 or 503 with the time to wait, silence, or that all is well, which is then not so for sockets alone.
   */
  async #wasRefused(error: unknown): Promise<boolean> {
    if (!(error instanceof UnreachableError)) {
      return error instanceof ProblemError && error.status === 401;
    }
    await this.#parts.api.getMe({ signal: this.#signal });
    return (await this.#parts.tokens.token("", this.#signal)) !== this.#token;
  }

  #slept(): void {
    this.#socket?.fail(new SleptError());
    this.#endPause?.();
  }

  /** Timers of a page that nobody sees may be late: what they would have found out is found out now. */
  #seen(): void {
    if (this.#socket && this.#parts.clock.now() - this.#heardAt > this.patience) {
      this.#socket.fail(new SleptError());
    }
    this.#endPause?.();
  }
}
