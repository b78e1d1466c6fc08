import { untilAborted } from "./abort.js";
import { LoggedOutError } from "./problem.js";
import type { Tokens } from "./types.gen.js";

/** What a device needs to speak for its user. They are secrets. */
export interface Credentials {
  user_id: string;
  username: string;
  device_id: string;
  access_token: string;
  /** When the access token expires, by this machine's clock: milliseconds since 1970. */
  expires_at: number;
  refresh_token: string;
}

/** Keeps what an answer with tokens says. */
export function credentialsOf(tokens: Tokens, now = Date.now()): Credentials {
  return {
    user_id: tokens.user.id,
    username: tokens.user.username,
    device_id: tokens.device.id,
    access_token: tokens.access_token,
    expires_at: now + tokens.expires_in * 1000,
    refresh_token: tokens.refresh_token,
  };
}

/** Holds the credentials of one device. */
export interface Keeper {
  /** The newest credentials. Rejects with a LoggedOutError if there are none. */
  load(): Promise<Credentials>;
  /**
   * Replaces the newest credentials by what `change` makes of them, while nobody else who holds the same ones, in this tab or another, can do
   * so: a refresh token works once. When `change` rejects nothing changes, but for a LoggedOutError: the hub does not take them any more, they are
   * forgotten. The end of `signal` ends the waiting for others.
   */
  update(change: (newest: Credentials) => Promise<Credentials>, signal?: AbortSignal): Promise<void>;
  /** Forgets them: the hub has given the device to another connection (S3, device.kicked). A keeper without it keeps what is of no use. */
  clear?(): Promise<void>;
}

/** Holds credentials for as long as the process, or the page, lives. */
export class MemoryKeeper implements Keeper {
  #credentials: Credentials | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(credentials: Credentials) {
    this.#credentials = credentials;
  }

  async load(): Promise<Credentials> {
    if (!this.#credentials) {
      throw new LoggedOutError();
    }
    return this.#credentials;
  }

  async update(change: (newest: Credentials) => Promise<Credentials>, signal?: AbortSignal): Promise<void> {
    const mine = this.#turn.then(async () => {
      signal?.throwIfAborted();
      try {
        this.#credentials = await change(await this.load());
      } catch (error) {
        if (error instanceof LoggedOutError) {
          this.#credentials = undefined;
        }
        throw error;
      }
    });
    this.#turn = mine.catch(() => undefined);
    await untilAborted(mine, signal);
  }

  async clear(): Promise<void> {
    await (this.#turn = this.#turn.then(() => (this.#credentials = undefined)));
  }
}
