import type { Clock } from "./clock.js";

const CHECK = 1_000;
/** A clock that jumps by so many milliseconds between two checks: the machine was asleep. */
const GAP = 10_000;
/** The same for a page that nobody sees: browsers let its timers run once a minute. */
const HIDDEN_GAP = 75_000;

/** What may end the silence of a connection that looks alive, or the wait for the next try. */
export interface Wakes {
  /** The machine or process was asleep, or has another network: an open connection may be dead without a sign of it. */
  slept(): void;
  /** Somebody looks at the page again. */
  seen(): void;
}

interface Page {
  addEventListener(type: string, listener: () => void): void;
  removeEventListener(type: string, listener: () => void): void;
  readonly visibilityState?: string;
}

/** Watches the clock, and in a browser the network and whether the page is seen. Returns what ends that. */
export function watchWakes(clock: Clock, wakes: Wakes): () => void {
  const { document, addEventListener, removeEventListener } = globalThis as unknown as { document?: Page } & Partial<Page>;
  const hidden = () => document?.visibilityState === "hidden";
  let stop = () => {};
  let last = clock.now();
  let unseen = hidden(); // at `last` or since: its timers may be late
  const check = () => {
    const now = clock.now();
    if (now - last > (unseen ? HIDDEN_GAP : GAP)) {
      wakes.slept();
    }
    unseen = hidden();
    last = now;
    stop = clock.after(CHECK, check);
  };
  stop = clock.after(CHECK, check);
  if (!document || !addEventListener || !removeEventListener) {
    return () => stop();
  }
  const online = () => wakes.slept();
  const visible = () => {
    if (hidden()) {
      unseen = true;
    } else {
      wakes.seen();
    }
  };
  addEventListener("online", online);
  document.addEventListener("visibilitychange", visible);
  return () => {
    stop();
    removeEventListener("online", online);
    document.removeEventListener("visibilitychange", visible);
  };
}
