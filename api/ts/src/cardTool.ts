import type { Card } from "./card.js";
import type { CardForest } from "./cardForest.js";
import { type CardOutbox, newEventId } from "./cardOutbox.js";
import type { CardClientTool, CardToolResult } from "./cards.gen.js";
import { messageOf } from "./problem.js";

/**
 * A tool that this client carries out for the agents of the conversation (S0 session.create). It belongs to the user: what another device declares
 * later takes its place, and a call is seen by all devices. The first result counts.
 */
export interface CardTool extends CardClientTool {
  /**
   * Carries a call out. It is called once for each call, and once more only if the feed was left before it had settled. The signal is aborted when nobody
   * waits for the result any more, or the feed is left. What it throws makes the call a failed one.
   */
  run(call: CardCall): Promise<CardResult> | CardResult;
}

/** A call of a tool of this client. */
export interface CardCall {
  /** Of its card. */
  readonly id: string;
  readonly name: string;
  /** An object. */
  readonly input: unknown;
  /** The run that calls. */
  readonly run: string;
  readonly signal: AbortSignal;
}

/** What a call has come to. `metadata` says how to show it: render_hint, language, file_path, or what else there is to say. */
export interface CardResult {
  output?: unknown;
  metadata?: Record<string, unknown>;
}

/** What `CardTool.run` throws when the person has called it off. */
export class CallCancelledError extends Error {
  override readonly name = "CallCancelledError";
}

/** A call that was begun and whose card is open. */
interface Begun {
  readonly abort: AbortController;
  readonly eventId: string;
  result?: CardToolResult;
}

/** The calls that this client carries out. */
export class CardCalls {
  readonly #tools: Map<string, CardTool>;
  readonly #outbox: CardOutbox;
  readonly #open = new Map<string, Begun>(); // by card

  constructor(tools: readonly CardTool[], outbox: CardOutbox) {
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]));
    this.#outbox = outbox;
  }

  /** Carries out what a card asks this client for, or stops it when nobody waits for it any more. */
  look(card: Card | undefined): void {
    if (card?.kind !== "tool" || card.payload["target"] !== "client") {
      return;
    }
    const tool = this.#tools.get(String(card.payload["name"]));
    const begun = this.#open.get(card.id);
    if (card.status !== "open") {
      this.#open.delete(card.id);
      begun?.abort.abort();
    } else if (tool && !begun) {
      void this.#carry(tool, card);
    }
  }

  /** Begins the calls that are open in a forest that is up to date, and sends the results once more that may not have arrived. */
  again(forest: CardForest): void {
    if (this.#tools.size === 0) {
      return;
    }
    for (const card of forest.all()) {
      const begun = this.#open.get(card.id);
      if (begun?.result && card.status === "open") {
        this.#outbox.say({ type: "tool.result", ...begun.result }, begun.eventId);
      }
      this.look(card);
    }
  }

  /** Stops what is not carried out yet: the feed is left. */
  end(): void {
    for (const [id, begun] of this.#open) {
      if (!begun.result) {
        this.#open.delete(id);
        begun.abort.abort();
      }
    }
  }

  async #carry(tool: CardTool, card: Card): Promise<void> {
    const begun: Begun = { abort: new AbortController(), eventId: newEventId() };
    this.#open.set(card.id, begun);
    const { signal } = begun.abort;
    const result = await resultOf(tool, { id: card.id, name: tool.name, input: card.payload["input"], run: card.run, signal });
    if (signal.aborted) {
      return;
    }
    begun.result = result;
    try {
      this.#outbox.send({ type: "tool.result", ...result }, begun.eventId);
    } catch {
      // The link is down: it is sent when the next one is up.
    }
  }
}

/** Carries a call out and puts what it has come to into the words of the protocol. */
async function resultOf(tool: CardTool, call: CardCall): Promise<CardToolResult> {
  const tool_use_id = call.id;
  try {
    if (call.input === undefined) {
      throw new Error("the input is too large to be given to a client"); // nor is it anywhere that a client may read
    }
    const { output, metadata } = await tool.run(call);
    JSON.stringify([output, metadata]); // what cannot be said is a failure of the tool
    return { tool_use_id, status: "ok", ...(output !== undefined && { output }), ...(metadata && { metadata }) };
  } catch (error) {
    if (error instanceof CallCancelledError) {
      return { tool_use_id, status: "cancelled" };
    }
    return { tool_use_id, status: "failed", error: { type: "dependency_fail", code: "client_tool_failed", message: messageOf(error), retryable: false } };
  }
}
