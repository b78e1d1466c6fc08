/** Time, so that tests need not wait. */
export interface Clock {
  /** Milliseconds since 1970 by the wall clock, which jumps ahead when a machine wakes. */
  now(): number;
  /** Calls `then` after some milliseconds, unless the function that it returns is called before. */
  after(milliseconds: number, then: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  after(milliseconds, then) {
    const timer = setTimeout(then, milliseconds);
    return () => clearTimeout(timer);
  },
};
