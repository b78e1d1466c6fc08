import type { Credentials, Keeper } from "./credentials.js";
import { LoggedOutError } from "./problem.js";
import type { Position } from "./position.js";

const DATABASE = "switchyard";
const STORE = "kept";

/** Keeps the credentials of a device in the browser profile (IndexedDB), for all tabs of the origin. One tab at a time renews them. */
export class BrowserKeeper implements Keeper {
  readonly #key: string;

  /** `name` tells several logins of one origin apart. */
  constructor(name = "default") {
    this.#key = `credentials ${name}`;
  }

  async load(): Promise<Credentials> {
    const kept = await read<Credentials>(this.#key);
    if (!kept) {
      throw new LoggedOutError();
    }
    return kept;
  }

  /** Keeps what a login has given. */
  async save(credentials: Credentials): Promise<void> {
    await this.#alone(() => write(this.#key, credentials));
  }

  async update(change: (newest: Credentials) => Promise<Credentials>, signal?: AbortSignal): Promise<void> {
    await this.#alone(async () => {
      try {
        await write(this.#key, await change(await this.load()));
      } catch (error) {
        if (error instanceof LoggedOutError) {
          await write(this.#key, undefined);
        }
        throw error;
      }
    }, signal);
  }

  async clear(): Promise<void> {
    await this.#alone(() => write(this.#key, undefined));
  }

  /** Changes what is kept while no other tab does: what comes of a renewal must not replace a new login, or bring back one that was forgotten. */
  async #alone(change: () => Promise<void>, signal?: AbortSignal): Promise<void> {
    const { locks } = navigator as { locks?: LockManager };
    if (!locks) {
      throw new Error("to keep a login for all tabs needs Web Locks, which browsers have on pages of https and of localhost");
    }
    await locks.request(`switchyard ${this.#key}`, { signal }, change);
  }
}

/** Keeps a cursor in the browser profile. */
export class BrowserPosition implements Position {
  readonly #key: string;

  constructor(name: string) {
    this.#key = `cursor ${name}`;
  }

  async loadCursor(): Promise<string> {
    return (await read<string>(this.#key)) ?? "";
  }

  async saveCursor(cursor: string): Promise<void> {
    await write(this.#key, cursor);
  }
}

let database: Promise<IDBDatabase> | undefined;

/** Opens the database, once for the page. One that could not be opened is tried again. */
function open(): Promise<IDBDatabase> {
  database ??= opened().catch((error: unknown) => {
    database = undefined;
    throw error;
  });
  return database;
}

function opened(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASE, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE);
    request.onerror = () => reject(request.error);
    request.onsuccess = () => {
      request.result.onversionchange = request.result.onclose = () => {
        request.result.close();
        database = undefined;
      };
      resolve(request.result);
    };
  });
}

async function read<T>(key: string): Promise<T | undefined> {
  const request = (await open()).transaction(STORE).objectStore(STORE).get(key);
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result as T | undefined);
    request.onerror = () => reject(request.error);
  });
}

async function write(key: string, value: unknown): Promise<void> {
  const transaction = (await open()).transaction(STORE, "readwrite");
  transaction.objectStore(STORE).put(value, key);
  await new Promise<void>((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onerror = transaction.onabort = () => reject(transaction.error);
  });
}
