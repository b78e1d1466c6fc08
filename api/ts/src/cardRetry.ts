import { later } from "./ask.js";
import type { CardErrorInfo } from "./cards.gen.js";

const FIRST_RETRY = 1_000; // milliseconds

/** How many failures in a row it takes until nothing is tried again by itself. */
const LAST_RETRY = 5;

/**
 * The retry table of S0 §15: how many milliseconds to wait before something that has failed so many times in a row, the last time with this error, is
 * tried again; undefined: not by itself, the person decides. With retry_after_ms it is never tried before that; without, the first time at once; then
 * the wait doubles from one second, and up to a quarter more, so that many clients do not come back together.
 */
export function cardRetry(error: CardErrorInfo, failures: number): number | undefined {
  if (!error.retryable || failures < 1 || failures > LAST_RETRY) {
    return undefined;
  }
  const asked = error.retry_after_ms ?? 0;
  if (asked > 0) {
    return later(Math.max(asked, FIRST_RETRY * 2 ** (failures - 1)));
  }
  return failures === 1 ? 0 : later(FIRST_RETRY * 2 ** (failures - 2));
}
