import type { Clock } from "../src/clock.js";

/** How many turns of the event loop without a timer mean that everybody waits. Nothing in these tests waits for the world outside. */
const TURNS = 30;

/** A clock that jumps to the next timer when everybody waits. */
export class JumpingClock implements Clock {
  #now = Date.UTC(2030, 0, 1);
  #timers: Array<{ at: number; then: () => void }> = [];
  #running = true;

  constructor() {
    void this.#run();
  }

  now(): number {
    return this.#now;
  }

  after(milliseconds: number, then: () => void): () => void {
    const timer = { at: this.#now + milliseconds, then };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** The lid is closed for so long: time passes and no timer runs. */
  sleep(milliseconds: number): void {
    this.#now += milliseconds;
  }

  stop(): void {
    this.#running = false;
  }

  async #run(): Promise<void> {
    while (this.#running) {
      for (let turn = 0; turn < TURNS; turn++) {
        await new Promise((resolve) => setImmediate(resolve));
      }
      const next = this.#timers.reduce<{ at: number; then: () => void } | undefined>((a, b) => (a && a.at <= b.at ? a : b), undefined);
      if (next) {
        this.#timers = this.#timers.filter((other) => other !== next);
        this.#now = Math.max(this.#now, next.at);
        next.then();
      }
    }
  }
}
