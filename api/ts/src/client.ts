import { Api } from "./api.gen.js";
import { BrowserPosition } from "./browser.js";
import { CardFeed, type CardOptions } from "./cardFeed.js";
import { browserSurroundings } from "./channel.js";
import { type Clock, systemClock } from "./clock.js";
import { type Credentials, credentialsOf, type Keeper } from "./credentials.js";
import { Feed } from "./feed.js";
import { OmniSession } from "./omniSession.js";
import { type Position, Progress } from "./position.js";
import { type Fetch, type Send, sender, type Stream as Streaming, streamer } from "./send.js";
import { type FeedMaker, SharedFeed } from "./shared.js";
import { Stream, type StreamEvent, type StreamParts } from "./stream.js";
import { TokenSource } from "./tokens.js";
import { Teller } from "./typing.js";
import type { LoginInput, Message, SessionID } from "./types.gen.js";
import type { FeedOptions } from "./update.js";
import { findWebSocket, type Opener, type WebSocketConstructor } from "./websocket.js";

/** What a client needs to know. */
export interface ClientOptions {
  /** Base URL of the hub, such as http://127.0.0.1:8080. */
  hub: string;
  /** Where the device's credentials live. */
  keeper: Keeper;
  /** Instead of the global one. */
  fetch?: Fetch;
  /** Instead of the global one, or of the package ws. */
  WebSocket?: WebSocketConstructor;
  /** Instead of the system's, for tests. */
  clock?: Clock;
}

/** Speaks with one hub as one device. Nothing is sent before it is asked for. */
export class Client {
  /** Base URL of the hub. */
  readonly hub: string;
  /** Every REST operation of the contract, authenticated. */
  readonly api: Api;
  readonly keeper: Keeper;
  readonly #parts: StreamParts & { send: Send; stream: Streaming };
  readonly #teller: Teller;

  constructor(options: ClientOptions) {
    const { keeper, clock = systemClock, fetch = defaultFetch } = options;
    this.hub = baseURL(options.hub);
    this.keeper = keeper;
    const tokens = new TokenSource(keeper, new Api(sender(this.hub, fetch)), () => clock.now());
    const send = sender(this.hub, fetch, tokens);
    this.api = new Api(send);
    let opener: Promise<Opener> | undefined;
    const open = () => (opener ??= findWebSocket(options.WebSocket));
    this.#parts = { hub: this.hub, api: this.api, tokens, open, clock, send, stream: streamer(this.hub, fetch, tokens), live: {} };
    this.#teller = new Teller(clock, (session) => this.#parts.live.socket?.say(typingFrame(session)) ?? false);
  }

  /**
   * Follows /client/ws for as long as the caller iterates. It reconnects by itself and resumes by cursor, so that every frame of the outbox is
   * handed on at least once, in order. A connection resumes behind the newest frame that was handed on. The cursor is kept when the caller comes
   * back for the next event: what a crash leaves untaken comes again. It ends by throwing when going on is no use: LoggedOutError, KickedError,
   * PositionError, or the reason of the signal.
   *
   * The rules of S3: a frame whose seq_id is not above the last one is dropped; one that is not the next means loss, so the connection is made
   * anew; frames are applied by business key (see keyOf and Reducer), never by seq_id. `feed` does all that a client has to.
   */
  stream(at: Position, options: { signal?: AbortSignal } = {}): AsyncGenerator<StreamEvent, void, void> {
    return new Stream(this.#parts, new Progress(at), options.signal).events();
  }

  /** A feed of everything that happens. `at` is where an earlier feed of this device has come to. */
  feed(at: Position, options: FeedOptions = {}): Feed {
    return new Feed(this.#parts, at, options);
  }

  /** The cards of one conversation. Nothing is sent before they are followed. */
  cards(options: CardOptions = {}): CardFeed {
    return new CardFeed(this.#parts, options);
  }

  /** A conversation as OmniMessages, of which the user is a member. Nothing is sent yet. */
  session(id: SessionID): OmniSession {
    return new OmniSession(this.#parts, id);
  }

  /**
   * The messages that have all words of `text`, the newest first, in all conversations of the user or in one. It asks for as many pages as are
   * taken of it: leave the loop when you have enough.
   */
  async *search(text: string, options: { session?: SessionID; signal?: AbortSignal } = {}): AsyncGenerator<Message, void, void> {
    for (let after: string | undefined; ; ) {
      const page = await this.api.searchMessages({ q: text, session_id: options.session, after }, { signal: options.signal });
      yield* page.items;
      if ((after = page.next) === undefined) {
        return;
      }
    }
  }

  /**
   * Tells the others of a conversation that this user types (S3, the only frame of a client), over the connection of the stream or feed that this
   * client follows; false if there is none. Call it at each key: it is sent every three seconds at most, and forgotten when it is not heard.
   * `Feed.typists` is the other end.
   */
  typing(session: string): boolean {
    return this.#parts.live.socket !== undefined && this.#teller.typing(session);
  }

  /**
   * One feed for all tabs of this browser profile that use the same device: one connection, whichever tab has it. On pages of https and of
   * localhost alone, for browsers have Web Locks on no others. The cursor is kept in the profile, by the tab that has the connection.
   */
  async shared(options: Omit<FeedOptions, "signal"> = {}): Promise<SharedFeed> {
    const around = browserSurroundings();
    const { device_id } = await this.keeper.load();
    const name = `switchyard ${this.hub} ${device_id}`;
    const feed: FeedMaker = (at, signal) => this.feed(at, { ...options, signal });
    const typing = (session: string) => this.typing(session);
    return new SharedFeed({ name, feed, position: new BrowserPosition(name), around, clock: this.#parts.clock, typing });
  }
}

/** The API without credentials, for the ways in: bootstrap, register, login; and for the health pages. */
export function anonymous(hub: string, fetch: Fetch = defaultFetch): Api {
  return new Api(sender(baseURL(hub), fetch));
}

/** Logs in on a new device and returns its credentials, for a keeper. */
export async function login(hub: string, input: LoginInput, fetch?: Fetch): Promise<Credentials> {
  return credentialsOf(await anonymous(hub, fetch).login({ body: input }));
}

function typingFrame(session_id: string): string {
  return JSON.stringify({ type: "typing", payload: { session_id } });
}

const defaultFetch: Fetch = (...request) => globalThis.fetch(...request);

function baseURL(hub: string): string {
  const url = URL.canParse(hub) ? new URL(hub) : undefined;
  if (!url || !url.host || !/^https?:$/.test(url.protocol)) {
    throw new TypeError(`hub address ${JSON.stringify(hub)} is not of the form http://host:port`);
  }
  return hub.replace(/\/+$/, "");
}
