/** Time, so that tests need not wait. */
export interface Clock {
  /** Milliseconds since 1970 by the wall clock, which jumps ahead when a machine wakes. */
  now(): number;
  /** Calls `then` after some milliseconds, unless the function that it returns is called before. */
  after(milliseconds: number, then: () => void): () => void;
}

/** The longest time that a timer can wait, in milliseconds: with more it would fire at once. */
const LONGEST = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  after(milliseconds, then) {
    const timer = setTimeout(then, Math.min(milliseconds, LONGEST));
    return () => clearTimeout(timer);
  },
};
