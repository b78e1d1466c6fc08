import { fits, shaped, type CardEvent } from "./cardEvent.js";
import type {
  CardAppendPayload, CardChannel, CardErrorInfo, CardHint, CardKind, CardMetrics, CardRole, CardStatus, CardTickKind, CardTickPayload,
} from "./cards.gen.js";
import { members, object } from "./json.js";

/** How many ticks of a card are kept: the newest (S0 §14). */
const MAX_TICKS = 50;

/** A signal that a card has given. `raw` is the text of `inner` as the hub wrote it. */
export interface CardTick {
  readonly kind: CardTickKind;
  readonly inner: unknown;
  readonly raw: string;
}

/** One card as it stands. It belongs to its forest and changes with it. */
export class Card {
  readonly id: string;
  /** Of the card that it stands below; "" at the root. */
  readonly parent: string;
  readonly kind: CardKind;
  readonly agentId: string;
  readonly agentRole: CardRole | undefined;
  readonly run: string;
  readonly #fields: Map<string, string>; // the payload, each field as it was written
  readonly #channels = new Map<CardChannel, Map<number, string>>();
  #payload: Readonly<Record<string, unknown>> | undefined;
  #ticks: CardTick[] = [];
  #status: CardStatus | "open" = "open";
  #hint: CardHint;
  #metrics: CardMetrics | undefined;
  #events = 1;
  #updatedAt: number;
  #newestAppend = 0;

  /** `fields` are the texts of the payload's members. */
  constructor({ envelope, hint = {} }: CardEvent, fields: Map<string, string>) {
    this.id = envelope.card_id;
    this.parent = envelope.parent_card_id ?? "";
    this.kind = envelope.card_kind;
    this.agentId = envelope.agent_id ?? "";
    this.agentRole = envelope.agent_role;
    this.run = envelope.agent_run_id ?? "";
    this.#fields = fields;
    this.#hint = hint;
    this.#updatedAt = timeOf(envelope.timestamp);
  }

  get status(): CardStatus | "open" {
    return this.#status;
  }

  /** That of `card.add`, with what came later; at the end with the fields of the end, and `error` of a failed one. See `CardPayloads`. */
  get payload(): Readonly<Record<string, unknown>> {
    return (this.#payload ??= Object.fromEntries(Array.from(this.#fields, ([name, raw]) => [name, JSON.parse(raw)])));
  }

  get hint(): CardHint {
    return this.#hint;
  }

  /** What it has cost: at the end, if known. */
  get metrics(): CardMetrics | undefined {
    return this.#metrics;
  }

  /** The newest ones, the oldest of them first. */
  get ticks(): readonly CardTick[] {
    return this.#ticks;
  }

  /** How many events have made it what it is; ticks and the end do not count. */
  get events(): number {
    return this.#events;
  }

  /** Of its newest event, in milliseconds since 1970. */
  get updatedAt(): number {
    return this.#updatedAt;
  }

  /** The number of its newest append; 0 if there is none. */
  get newestAppend(): number {
    return this.#newestAppend;
  }

  /** Why it has failed; undefined if it has not, or does not say. */
  get error(): CardErrorInfo | undefined {
    return this.#status === "failed" ? (shaped<CardErrorInfo>(this.payload["error"], "CardErrorInfo") as CardErrorInfo | undefined) : undefined;
  }

  /** What has come over a channel, block after block. */
  text(channel: CardChannel): string {
    return [...this.blocks(channel).values()].join("");
  }

  /** What has come over a channel, by index. */
  blocks(channel: CardChannel): Map<number, string> {
    return new Map([...(this.#channels.get(channel) ?? [])].sort(([a], [b]) => a - b));
  }

  /** Applies an event; false if its payload is not what it must be, which changes nothing. */
  take(event: CardEvent): boolean {
    if (!this.#apply(event)) {
      return false;
    }
    this.#updatedAt = timeOf(event.envelope.timestamp);
    return true;
  }

  #apply(event: CardEvent): boolean {
    switch (event.type) {
      case "card.set":
        return this.#set(members(event.raw));
      case "card.append":
        return this.#append(shaped(event.payload, "CardAppendPayload"), event.envelope.seq ?? 0);
      case "card.tick":
        return this.#tick(shaped(event.payload, "CardTickPayload"), event.raw);
      case "card.close":
        return this.#close(event);
    }
    return false;
  }

  #set(fields: Map<string, string> | undefined): boolean {
    if (!fields) {
      return false;
    }
    this.#merge(fields);
    this.#events++;
    return true;
  }

  #merge(fields: Map<string, string>): void {
    fields.forEach((raw, name) => this.#fields.set(name, raw));
    this.#payload = undefined;
  }

  #append(payload: Partial<CardAppendPayload> | undefined, seq: number): boolean {
    if (!payload?.channel) {
      return false;
    }
    const { channel, chunk, partial_json } = payload;
    const index = payload.index ?? 0;
    const blocks = this.#channels.get(channel) ?? new Map<number, string>();
    this.#channels.set(channel, blocks.set(index, (blocks.get(index) ?? "") + (chunk || partial_json || "")));
    this.#events++;
    this.#newestAppend = Math.max(this.#newestAppend, seq);
    return true;
  }

  #tick(payload: Partial<CardTickPayload> | undefined, raw: string): boolean {
    if (!payload?.kind) {
      return false;
    }
    const { kind, inner } = payload;
    this.#ticks = [...this.#ticks, { kind, inner, raw: members(raw)?.get("inner") ?? "null" }].slice(-MAX_TICKS);
    return true;
  }

  /** Ends the card, or ends it otherwise: the latest end counts. */
  #close({ raw, metrics, hint }: CardEvent): boolean {
    const fields = members(raw);
    const status: unknown = JSON.parse(fields?.get("status") ?? "null");
    const inner = fields?.get("inner") ?? "null";
    const added = inner.startsWith("{") ? members(inner) : undefined;
    if (typeof status !== "string" || status === "" || (inner !== "null" && !added)) {
      return false;
    }
    this.#status = status as CardStatus;
    this.#metrics = metrics;
    this.#fields.delete("error");
    const error = fields?.get("error");
    if (error !== undefined) {
      this.#fields.set("error", error);
    }
    this.#merge(added ?? new Map());
    this.#hint = { ...this.#hint, ...hint };
    return true;
  }

  /** What the trace has made of the card, as api/card-scenarios.md has it. */
  view(): string {
    const channels = Array.from(this.#channels, ([name, blocks]) => [name, JSON.stringify(Object.fromEntries(blocks))] as const);
    const ticks = this.#ticks.map(({ kind, raw }) => object([["kind", JSON.stringify(kind)], ["inner", raw]]));
    return object(
      [
        ["id", JSON.stringify(this.id)],
        ["kind", JSON.stringify(this.kind ?? "")],
        ["status", JSON.stringify(this.#status)],
        ["payload", object(this.#fields)],
        ["hint", JSON.stringify(this.#hint)],
        ["events", String(this.#events)],
        ["parent", this.parent && JSON.stringify(this.parent)],
        ["agent_id", this.agentId && JSON.stringify(this.agentId)],
        ["channels", channels.length > 0 ? object(channels) : ""],
        ["ticks", ticks.length > 0 ? `[${ticks.join()}]` : ""],
        ["metrics", this.#metrics ? JSON.stringify(this.#metrics) : ""],
      ].filter((field): field is [string, string] => field[1] !== ""),
    );
  }
}

/** In milliseconds since 1970; 0 if there is none. */
export function timeOf(timestamp: string | undefined): number {
  return timestamp && fits(timestamp, "time") ? Date.parse(timestamp) : 0;
}
