import { asError, jitter, later } from "./ask.js";
import { CardForest } from "./cardForest.js";
import { CardLink, type CardUpdate } from "./cardLink.js";
import { CardOutbox, newEventId } from "./cardOutbox.js";
import { AFTER_CARD_CLOSE, type CardFrame, type CardSessionCreate } from "./cards.gen.js";
import { CardCalls, type CardTool } from "./cardTool.js";
import { askedPause, isFatal, PATIENT } from "./ending.js";
import { Line, type LineParts } from "./line.js";
import { CardRefusalError, ConnectionError, messageOf, NoCardsError, NotOpenedError, SleptError } from "./problem.js";

const FIRST_BACKOFF = 100; // milliseconds
const LAST_BACKOFF = 10_000;

/** After how many connections in a row that have brought nothing a feed is given up (S0 §15 asks for a limit). */
const ATTEMPTS = 10;

/** What a feed of cards follows. */
export interface CardOptions {
  /** The conversation; a new one if absent, which reconnects go on with. */
  session?: string;
  /** Who answers in a conversation that is made; the user's default agent if absent. */
  agent?: string;
  /** That this client carries out. Absent leaves those that were declared before, an empty list withdraws them. */
  tools?: CardTool[];
  /** To go on with; an empty one if absent, that grows from the beginning of the trace. */
  forest?: CardForest;
  /** How many connections in a row may bring nothing: 10 if absent, `Infinity` for no limit. */
  attempts?: number;
  /** Ends the feed. */
  signal?: AbortSignal;
}

/**
 * Follows the cards of one conversation on /v1/ws (S0). It reconnects by itself, asks for what it has missed, and drops what it has had. One loop at a
 * time.
 */
export class CardFeed {
  /** What has become of the cards. */
  readonly forest: CardForest;
  readonly #parts: LineParts;
  readonly #options: CardOptions;
  readonly #outbox: CardOutbox;
  readonly #calls: CardCalls;
  readonly #created = newEventId(); // the event_id of session.create

  constructor(parts: LineParts, options: CardOptions = {}) {
    this.forest = options.forest ?? new CardForest();
    this.#parts = parts;
    this.#options = options;
    this.#outbox = new CardOutbox(parts.clock);
    this.#calls = new CardCalls(options.tools ?? [], this.#outbox);
  }

  /**
   * Tells what happens for as long as the caller iterates. It ends by throwing when going on is no use: LoggedOutError, KickedError, NoCardsError, the
   * reason of the signal, or what the last of too many connections in vain has brought. Following again goes on where it was.
   */
  async *follow(): AsyncGenerator<CardUpdate, void, void> {
    const line = new Line(this.#parts, this.#options.signal);
    const stopWatching = line.watch();
    try {
      yield* this.#forever(line);
    } finally {
      stopWatching();
      this.#calls.end();
    }
  }

  /**
   * Says something in the conversation: a message, an answer, an interrupt. Returns the event_id of the frame, which is the given one or a fresh one.
   * Throws a ConnectionError where the feed is not connected; nothing was sent then. A frame that the hub cannot take for the moment is sent again by
   * itself, as `CardUpdate.failed` tells. Whether a frame has arrived that was sent before the link went down, nobody knows: send it again with its
   * event_id, and it counts once.
   */
  send(frame: CardFrame, eventId = newEventId()): string {
    this.#outbox.send(frame, eventId);
    return eventId;
  }

  async *#forever(line: Line): AsyncGenerator<CardUpdate, void, void> {
    const { clock } = this.#parts;
    let backoff = FIRST_BACKOFF;
    for (let failures = 1; ; failures++) {
      const link = new CardLink({ line, clock, forest: this.forest, outbox: this.#outbox, calls: this.#calls, greeting: () => this.#greeting() });
      let error: Error;
      try {
        yield* link.updates();
        return;
      } catch (cause) {
        error = asError(cause);
      }
      line.ended(error);
      this.#options.signal?.throwIfAborted();
      if (link.fruitful || (link.up !== undefined && clock.now() - link.up >= LAST_BACKOFF)) {
        failures = 1;
        backoff = FIRST_BACKOFF;
      } else if (error instanceof NotOpenedError) {
        backoff = Math.max(backoff, PATIENT);
      }
      this.#throwIfFatal(error, failures);
      yield { link: "down", error };
      if (!(error instanceof SleptError)) {
        await line.pause(jitter(backoff), later(askedPause(error)));
        backoff = Math.min(backoff * 2, LAST_BACKOFF);
      } // else nobody else wakes at this moment, and a person is waiting
    }
  }

  #greeting(): { create: CardSessionCreate; eventId: string } {
    const { session, agent, tools } = this.#options;
    const create: CardSessionCreate = { session_id: this.forest.session.id || session || undefined, agent_id: agent || undefined };
    if (tools) {
      create.capabilities = { client_tools: tools.length > 0 };
      create.tools = tools.map(({ run: _, ...declared }) => declared);
    }
    return { create, eventId: this.#created };
  }

  /** Throws what ends the feed after so many failures in a row. */
  #throwIfFatal(error: Error, failures: number): void {
    if (isFatal(error)) {
      throw error;
    }
    const left = error instanceof ConnectionError && AFTER_CARD_CLOSE[error.code] === "stay_away";
    if (left || (error instanceof CardRefusalError && !error.info.retryable)) {
      throw new NoCardsError(error);
    }
    if (failures >= (this.#options.attempts ?? ATTEMPTS)) {
      throw new Error(`gave up after ${failures} connections: ${messageOf(error)}`, { cause: error });
    }
  }
}
