import { cardRetry } from "./cardRetry.js";
import type { CardErrorInfo, CardFrame } from "./cards.gen.js";
import type { Clock } from "./clock.js";
import { ConnectionError } from "./problem.js";
import type { Socket } from "./socket.js";
import { uuid } from "./uuid.js";

/** How many frames are remembered, in case the hub does not take them. */
const MAX_SENT = 64;

/** The hub has not taken a frame of this client (S0 §15). */
export interface CardFailure {
  /** Of the frame; "" where the hub does not say. */
  readonly eventId: string;
  readonly error: CardErrorInfo;
  /** It is sent again by itself; else the person is to be told, in the words of `error.user_message`. */
  readonly again: boolean;
}

/** A frame that the hub may still refuse. */
interface Sent {
  readonly text: string;
  readonly eventId: string;
  failures: number; // in a row
  due: boolean;
}

/** Writes to the connection that there is, and once more what could not be taken. */
export class CardOutbox {
  readonly #clock: Clock;
  #socket: Socket | undefined;
  #sent: Sent[] = []; // the oldest first
  #timers = new Set<() => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  connect(socket: Socket): void {
    this.#socket = socket;
  }

  disconnect(): void {
    this.#socket = undefined;
    this.#timers.forEach((stop) => stop());
    this.#timers.clear();
  }

  /** Says something that is remembered. Throws where nothing can be said. */
  send(frame: CardFrame, eventId: string): void {
    const sent = { text: textOf(frame, eventId), eventId, failures: 0, due: false };
    if (!this.#socket?.say(sent.text)) {
      throw new ConnectionError("the feed of cards is not connected: nothing was sent");
    }
    this.#sent = [...this.#sent, sent].slice(-MAX_SENT);
  }

  /** Says something that a connection says by itself. */
  say(frame: CardFrame, eventId = ""): void {
    this.#socket?.say(textOf(frame, eventId));
  }

  /** Notes that the hub has refused a frame, and sends it again when the time for that has come. */
  failed(error: CardErrorInfo): CardFailure {
    const named = error.details?.["event_id"];
    const eventId = typeof named === "string" ? named : "";
    const sent = this.#sent.filter((one) => one.eventId === eventId).at(-1);
    const wait = sent && cardRetry(error, ++sent.failures);
    if (!sent || wait === undefined) {
      return { eventId, error, again: false };
    }
    sent.due = true;
    const stop = this.#clock.after(wait, () => {
      this.#timers.delete(stop);
      this.#repeat(sent);
    });
    this.#timers.add(stop);
    return { eventId, error, again: true };
  }

  /** Sends what was due when the connection before ended. */
  again(): void {
    this.#sent.forEach((sent) => this.#repeat(sent));
  }

  #repeat(sent: Sent): void {
    if (sent.due && this.#socket?.say(sent.text)) {
      sent.due = false;
    }
  }
}

/** A name for a frame, by which the hub knows it again. */
export function newEventId(): string {
  return `evt_${uuid().replaceAll("-", "").slice(0, 20)}`;
}

function textOf({ type, ...fields }: CardFrame, eventId: string): string {
  return JSON.stringify({ type, event_id: eventId || undefined, ...fields });
}
