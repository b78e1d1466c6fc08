import type { Limits } from "./memory.js";
import type { StreamEvent } from "./stream.js";

/**
 * One thing that a feed tells. One with `error` and nothing else says why what has to be fetched cannot be fetched for so long; it is asked for
 * again.
 */
export interface Update extends StreamEvent {
  /** `frame` is a fact that was not told before. */
  isNew: boolean;
  /** `frame` was fetched by REST, in place of a frame of the socket. */
  asked: boolean;
  /** Nothing else: everything that had to be fetched was told, and what follows is live. */
  ready: boolean;
  /**
   * A snapshot leaves something out: of conversation `session` the messages before the newest 100, of which the feed does not know whether they
   * were missed; without a `session` the conversations beyond 4,000. There is no `frame`. `FeedOptions.heads` and `since` avoid the former.
   */
  truncated?: boolean;
  session?: string;
  /** The place behind this update, to be kept together with what is made of it; "" if this is no place to come back to. It may come alone. */
  cursor: string;
}

/**
 * What a feed tells before it goes on live. `whole`: a snapshot, whatever the hub could replay, for applications that remember nothing from
 * their last start. `missed`: a snapshot only if the hub cannot replay what was missed, for applications that keep what they were told. `live`:
 * messages and runs from now on, and what the hub replays, for a look at what happens.
 */
export type Beginning = "whole" | "missed" | "live";

/** What narrows a feed. */
export interface FeedOptions {
  begin?: Beginning;
  /** Only this conversation. */
  session?: string;
  /** Of what was said before, only messages that are younger; absent for all, with `live` for none. */
  since?: Date;
  /**
   * The newest messages that the application has, by conversation: a snapshot fetches all that came after them, and of other conversations the
   * newest 100, or those since `since`. Who begins with `missed` gives them, so that a reset leaves no hole.
   */
  heads?: Record<string, number>;
  /**
   * How far the application knows what has become of these messages: what `Feed.changes` was when they were kept. Without it a snapshot fetches every
   * message that ever changed.
   */
  changes?: Record<string, number>;
  /** How much of the past the feed's state keeps. */
  keep?: Limits;
  /** Ends the feed. */
  signal?: AbortSignal;
}
