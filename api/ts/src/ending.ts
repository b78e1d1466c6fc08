import { AFTER_CLOSE, CLOSE_CODES } from "./hubEvents.js";
import { CardRefusalError, ConnectionError, KickedError, LoggedOutError, MAX_RETRY_IN, NotOpenedError, PositionError, ProblemError } from "./problem.js";

/** How long a hub that cannot serve is left alone, in milliseconds. */
export const PATIENT = 5_000;

/** Whether connecting again is no use. */
export function isFatal(error: unknown): boolean {
  return error instanceof LoggedOutError || error instanceof KickedError || error instanceof PositionError;
}

/** Whether the hub says that this device was replaced, and has lost its last frame. */
export function isReplaced(error: unknown): boolean {
  return error instanceof ConnectionError && AFTER_CLOSE[error.code] === "stay_away";
}

/** Whether the hub says that the login of this connection has ended: a renewal says whether for good. */
export function isLoginEnded(error: unknown): boolean {
  return error instanceof ConnectionError && AFTER_CLOSE[error.code] === "login";
}

/** For how many milliseconds the hub asks to be left alone; 0 if it does not. */
export function askedPause(error: unknown): number {
  if (error instanceof ProblemError) {
    return error.retryAfter;
  }
  if (error instanceof CardRefusalError) {
    return Math.min(error.info.retry_after_ms ?? 0, MAX_RETRY_IN);
  }
  if (error instanceof NotOpenedError) {
    return PATIENT; // it may have asked for more, or for less
  }
  if (!(error instanceof ConnectionError)) {
    return 0;
  }
  if (error.code === CLOSE_CODES.restart) {
    return retryIn(error.reason);
  }
  return AFTER_CLOSE[error.code] === "wait" ? PATIENT : 0;
}

/** Reads the number in "restart, retry_ms=1500"; 0 if there is none. */
function retryIn(reason: string): number {
  const [, milliseconds] = /retry_ms=(\d{1,9})$/.exec(reason) ?? [];
  return Math.min(Number(milliseconds ?? 0), MAX_RETRY_IN);
}
