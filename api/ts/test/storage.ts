import type { TestContext } from "node:test";

interface Request {
  result?: unknown;
  error?: Error;
  onsuccess?: () => void;
  onerror?: () => void;
  onupgradeneeded?: () => void;
  oncomplete?: () => void;
}

/** As much of a browser as keeps things for all tabs: IndexedDB and Web Locks, in memory. */
export class Storage {
  readonly kept = new Map<string, unknown>();
  /** Fails as many times as this says when it is opened. */
  failures = 0;
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(t: TestContext) {
    const before = ["indexedDB", "navigator"].map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)] as const);
    const define = (name: string, value: unknown) => Object.defineProperty(globalThis, name, { value, configurable: true });
    define("indexedDB", { open: () => this.#open() });
    define("navigator", { locks: { request: (...args: Parameters<Storage["request"]>) => this.request(...args) } });
    t.after(() => before.forEach(([name, was]) => (was ? Object.defineProperty(globalThis, name, was) : Reflect.deleteProperty(globalThis, name))));
  }

  /** One after the other, for each name. */
  request<T>(name: string, options: { signal?: AbortSignal }, whileHeld: () => Promise<T>): Promise<T> {
    const mine = (this.#turns.get(name) ?? Promise.resolve()).then(() => {
      options.signal?.throwIfAborted();
      return whileHeld();
    });
    this.#turns.set(name, mine.catch(() => undefined));
    return mine;
  }

  #open(): Request {
    if (this.failures-- > 0) {
      return answered({ error: new Error("no database now") });
    }
    return answered({ result: { transaction: () => this.#transaction() } });
  }

  #transaction(): object {
    const transaction = answered({});
    const store = {
      get: (key: string) => answered({ result: structuredClone(this.kept.get(key)) }),
      put: (value: unknown, key: string) => void this.kept.set(key, structuredClone(value)),
    };
    return Object.assign(transaction, { objectStore: () => store });
  }
}

/** A request that succeeds or fails when whoever made it listens. */
function answered(request: Request): Request {
  setImmediate(() => (request.error ? request.onerror?.() : (request.onsuccess ?? request.oncomplete)?.()));
  return request;
}
