import type { CardErrorInfo } from "./cards.gen.js";
import type { AgentTask, Problem } from "./types.gen.js";

/** The code of an answer that no hub gave: a proxy's page, or some other program at that address. */
export const UNEXPECTED = "unexpected";

/** An RFC 9457 answer of the hub: `code` for programs, `detail` (also the message) for people. */
export class ProblemError extends Error {
  override readonly name = "ProblemError";
  readonly problem: Problem;
  /** How many milliseconds the hub asks to be left alone; 0 if it does not say. */
  readonly retryAfter: number;

  constructor(problem: Problem, retryAfter: number) {
    super(problem.traceId ? `${problem.detail} (${problem.code}, trace ${problem.traceId})` : `${problem.detail} (${problem.code})`);
    this.problem = problem;
    this.retryAfter = retryAfter;
  }

  get code(): string {
    return this.problem.code;
  }

  get status(): number {
    return this.problem.status;
  }

  get detail(): string {
    return this.problem.detail;
  }
}

/** There are no credentials, or the hub does not take them any more. Log in again. */
export class LoggedOutError extends Error {
  override readonly name = "LoggedOutError";

  constructor(options?: ErrorOptions) {
    super("not logged in", options);
  }
}

/** The hub could not be talked to at all. */
export class UnreachableError extends Error {
  override readonly name = "UnreachableError";

  constructor(why: string, options?: ErrorOptions) {
    super(`hub is not reachable: ${why}`, options);
  }
}

/**
 * The hub answers over REST, but the socket was not opened, and a browser does not say why: the hub may be busy, or something on the way lets no
 * WebSocket pass.
 */
export class NotOpenedError extends Error {
  override readonly name = "NotOpenedError";

  constructor(options?: ErrorOptions) {
    super("the hub answers, but the socket was not opened: it may be busy, or a proxy on the way lets no WebSocket pass", options);
  }
}

/** Ends a stream for good: the same device connected elsewhere, or its login ended. Forget the login. */
export class KickedError extends Error {
  override readonly name = "KickedError";

  constructor(reason: string) {
    super(`the hub has ended this device's connection: ${reason}`);
  }
}

/** The cursor could not be kept: going on would repeat or lose frames at the next start. */
export class PositionError extends Error {
  override readonly name = "PositionError";

  constructor(cause: unknown) {
    super(`keep cursor: ${messageOf(cause)}`, { cause });
  }
}

/** A connection is over; the stream makes another one. `code` and `reason` are those of the WebSocket's close, 0 and "" if there was none. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";
  readonly code: number;
  readonly reason: string;

  constructor(why: string, code = 0, reason = "") {
    super(why);
    this.code = code;
    this.reason = reason;
  }
}

/** Ends the loop over a run that did not complete. What was said until then has been yielded. */
export class TaskError extends Error {
  override readonly name = "TaskError";
  /** The run that ended so: the one that was begun, or the last of those that continued it. */
  readonly run: string;
  readonly state: "failed" | "cancelled" | "interrupted";
  /** Why, for programs; "" where the hub has no more to say. */
  readonly code: string;
  /** Why, for people; may be empty. */
  readonly detail: string;

  constructor({ id, state, error: { code, message } = { code: "", message: "" } }: AgentTask) {
    super(`${id} ${state}${message && `: ${message}`}${code && ` (${code})`}`);
    this.run = id;
    this.state = state as TaskError["state"];
    this.code = code;
    this.detail = message;
  }
}

/** Ends a feed of cards: the conversation is not there for this user, or not any more. */
export class NoCardsError extends Error {
  override readonly name = "NoCardsError";

  constructor(cause: Error) {
    super(`no cards of this conversation can be had: ${cause.message}`, { cause });
  }
}

/** A hub's error without which nothing can be followed; the feed of cards tries again. */
export class CardRefusalError extends Error {
  override readonly name = "CardRefusalError";
  readonly info: CardErrorInfo;

  constructor(info: CardErrorInfo) {
    super(`${info.message} (${info.type})`);
    this.info = info;
  }
}

/** This machine or process was asleep: a connection that was open may be dead without a sign of it. */
export class SleptError extends Error {
  override readonly name = "SleptError";

  constructor() {
    super("this machine or process was asleep, or has another network");
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Reads an answer that is not 2xx. What is no problem document becomes one. */
export function problemOf(status: number, retryAfter: string | null | undefined, body: string): ProblemError {
  const problem = parse(body) ?? {
    type: "about:blank",
    title: "Unexpected answer",
    code: UNEXPECTED as Problem["code"],
    detail: `The address answered with ${status}, which is not an answer of a hub. Check the address.`,
    traceId: "",
    status,
  };
  return new ProblemError({ ...problem, status }, milliseconds(retryAfter));
}

function parse(body: string): Problem | undefined {
  try {
    const value = JSON.parse(body) as Partial<Problem> | null;
    return value && typeof value.code === "string" ? (value as Problem) : undefined;
  } catch {
    return undefined;
  }
}

/** Bounds what a hub may ask for, in milliseconds: one that restarts or is busy asks for seconds. */
export const MAX_RETRY_IN = 300_000;

/** Reads Retry-After in its form of seconds, the only one that a hub uses. */
function milliseconds(retryAfter: string | null | undefined): number {
  return /^\d+$/.test(retryAfter ?? "") ? Math.min(Number(retryAfter) * 1000, MAX_RETRY_IN) : 0;
}
