import { timeOf } from "./card.js";
import type { CardEvent } from "./cardEvent.js";
import type { CardErrorInfo, CardPromptPayload, CardReplyPayload } from "./cards.gen.js";
import { members, object } from "./json.js";

/** How old a question is when a person is told that it may not wait any more, in milliseconds (S0 §2.4.5). */
const OLD = 7 * 24 * 3_600_000;

/** A question to a person. There is one for each request_id, however often the hub sends it (S0 §2.4.2). */
export class CardPrompt {
  readonly requestId: string;
  /** See `CardPromptInners`. */
  readonly kind: string;
  /** What is asked. */
  readonly inner: unknown;
  /** How long it waits; 0 for as long as it takes. */
  readonly timeoutMs: number;
  readonly seq: number;
  readonly agentId: string;
  /** In milliseconds since 1970. */
  readonly askedAt: number;
  /** What became of it; undefined while it waits. */
  reply: CardReplyPayload | undefined;
  /** Why an answer of this client was not taken; undefined if none was. */
  refused: CardErrorInfo | undefined;
  readonly #raw: string;

  constructor({ envelope, raw }: CardEvent, payload: Partial<CardPromptPayload>) {
    this.requestId = payload.request_id ?? "";
    this.kind = payload.kind ?? "";
    this.inner = payload.inner;
    this.timeoutMs = payload.timeout_ms ?? 0;
    this.seq = envelope.seq ?? 0;
    this.agentId = envelope.agent_id ?? "";
    this.askedAt = timeOf(envelope.timestamp);
    this.#raw = members(raw)?.get("inner") ?? "null";
  }

  /**
   * Whether it is to be shown: it waits, and the hub has not refused the answer to it. The hub sends a refused one again to a new connection if it
   * still waits.
   */
  get visible(): boolean {
    return !this.reply && !this.refused;
  }

  /** Whether it has been there for so long that a person should be told: it may not wait any more. `now` is in milliseconds since 1970. */
  mayHaveExpired(now: number): boolean {
    return now - this.askedAt >= OLD;
  }

  /** What the trace has made of it, as api/card-scenarios.md has it. */
  view(): string {
    const fields: Array<[string, string]> = [
      ["request_id", JSON.stringify(this.requestId)],
      ["kind", JSON.stringify(this.kind)],
      ["inner", this.#raw],
    ];
    if (this.reply?.decision) {
      fields.push(["decision", JSON.stringify(this.reply.decision)]);
    }
    return object(fields);
  }
}
