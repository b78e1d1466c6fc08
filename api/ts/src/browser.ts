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
    await write(this.#key, credentials);
  }

  async update(change: (newest: Credentials) => Promise<Credentials>, signal?: AbortSignal): Promise<void> {
    await navigator.locks.request(`switchyard ${this.#key}`, { signal }, async () => this.save(await change(await this.load())));
  }

  async clear(): Promise<void> {
    await write(this.#key, undefined);
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

function open(): Promise<IDBDatabase> {
  database ??= new Promise((resolve, reject) => {
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
  return database;
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
