import assert from "node:assert/strict";
import type { TestContext } from "node:test";

import type { CardErrorInfo, CardEvent, CardFeed, CardFrame, CardOptions, CardUpdate } from "../src/index.js";
import { FakeHub, type FarEnd } from "./hub.js";

export const TRACE = "tr_0123456789abcdef01234567";

/** A frame as the hub hears it. */
export type Said = CardFrame & { event_id?: string };

/** The far end of /v1/ws: one conversation with one trace. */
export class CardHub extends FakeHub {
  last = 0; // number of the trace
  #heard = 0;

  /** The next frame of the client that is no ping. */
  async heard(): Promise<Said> {
    for (;;) {
      const said = await this.next();
      if ((said.type as string) !== "ping") {
        return said;
      }
    }
  }

  /** The next frame of the client. */
  async next(): Promise<Said> {
    while (this.said.length <= this.#heard) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    return JSON.parse(this.said[this.#heard++] ?? "") as Said;
  }

  async expect(...want: Array<Partial<Said> & { type: string }>): Promise<void> {
    for (const one of want) {
      const { event_id, ...said } = await this.heard();
      assert.deepEqual(said, one);
    }
  }

  /** A connection whose conversation was opened. */
  async open(): Promise<FarEnd> {
    const end = await this.socket();
    assert.equal((await this.heard()).type, "session.create");
    this.tell(end, "opened", { protocol_version: "2.0", capabilities: { recovery: true } });
    return end;
  }

  /** The same, of which the client asks from behind a number. */
  async welcome(last: number): Promise<FarEnd> {
    const end = await this.open();
    await this.expectResume(last);
    return end;
  }

  async expectResume(last: number): Promise<void> {
    const said = await this.heard();
    assert.deepEqual([said.type, "last_seq" in said && said.last_seq], ["session.resume", last]);
  }

  tell(end: FarEnd, kind: string, inner: object): void {
    end.text(JSON.stringify({ type: "session.event", envelope: { ...this.#envelope(), session_id: "sess_1" }, payload: { kind, inner } }));
  }

  resumed(end: FarEnd, from_seq: number, to_seq: number): void {
    this.tell(end, "resumed", { trace_id: TRACE, from_seq, to_seq });
  }

  refuse(end: FarEnd, error: Partial<CardErrorInfo>, details?: Record<string, unknown>): void {
    this.tell(end, "error", { error: { message: "m", user_message: "u", retryable: false, ...error, details } });
  }

  /** The next event of the trace, as a text. */
  event(type: string, payload: object, id = "", kind = id && "message"): string {
    return JSON.stringify({ type, envelope: { ...this.#envelope(), card_id: id, card_kind: kind, seq: ++this.last }, payload });
  }

  /** The same of a tool. */
  tool(id: string, type: string, payload: object): string {
    return this.event(type, payload, id, "tool");
  }

  add(): string {
    return this.event("card.add", { role: "assistant" }, "msg_1");
  }

  append(chunk: string): string {
    return this.event("card.append", { channel: "text", chunk }, "msg_1");
  }

  #envelope(): object {
    return { trace_id: TRACE, card_id: "", card_kind: "", timestamp: new Date(this.clock.now()).toISOString() };
  }
}

/** Pulls updates one by one. */
export class CardFollower {
  readonly feed: CardFeed;
  readonly #updates: AsyncGenerator<CardUpdate, void, void>;

  constructor(t: TestContext, hub: CardHub, options: CardOptions = { session: "sess_1" }) {
    const over = new AbortController();
    t.after(() => {
      over.abort();
      hub.clock.stop();
    });
    this.feed = hub.client().cards({ signal: over.signal, ...options });
    this.#updates = this.feed.follow();
  }

  async update(): Promise<CardUpdate> {
    const { value } = await this.#updates.next();
    assert.ok(value, "the feed has ended");
    return value;
  }

  /** Wants the next updates to be events: their types, and for session events what they tell. Returns the last one. */
  async events(...want: string[]): Promise<CardUpdate> {
    let update: CardUpdate = {};
    for (const name of want) {
      update = await this.update();
      assert.equal(nameOf(update.event), name, update.error?.message);
    }
    return update;
  }

  async down(): Promise<Error> {
    const { link, error, event } = await this.update();
    assert.equal(link, "down", nameOf(event));
    return error!;
  }

  /** Why the feed ends. */
  async end(): Promise<Error> {
    return this.#updates.next().then(({ value }) => assert.fail(`the feed tells ${nameOf(value?.event)}`), (error: Error) => error);
  }

  get text(): string | undefined {
    return this.feed.forest.card("msg_1")?.text("text");
  }
}

function nameOf(event: CardEvent | undefined): string {
  return event?.type === "session.event" ? event.payload.kind : (event?.type ?? "no event");
}
