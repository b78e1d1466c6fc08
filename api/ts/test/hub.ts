import { EventEmitter } from "node:events";
import { PassThrough } from "node:stream";

import { Client, type ClientOptions, type Credentials, MemoryKeeper } from "../src/index.js";
import { JumpingClock } from "./clock.js";

/** An answer over REST. */
export interface Answer {
  status?: number;
  retry_after?: number;
  /** A text is sent as it is, anything else as JSON. */
  body?: unknown;
  /** How long at least and at most after the request before, in milliseconds. */
  after_ms?: [number, number];
}

/** The hub's side of a socket. */
export class FarEnd {
  readonly cursor: string;
  readonly protocols: string[];
  readonly closed: Promise<void>;
  readonly #socket: FakeSocket;
  #seq = 0;

  constructor(socket: FakeSocket) {
    const url = new URL(socket.url);
    this.cursor = url.searchParams.get("cursor") ?? "";
    this.protocols = socket.protocols;
    this.#socket = socket;
    this.closed = new Promise((resolve) => (socket.whenClosed = resolve));
  }

  /** The number of the newest frame. */
  get seq(): number {
    return this.#seq;
  }

  set seq(seq: number) {
    this.#seq = seq;
  }

  send(type: string, payload: unknown, cursor?: string): void {
    this.text(JSON.stringify({ type, seq_id: ++this.#seq, payload, cursor }));
  }

  text(text: string): void {
    this.#socket.onmessage?.({ data: text });
  }

  hello(resume: string, cursor = "", more: object = {}): void {
    this.send("auth.ok", { resume, connection_id: "conn_1", ...more }, cursor || undefined);
  }

  message(id: string, cursor?: string): void {
    this.send("message.new", { id, session_id: "sess_1", seq_id: 1 }, cursor);
  }

  close(code: number, reason = ""): void {
    this.#socket.end(code, reason);
  }

  cut(): void {
    this.close(1006);
  }
}

/** A WebSocket in memory. */
class FakeSocket {
  onopen: ((event: unknown) => void) | null = null;
  onmessage: ((event: unknown) => void) | null = null;
  onclose: ((event: unknown) => void) | null = null;
  onerror: ((event: unknown) => void) | null = null;
  whenClosed = () => {};
  #over = false;

  constructor(
    readonly url: string,
    readonly protocols: string[],
  ) {}

  close(): void {
    this.end(1000, "");
  }

  end(code: number, reason: string): void {
    if (!this.#over) {
      this.#over = true;
      queueMicrotask(() => {
        this.onclose?.({ code, reason });
        this.whenClosed();
      });
    }
  }
}

/** As much of a hub as the SDK talks to, in memory. A test drives the far end of each socket. */
export class FakeHub {
  readonly clock = new JumpingClock();
  /** What is answered, by method and path; the last of a list for ever. */
  readonly rest = new Map<string, Answer[]>();
  readonly requests = new Map<string, number>();
  readonly bodies: string[] = [];
  /** Requests that came at another time than their answer says. */
  readonly faults: string[] = [];
  readonly #asked = new Map<string, number>();
  /** Takes a new socket, or refuses the upgrade. */
  accept: (end: FarEnd, token: string) => Answer | void = (end) => void this.#sockets.push(end);
  access = "access-0";
  refresh = "refresh-0";
  renewals = 0;
  #sockets: FarEnd[] = [];
  #refused: Answer | undefined;

  /** Whether sockets say why they were refused, as those of `ws` do and a browser's do not. */
  constructor(readonly tells = true) {}

  client(good = 3_600_000, options: Partial<ClientOptions> = {}): Client {
    return new Client({ hub: "http://hub", keeper: this.keeper(good), fetch: this.fetch, WebSocket: this.socketClass(), clock: this.clock, ...options });
  }

  keeper(good: number, user = ""): MemoryKeeper {
    return new MemoryKeeper({ user_id: user, access_token: this.access, refresh_token: this.refresh, expires_at: this.clock.now() + good } as Credentials);
  }

  /** What clients have said over sockets. */
  readonly said: string[] = [];

  /** The next socket that a client has opened. */
  async socket(): Promise<FarEnd> {
    for (;;) {
      const end = this.#sockets.shift();
      if (end) {
        return end;
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** How often an operation was asked for. */
  count(request: string): number {
    return this.requests.get(request) ?? 0;
  }

  fetch = async (input: URL | RequestInfo, init?: RequestInit): Promise<Response> => {
    const key = `${init?.method} ${new URL(String(input)).pathname}`;
    const count = this.count(key);
    this.requests.set(key, count + 1);
    this.bodies.push(String(init?.body ?? ""));
    const answers = this.rest.get(key) ?? [this.#usual(key, init)];
    const answer = answers[Math.min(count, answers.length - 1)] ?? {};
    const after = this.clock.now() - (this.#asked.get(key) ?? 0);
    this.#asked.set(key, this.clock.now());
    if (answer.after_ms && (after < answer.after_ms[0] || after > answer.after_ms[1])) {
      this.faults.push(`${key}, time ${count + 1}: asked after ${after} ms, want ${answer.after_ms}`);
    }
    return responseOf(answer);
  };

  #usual(key: string, init?: RequestInit): Answer {
    if (key === "POST /client/auth/refresh") {
      return this.#renew(String(init?.body));
    }
    if (key === "GET /client/auth/me" && this.#refused?.status === 401) {
      return this.#refused; // the token is as bad here; that sockets are too many is no matter here
    }
    if (new Headers(init?.headers).get("Authorization") !== `Bearer ${this.access}`) {
      return problem(401, "unauthenticated");
    }
    return key === "GET /client/auth/me" ? { body: { user: { username: "ada" } } } : problem(404, "not_found");
  }

  #renew(body: string): Answer {
    if (JSON.parse(body).refresh_token !== this.refresh) {
      return problem(401, "unauthenticated");
    }
    this.renewals++;
    this.access = `access-${this.renewals}`;
    this.refresh = `refresh-${this.renewals}`;
    this.#refused = undefined;
    const tokens = { access_token: this.access, refresh_token: this.refresh, expires_in: 86_400, user: { id: "u", username: "ada" }, device: { id: "d" } };
    return { body: tokens };
  }

  socketClass(): ClientOptions["WebSocket"] {
    const hub = this;
    return class extends FakeSocket {
      #listeners = new EventEmitter();

      constructor(url: string, protocols?: string | string[]) {
        super(url, [protocols ?? []].flat());
        if (hub.tells) {
          Object.assign(this, { on: this.#listeners.on.bind(this.#listeners) });
        }
        setImmediate(() => this.#opened());
      }

      send(text: string): void {
        hub.said.push(text);
      }

      #opened(): void {
        const refusal = hub.accept(new FarEnd(this), this.protocols[1] ?? "");
        if (!refusal) {
          this.onopen?.({});
          return;
        }
        hub.#refused = refusal;
        if (hub.tells) {
          this.#listeners.emit("unexpected-response", { destroy: () => this.end(1006, "") }, incomingOf(refusal));
        } else {
          this.end(1006, "");
        }
      }
    };
  }
}

export function problem(status: number, code: string, more: Partial<Answer> = {}): Answer {
  return { status, body: { type: `urn:switchyard:problem:${code}`, title: code, status, detail: "No.", code, traceId: "4bf92f3577b34da6a3ce929d0e0e4736" }, ...more };
}

function textOf(answer: Answer): string | null {
  return answer.body === undefined ? null : typeof answer.body === "string" ? answer.body : JSON.stringify(answer.body);
}

function headersOf(answer: Answer): Record<string, string> {
  return answer.retry_after ? { "retry-after": String(answer.retry_after) } : {};
}

function responseOf(answer: Answer): Response {
  const response = new Response(textOf(answer), { status: answer.status ?? 200, headers: headersOf(answer) });
  Object.defineProperty(response, "url", { value: "http://hub/" });
  return response;
}

/** The answer as Node's http module has it. */
function incomingOf(answer: Answer): object {
  const body = new PassThrough();
  body.end(textOf(answer) ?? "");
  return Object.assign(body, { statusCode: answer.status, headers: headersOf(answer) });
}
