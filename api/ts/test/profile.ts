import type { Channel, Locks, Message, Surroundings } from "../src/channel.js";

/** A browser profile in memory: one lock, one channel, for tabs that can be killed. */
export class Profile {
  readonly #queue: Array<{ tab: object; enter: () => void }> = [];
  #holder: object | undefined;
  readonly #channels = new Map<FakeChannel, object>();
  /** Loses messages on their way to some tab; none without it. */
  lose: (message: Message, to: object) => boolean = () => false;

  /** What a browser offers to one tab. */
  tab(tab: object): Surroundings {
    return { locks: { request: (_, options, whileHeld) => this.#request(tab, options.signal, whileHeld) } satisfies Locks, channel: () => this.#open(tab) };
  }

  /** The tab is gone from one moment to the next: no code of it runs any more. */
  kill(tab: object): void {
    for (const [channel, of] of this.#channels) {
      if (of === tab) {
        channel.close();
      }
    }
    this.#free(tab);
  }

  async #request(tab: object, signal: AbortSignal, whileHeld: () => Promise<void>): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#queue.push({ tab, enter: resolve });
      signal.addEventListener("abort", () => {
        const at = this.#queue.findIndex((waiting) => waiting.tab === tab);
        if (at >= 0) {
          this.#queue.splice(at, 1);
          reject(signal.reason);
        }
      });
      this.#next();
    });
    try {
      await whileHeld();
    } finally {
      this.#free(tab);
    }
  }

  #free(tab: object): void {
    if (this.#holder === tab) {
      this.#holder = undefined;
      setImmediate(() => this.#next());
    }
  }

  #next(): void {
    const first = this.#holder ? undefined : this.#queue.shift();
    if (first) {
      this.#holder = first.tab;
      first.enter();
    }
  }

  #open(tab: object): Channel {
    const channel = new FakeChannel((message) => this.#post(channel, message), () => this.#channels.delete(channel));
    this.#channels.set(channel, tab);
    return channel;
  }

  #post(from: FakeChannel, message: Message): void {
    for (const [channel, tab] of this.#channels) {
      const copy = structuredClone(message);
      if (channel !== from && !this.lose(message, tab)) {
        setImmediate(() => channel.onmessage?.({ data: copy }));
      }
    }
  }
}

class FakeChannel implements Channel {
  onmessage: ((event: { data: Message }) => void) | null = null;
  #open = true;

  constructor(
    readonly post: (message: Message) => void,
    readonly left: () => void,
  ) {}

  postMessage(message: Message): void {
    if (this.#open) {
      this.post(message);
    }
  }

  close(): void {
    this.#open = false;
    this.onmessage = null;
    this.left();
  }
}
