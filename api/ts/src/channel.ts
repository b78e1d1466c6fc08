import type { FeedState } from "./feed.js";
import type { Update } from "./update.js";

/** What tabs of one browser profile tell each other. `term` names one leadership, `n` counts its updates from 1. */
export type Message =
  | { kind: "lead"; term: string; cursor: string }
  | { kind: "update"; term: string; n: number; update: PlainUpdate; resync: boolean }
  | { kind: "join"; from: string }
  | { kind: "state"; to: string; term: string; n: number; cursor: string; state: FeedState }
  | { kind: "typing"; session: string }
  | { kind: "end"; name: string; why: string };

/** An update as it can be sent. */
export type PlainUpdate = Omit<Update, "error"> & { why?: string };

/** As much of a BroadcastChannel as is used. */
export interface Channel {
  onmessage: ((event: { data: Message }) => void) | null;
  postMessage(message: Message): void;
  close(): void;
}

/** As much of a LockManager as is used. */
export interface Locks {
  request(name: string, options: { signal: AbortSignal }, whileHeld: () => Promise<void>): Promise<unknown>;
}

/** What a browser offers for it. */
export interface Surroundings {
  locks: Locks;
  channel(name: string): Channel;
}

/** The browser's own. Throws where there is none. */
export function browserSurroundings(): Surroundings {
  const { locks } = (globalThis.navigator ?? {}) as { locks?: Locks };
  if (!locks || typeof BroadcastChannel === "undefined") {
    throw new Error("one connection for all tabs needs Web Locks, which browsers have on pages of https and of localhost");
  }
  return { locks, channel: (name) => new BroadcastChannel(name) as unknown as Channel };
}

export function plain({ error, ...update }: Update): PlainUpdate {
  return error ? { ...update, why: error.message } : update;
}

export function unplain({ why, ...update }: PlainUpdate): Update {
  return why === undefined ? update : { ...update, error: new Error(why) };
}
