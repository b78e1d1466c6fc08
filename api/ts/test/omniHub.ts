import assert from "node:assert/strict";
import type { TestContext } from "node:test";

import { type AgentTask, isPartialPayload, lineOf, type OmniApproval, type OmniMessage, type OmniPayload, type OmniSession } from "../src/index.js";
import { type Answer, FakeHub } from "./hub.js";

const PATH = "/api/sessions/sess_1";

/** As much of a hub as an OmniSession talks to, in memory: one conversation whose log has places, each with the messages of one event. */
export class OmniHub {
  readonly base = new FakeHub();
  epoch = "0badcafe";
  /** Places up to it are not kept. */
  floor = 0;
  readonly places: OmniMessage[][] = []; // place n is places[n - 1]
  active: string[] = []; // runs that are not over
  readonly ends = new Map<string, Partial<AgentTask>>(); // how runs ended that did not just complete
  runs: string[] = []; // of them, that have begun
  lazy = false; // runs begin when the test says so
  readonly asks = new Map<string, OmniApproval>();
  readonly tasks = new Map<string, string>(); // runs by key
  readonly sent: string[] = []; // method, path and body
  readonly streams: string[] = []; // the `after` of each connection
  /** How many bytes a connection brings; all if it says nothing. */
  budget: () => number | undefined = () => undefined;
  /** What is answered in place of what happens, by method and path. */
  readonly refuse = new Map<string, () => Answer | undefined>();
  pings = true;
  /** A task was taken. */
  accepted: (run: string) => void = () => {};
  #wake: Array<() => void> = [];

  constructor(t: TestContext) {
    t.after(() => this.base.clock.stop());
  }

  get session(): OmniSession {
    return this.base.client(undefined, { fetch: this.fetch }).session("sess_1");
  }

  /** Waits by the hub's clock. */
  sleep(milliseconds: number): Promise<void> {
    return new Promise((resolve) => this.base.clock.after(milliseconds, resolve));
  }

  change(change: () => void): void {
    change();
    for (const wake of this.#wake.splice(0)) {
      wake();
    }
  }

  /** Adds a place. */
  say(...messages: OmniMessage[]): void {
    this.change(() => this.places.push(messages));
  }

  end(run: string): void {
    this.change(() => {
      this.active = this.active.filter((other) => other !== run);
      this.runs = this.runs.filter((other) => other !== run);
    });
  }

  cursor(place: number): string {
    return `${this.epoch}-${place}`;
  }

  /** The lines behind a place, in order. */
  told(after: number): string[] {
    return this.places.slice(after).flat().map(lineOf);
  }

  readonly fetch: typeof globalThis.fetch = async (input, init) => {
    const url = new URL(String(input));
    const [, run] = /^\/web\/agent-tasks\/(.+)$/.exec(url.pathname) ?? [];
    if (run) {
      this.sent.push(`GET ${url.pathname}`);
      assert.ok(!this.active.includes(run), `${run} was asked for while it is at work`);
      return Response.json({ id: run, state: "completed", ...this.ends.get(run) });
    }
    if (!url.pathname.startsWith(PATH)) {
      return this.base.fetch(input, init);
    }
    const key = `${init?.method} ${decodeURIComponent(url.pathname.slice(PATH.length))}`;
    this.sent.push(init?.body ? `${key} ${init.body as string}` : key);
    const refusal = this.refuse.get(key)?.();
    if (refusal) {
      const body = refusal.body === undefined ? null : JSON.stringify(refusal.body);
      return new Response(body, { status: refusal.status ?? 200, headers: refusal.retry_after ? { "Retry-After": String(refusal.retry_after) } : {} });
    }
    switch (key) {
      case "GET /stream":
        return this.#stream(url.searchParams.get("after") ?? "", init?.signal ?? undefined);
      case "GET /messages":
        return this.#page(url.searchParams.get("after") ?? "0");
      case "GET ":
        return Response.json({ state: "running", runs: this.active });
      case "POST /tasks":
        return this.#task(new Headers(init?.headers).get("Idempotency-Key") ?? "");
      default:
        return new Response(null, { status: 204 });
    }
  };

  #task(key: string): Response {
    let runId = this.tasks.get(key);
    if (!runId) {
      runId = `run_${this.tasks.size + 1}`;
      this.tasks.set(key, runId);
      const run = runId;
      this.change(() => {
        this.active.push(run);
        if (!this.lazy) {
          this.runs.push(run);
        }
      });
      this.accepted(run);
    }
    return Response.json({ sessionId: "sess_1", messageId: "msg_1", runId }, { status: 202 });
  }

  /** Pages forward, two places at a time. */
  #page(after: string): Response {
    const from = after === "0" ? this.floor : Number(after.split("-")[1]);
    const to = Math.min(from + 2, this.places.length);
    const whole = ({ type, payload }: OmniMessage) => type !== "model_msg" || !isPartialPayload(payload as OmniPayload);
    const messages = this.places.slice(from, to).flatMap((place, i) =>
      place.filter(whole).map((message, n) => `{"position":"${this.cursor(from + i + 1)}.${n}","message":${lineOf(message)}}`),
    );
    return new Response(`{"messages":[${messages.join()}],"cursor":"${this.cursor(to)}","more":${to < this.places.length}}`);
  }

  /** Tells what follows a cursor: what is at work was read before what is told until then. */
  #stream(after: string, signal?: AbortSignal): Response {
    this.streams.push(after);
    let left = this.budget();
    let resync = "";
    let at = this.places.length;
    const [epoch, place] = after.split("-");
    if (after === "0") {
      at = this.floor;
    } else if (after !== "" && epoch !== this.epoch) {
      resync = "epoch";
    } else if (after !== "" && Number(place) < this.floor) {
      resync = "trimmed";
    } else if (after !== "") {
      at = Number(place);
    }
    const encoder = new TextEncoder();
    const body = new ReadableStream<Uint8Array>({
      start: (out) => {
        let over = false;
        const end = (error: Error) => {
          if (!over) {
            over = true;
            out.error(error);
          }
        };
        signal?.addEventListener("abort", () => end(signal.reason as Error));
        const write = (text: string) => {
          if (over) {
            return;
          }
          const bytes = encoder.encode(text);
          out.enqueue(left === undefined ? bytes : bytes.subarray(0, left));
          left = left === undefined ? undefined : left - bytes.length;
          if (left !== undefined && left < 0) {
            setImmediate(() => end(new TypeError("terminated")));
          }
        };
        write(`id: ${this.cursor(at)}\n\n`);
        if (resync) {
          write(`event: server_event\ndata: {"type":"resync_required","reason":"${resync}"}\n\n`);
        }
        void this.#live(at, write, () => over || (left !== undefined && left < 0));
      },
    });
    return new Response(body, { headers: { "Content-Type": "text/event-stream" } });
  }

  async #live(at: number, write: (text: string) => void, over: () => boolean): Promise<void> {
    let state = "";
    const asked = new Set<string>();
    while (!over()) {
      const said = JSON.stringify({ type: "task_state", state: "running", runs: this.runs });
      for (; at < this.places.length && !over(); ) {
        const messages = this.places[at++] ?? [];
        write(messages.map((message, i) => `${i === messages.length - 1 ? `id: ${this.cursor(at)}\n` : ""}data: ${lineOf(message)}\n\n`).join(""));
      }
      if (said !== state) {
        state = said;
        write(`event: server_event\ndata: ${said}\n\n`);
      }
      for (const [requestId, { toolCall }] of this.asks) {
        if (!asked.has(requestId)) {
          asked.add(requestId);
          write(`event: server_event\ndata: ${JSON.stringify({ type: "approval_request", toolCall, requestId })}\n\n`);
        }
      }
      let stop = () => {};
      await new Promise<void>((resolve) => {
        this.#wake.push(resolve);
        stop = this.base.clock.after(20_000, () => {
          if (this.pings) {
            write(": ping\n\n");
          }
          resolve();
        });
      });
      stop();
    }
  }
}
