import { type CardEvent, parseCardEvent, shaped } from "./cardEvent.js";
import type { CardForest } from "./cardForest.js";
import type { CardFailure, CardOutbox } from "./cardOutbox.js";
import { CARD_PONG, type CardErrorInfo, type CardErrorInner, type CardResumedInner, type CardSessionCreate } from "./cards.gen.js";
import type { CardCalls } from "./cardTool.js";
import type { Clock } from "./clock.js";
import { SILENCE_SECS } from "./hubEvents.js";
import type { Line } from "./line.js";
import { CardRefusalError, ConnectionError, messageOf } from "./problem.js";
import type { Verdict } from "./reducer.js";
import type { Socket } from "./socket.js";

/** How often a client says that it is there, in milliseconds (S0 §2.3). The answer shows that the hub is, too. */
const PING_EVERY = 30_000;

/** One thing that a feed of cards tells. The forest has taken it. */
export interface CardUpdate {
  /** Absent when the link went down. */
  event?: CardEvent;
  /** Of the forest: `applied` or `ignored`; `missed` for a question that comes before its turn. */
  verdict?: Verdict;
  /** `up`: `event` is session.event(opened). `down`: `error` says why; the feed connects again by itself. */
  link?: "up" | "down";
  /** With `down`. */
  error?: Error;
  /** With session.event(error): which frame of this client was not taken, and whether it is sent again. */
  failed?: CardFailure;
}

/** What a connection works on. */
export interface CardLinkParts {
  readonly line: Line;
  readonly clock: Clock;
  readonly forest: CardForest;
  readonly outbox: CardOutbox;
  readonly calls: CardCalls;
  /** Chooses the conversation. One that is made is made once: the frame always has the same event_id. */
  readonly greeting: () => { create: CardSessionCreate; eventId: string };
}

/** One connection of a feed of cards. */
export class CardLink {
  /** It has brought an event that no connection had brought. */
  fruitful = false;
  /** When the conversation was opened, in milliseconds since 1970. */
  up: number | undefined;
  readonly #parts: CardLinkParts;
  #resuming = false; // a session.resume is not answered yet
  #upTo: number | undefined; // what the hub had when the first session.resume was answered
  #caughtUp = false; // the forest has it all
  #gapBehind: number | undefined; // where the forest was when the last gap was seen

  constructor(parts: CardLinkParts) {
    this.#parts = parts;
  }

  /** Connects and tells updates until the connection ends; what it throws says why. */
  async *updates(): AsyncGenerator<CardUpdate, void, void> {
    const { line, outbox, greeting } = this.#parts;
    const socket = await line.dial("/v1/ws");
    line.patience = SILENCE_SECS * 1000;
    const stopPinging = this.#ping(socket);
    outbox.connect(socket);
    try {
      const { create, eventId } = greeting();
      outbox.say({ type: "session.create", ...create }, eventId);
      for (;;) {
        const event = readEvent(await line.next(socket));
        if ((event.type as string) !== CARD_PONG) {
          yield* this.#take(event);
        }
      }
    } finally {
      outbox.disconnect();
      stopPinging();
      line.hangUp(socket);
    }
  }

  #ping(socket: Socket): () => void {
    const { clock } = this.#parts;
    let stop = () => {};
    const wait = () => {
      stop = clock.after(PING_EVERY, () => {
        socket.say('{"type":"ping"}');
        wait();
      });
    };
    wait();
    return () => stop();
  }

  /** Applies an event, hands it on, and does what it asks for. */
  *#take(event: CardEvent): Generator<CardUpdate, void, void> {
    const verdict = this.#parts.forest.apply(event);
    if (event.type === "session.event") {
      const update = this.#told({ event, verdict });
      this.#serve(event);
      yield update;
      return;
    }
    this.fruitful ||= verdict === "applied";
    if (verdict === "missed" && !this.#resuming) {
      this.#fill();
    }
    this.#serve(event);
    if (verdict !== "repeated" && (verdict !== "missed" || event.type === "prompt.user")) {
      yield { event, verdict };
    }
  }

  /** Has the calls carried out that are made to this client. What has happened before is told first: most of it is over. */
  #serve(event: CardEvent): void {
    const { calls, forest } = this.#parts;
    if (this.#caughtUp) {
      calls.look(forest.card(event.envelope.card_id));
    } else if (this.#upTo !== undefined && forest.last >= this.#upTo) {
      this.#caughtUp = true;
      calls.again(forest);
    }
  }

  /** Asks for what is missing. A hub that has answered and still leaves the same gap is asked over another connection. */
  #fill(): void {
    const { last } = this.#parts.forest;
    if (this.#gapBehind === last) {
      throw new ConnectionError(`event ${last + 1} of the trace is missing`);
    }
    this.#gapBehind = last;
    this.#resume();
  }

  #resume(): void {
    this.#resuming = true;
    const { forest, outbox } = this.#parts;
    const cursors = forest.cursors();
    const message_cursors = Object.keys(cursors).length > 0 ? cursors : undefined;
    outbox.say({ type: "session.resume", trace_id: forest.trace, last_seq: forest.last, message_cursors });
  }

  /** Draws the consequences of an event about the session. */
  #told(update: CardUpdate): CardUpdate {
    if (update.verdict !== "applied" || update.event?.type !== "session.event") {
      return update;
    }
    const { kind, inner } = update.event.payload;
    switch (kind) {
      case "opened":
        return this.#opened(update);
      case "resumed":
      case "resume_failed":
        this.#resuming = false;
        this.#upTo ??= shaped<CardResumedInner>(inner, "CardResumedInner")?.to_seq ?? 0; // of a trace that cannot be had nothing is to come
        return update;
      case "error":
        return this.#refused(update, shaped<CardErrorInner>(inner, "CardErrorInner")?.error);
    }
    return update;
  }

  /** Asks for what was missed, sends what is due, and tells that the link is up. */
  #opened(update: CardUpdate): CardUpdate {
    this.up = this.#parts.clock.now();
    if (this.#parts.forest.trace !== "") {
      this.#resume();
    }
    this.#parts.outbox.again();
    return { ...update, link: "up" };
  }

  #refused(update: CardUpdate, error: CardErrorInfo | undefined): CardUpdate {
    if (!error) {
      return update;
    }
    if (this.up === undefined || (this.#resuming && error.details?.["type"] === "session.resume")) {
      throw new CardRefusalError(error);
    }
    return { ...update, failed: this.#parts.outbox.failed(error) };
  }
}

/** What no event can be made of breaks the connection: the next one brings it again. */
function readEvent(text: string): CardEvent {
  try {
    return parseCardEvent(text);
  } catch (error) {
    throw new ConnectionError(`unreadable event: ${messageOf(error)}`);
  }
}
