import type { Clock } from "./clock.js";
import { askedPause, isFatal } from "./ending.js";
import { elements, members } from "./json.js";
import { pause } from "./pause.js";
import { ProblemError, UNEXPECTED } from "./problem.js";
import type { Request, Send } from "./send.js";

const FIRST_ASK_AGAIN = 500; // milliseconds
const LAST_ASK_AGAIN = 10_000;
const SAY_AFTER = 10_000; // milliseconds without an answer

/** Says why what has to be fetched cannot be fetched for so long. It is asked for again. */
export interface Delay {
  error: Error;
}

/** A list's page: the texts of its items, and where the next one begins. */
export interface Page {
  items: string[];
  next: string | number | undefined;
  /** Of messages: every change up to this one is in them. */
  lastChange: number;
}

/** A resource, read and as it came. */
export interface Item<T> {
  raw: string;
  value: T;
}

export function itemOf<T>(raw: string): Item<T> {
  return { raw, value: JSON.parse(raw) as T };
}

/**
 * Asks until the hub answers, or refuses for good what it was asked for. Everything else passes: a hub that is busy, a proxy's page, a network
 * that is gone. The socket stands or will stand again, so none of them is a reason to leave a hole. Its generators return answers and yield why
 * there is none yet.
 */
export class Asker {
  readonly #send: Send;
  readonly #clock: Clock;
  readonly #signal: AbortSignal | undefined;

  constructor(send: Send, clock: Clock, signal?: AbortSignal) {
    this.#send = send;
    this.#clock = clock;
    this.#signal = signal;
  }

  /** A resource, as it came. It is the one that was asked for if it has these fields. */
  resource(path: string, fields: Record<string, string>): AsyncGenerator<Delay, string, void> {
    const known = Object.entries(fields);
    return this.#ask(path, {}, false, (text) => {
      const found = JSON.parse(text) as Record<string, unknown> | null;
      return known.every(([name, value]) => found?.[name] === value) ? text : undefined;
    });
  }

  /** A page of a list. With `insist` no refusal is final: every user has this. */
  page(path: string, query: Request["query"], insist = false): AsyncGenerator<Delay, Page, void> {
    return this.#ask(path, query, insist, (text) => {
      JSON.parse(text); // or throws
      const page = members(text);
      const items = page?.get("items") === "null" ? [] : elements(page?.get("items") ?? "");
      const next = JSON.parse(page?.get("next") ?? "null") ?? undefined;
      return items && { items, next, lastChange: Number(page?.get("last_change") ?? 0) };
    });
  }

  /** Asks until there is an answer that can be read. One that cannot be, some other program has given: taken for an empty one, it would make a client forget what it has. */
  async *#ask<T>(path: string, query: Request["query"], insist: boolean, read: (text: string) => T | undefined): AsyncGenerator<Delay, T, void> {
    const begun = this.#clock.now();
    for (let backoff = FIRST_ASK_AGAIN; ; backoff = Math.min(backoff * 2, LAST_ASK_AGAIN)) {
      let cause: unknown;
      try {
        const answer = read(await this.#send<string>({ method: "GET", path, query, answer: "text" }, { signal: this.#signal }));
        if (answer !== undefined) {
          return answer;
        }
        cause = new Error(`what ${path} answers is not of a hub`);
      } catch (error) {
        cause = error;
      }
      this.#signal?.throwIfAborted();
      if (isFatal(cause) || (isRefused(cause) && !insist)) {
        throw cause;
      }
      const wait = Math.max(jitter(backoff), later(askedPause(cause)));
      if (this.#clock.now() - begun + wait >= SAY_AFTER) {
        yield { error: asError(cause) };
      }
      await pause(this.#clock, wait, this.#signal);
    }
  }
}

/** Drops a hub's refusal: what it does not give, a conversation that was left or a run that was removed, cannot be told. */
export async function* forgivable<Y, R>(asked: AsyncGenerator<Y, R, void>): AsyncGenerator<Y, R | undefined, void> {
  try {
    return yield* asked;
  } catch (error) {
    if (isRefused(error)) {
      return undefined;
    }
    throw error;
  }
}

/** Whether the hub itself, and no proxy before it, does not give what it was asked for. */
function isRefused(error: unknown): boolean {
  return error instanceof ProblemError && error.code !== UNEXPECTED && [403, 404, 410].includes(error.status);
}

/** `d` ± a quarter, so that many clients do not come back at once. */
export function jitter(d: number): number {
  return Math.round((d * 3) / 4 + Math.random() * (d / 2));
}

/** `d` and up to a quarter more, in whole milliseconds, for the same reason: many were asked to come back then. */
export function later(d: number): number {
  return Math.round(d + (Math.random() * d) / 4);
}

export function asError(cause: unknown): Error {
  return cause instanceof Error ? cause : new Error(String(cause));
}
