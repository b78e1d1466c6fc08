import type { Clock } from "./clock.js";
import type { Frame } from "./frame.js";

/** How often at most it is told that this user types in a conversation, in milliseconds. */
const TELL_EVERY = 3_000;

/** For how long somebody counts as typing who was heard to, in milliseconds: nobody says that it is over. */
const HEARD_FOR = 6_000;

/** Tells that this user types, no more often than is of use. */
export class Teller {
  readonly #clock: Clock;
  readonly #tell: (session: string) => boolean;
  #told = new Map<string, number>(); // by conversation: when

  constructor(clock: Clock, tell: (session: string) => boolean) {
    this.#clock = clock;
    this.#tell = tell;
  }

  /** False if it could not be told. */
  typing(session: string): boolean {
    const now = this.#clock.now();
    this.#told = new Map([...this.#told].filter(([, at]) => at <= now && now - at < TELL_EVERY));
    if (this.#told.has(session)) {
      return true;
    }
    const told = this.#tell(session);
    if (told) {
      this.#told.set(session, now);
    }
    return told;
  }
}

/** Who types, by what was heard lately. */
export class Typists {
  readonly #clock: Clock;
  #heard: Array<{ session: string; user: string; at: number }> = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Takes a frame: somebody types, or has said what was typed. */
  hear(frame: Frame): void {
    if (frame.type === "typing") {
      const { session_id: session, user_id: user = "" } = frame.payload;
      this.#forget(session, user);
      this.#heard.push({ session, user, at: this.#clock.now() });
    } else if (frame.type === "message.new") {
      this.#forget(frame.payload.session_id, frame.payload.sender_id);
    }
  }

  /** The users who type in a conversation now, the one who began last at the end. */
  of(session: string): string[] {
    const now = this.#clock.now();
    this.#heard = this.#heard.filter(({ at }) => at <= now && now - at < HEARD_FOR);
    return this.#heard.filter((heard) => heard.session === session).map(({ user }) => user);
  }

  #forget(session: string, user: string): void {
    const now = this.#clock.now();
    this.#heard = this.#heard.filter((heard) => now - heard.at < HEARD_FOR && !(heard.session === session && heard.user === user));
  }
}
