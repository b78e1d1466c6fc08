import type { Api } from "./api.gen.js";
import { type Credentials, credentialsOf, type Keeper } from "./credentials.js";
import { KickedError, LoggedOutError, ProblemError, UNEXPECTED } from "./problem.js";

/** How long before its expiry an access token is replaced, in milliseconds. */
const REFRESH_BEFORE = 60_000;

/**
 * Bounds one renewal, in milliseconds. It goes on when the caller has given up: the hub has spent the old token by then, and an answer that
 * nobody keeps would log the device out.
 */
const RENEW_WITHIN = 20_000;

/** Gives access tokens and renews them, one renewal at a time. */
export class TokenSource {
  readonly #keeper: Keeper;
  readonly #open: Pick<Api, "refreshTokens">;
  readonly #now: () => number;
  #dropped = false;

  constructor(keeper: Keeper, open: Pick<Api, "refreshTokens">, now: () => number = Date.now) {
    this.#keeper = keeper;
    this.#open = open;
    this.#now = now;
  }

  /**
   * Makes the source give nothing any more, and other tabs too: the login belongs to another connection of this device now (S3,
   * device.kicked). Two that renew one login would end it for both.
   */
  async drop(): Promise<void> {
    this.#dropped = true;
    await this.#keeper.clear?.();
  }

  /** An access token that is good for a while. `refused` is one that the hub has just turned down, or "". */
  async token(refused: string, signal?: AbortSignal): Promise<string> {
    if (this.#dropped) {
      throw new KickedError("forget the login");
    }
    let credentials = await this.#keeper.load();
    if (!this.#good(credentials, refused)) {
      await this.#keeper.update(async (newest) => {
        credentials = this.#good(newest, refused) ? newest : await this.#renew(newest);
        return credentials;
      }, signal);
    }
    return credentials.access_token;
  }

  /** Whose credentials these are; "" if there are none. */
  async user(): Promise<string> {
    try {
      return (await this.#keeper.load()).user_id ?? "";
    } catch {
      return "";
    }
  }

  #good(credentials: Credentials, refused: string): boolean {
    return credentials.access_token !== refused && credentials.expires_at - this.#now() > REFRESH_BEFORE;
  }

  async #renew(credentials: Credentials): Promise<Credentials> {
    const body = { refresh_token: credentials.refresh_token };
    try {
      const tokens = await this.#open.refreshTokens({ body }, { signal: AbortSignal.timeout(RENEW_WITHIN) });
      return credentialsOf(tokens, this.#now());
    } catch (error) {
      if (error instanceof ProblemError && error.status === 401 && error.code !== UNEXPECTED) { // a proxy's 401 is about the proxy
        throw new LoggedOutError({ cause: error });
      }
      throw error;
    }
  }
}
