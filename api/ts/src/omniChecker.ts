import { isModelMessage, isPartialPayload, type OmniMessage, typeOf } from "./omni.js";
import type { OmniRule } from "./omni.gen.js";
import { Fragment, originOf, type Piece, pieceOf } from "./omniFragment.js";
import { OmniLedger } from "./omniLedger.js";
import { problemsOf } from "./omniProblems.js";

/** That a message broke a rule. */
export interface OmniBreach {
  /** Of the message in the stream, from 1; one more than the last for what is missing at the end. */
  number: number;
  /** Of its payload; session_meta, or end. */
  type: string;
  /** "" for the main session. */
  origin: string;
  rule: OmniRule;
  what: string;
}

/** Holds a whole stream to the rules. */
export function checkStream(stream: Iterable<OmniMessage>): OmniBreach[] {
  const checker = new OmniChecker();
  const found: OmniBreach[] = [];
  for (const message of stream) {
    found.push(...checker.add(message));
  }
  return [...found, ...checker.end()];
}

/**
 * Holds a stream to the rules of S1, for tests and for those who take streams from others. It is given the messages in their order, from the first
 * message of the session on. Each origin is a stream of its own. After a breach it goes on with the best guess, so that one mistake is not told often.
 */
export class OmniChecker {
  readonly #sessions = new Map<string, SessionCheck>();
  #number = 0;
  #found: OmniBreach[] = [];

  /** Takes the next message and returns which rules it broke. */
  add(message: OmniMessage): OmniBreach[] {
    this.#number++;
    this.#found = [];
    const origin = originOf(message);
    const key = JSON.stringify(origin);
    let session = this.#sessions.get(key);
    if (!session) {
      session = new SessionCheck(origin, (type, rule, what) => this.#found.push({ number: this.#number, type, origin: origin.join("/"), rule, what }));
      this.#sessions.set(key, session);
    }
    session.add(message);
    return this.#found;
  }

  /** Says what is missing at the end of the stream. */
  end(): OmniBreach[] {
    this.#number++;
    this.#found = [];
    const inOrder = [...this.#sessions.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const session of inOrder) {
      session.end();
    }
    return this.#found;
  }
}

/** What is known of the stream of one origin. */
class SessionCheck {
  readonly name: string;
  readonly #open = new Map<string, Fragment>(); // in the order in which they began
  #stopped: Fragment | undefined; // the complete message has to follow
  #type = "end"; // of the message that is looked at
  readonly #ledger: OmniLedger;
  readonly #break: (rule: OmniRule, what: string) => void;

  constructor(origin: string[], broken: (type: string, rule: OmniRule, what: string) => void) {
    this.name = origin.length === 0 ? "" : JSON.stringify(origin);
    this.#break = (rule, what) => broken(this.#type, rule, what);
    this.#ledger = new OmniLedger(this.#break, (all) => this.#left(all));
  }

  add(message: OmniMessage): void {
    this.#type = typeOf(message.payload) || message.type || "end";
    const problems = problemsOf(message);
    if (problems.length > 0) {
      this.#break("a message has the shape of its type", problems.map(({ path, what }) => `${path}: ${what}`).join("; "));
    }
    let piece: Piece | undefined;
    try {
      piece = pieceOf(message);
    } catch {
      return; // it has been named as a problem of its shape
    }
    const partial = isModelMessage(message) && isPartialPayload(message.payload);
    const stopped = this.#stopped;
    this.#stopped = undefined;
    if (stopped && (!piece || partial || piece.strand !== stopped.strand)) {
      this.#break("the complete message follows its stop at once", `${labelOf(stopped)} has stopped, and another message comes first`);
    } else if (stopped && piece) {
      this.#compare(stopped, piece);
    } else if (piece && !partial) {
      this.#whole(piece);
    }
    if (piece && partial) {
      this.#partial(piece, message);
    }
    this.#ledger.enter(message);
  }

  end(): void {
    this.#type = "end";
    if (this.#stopped) {
      this.#break("the complete message follows its stop at once", `${labelOf(this.#stopped)} has stopped, and nothing follows`);
    }
    this.#left(true);
    this.#ledger.end();
  }

  /** Takes a complete message that no stop has announced. That is right where there are no fragments of it. */
  #whole(piece: Piece): void {
    const fragment = this.#open.get(piece.strand);
    if (fragment) {
      this.#open.delete(piece.strand);
      this.#break("no fragment is left open", `${labelOf(fragment)} has not stopped, and its complete message comes`);
      this.#compare(fragment, piece);
    }
  }

  #partial(piece: Piece, message: OmniMessage): void {
    let fragment = this.#open.get(piece.strand);
    if (piece.event === "start" && fragment) {
      this.#break("a fragment starts after the one before it has stopped", `${labelOf(fragment)} is open`);
      this.#open.delete(piece.strand);
      fragment = undefined;
    } else if (piece.event !== "start" && !fragment) {
      this.#break("a fragment begins with start", `this is a ${piece.event}, and nothing is open`);
    }
    if (!fragment) {
      fragment = new Fragment(piece);
      this.#open.set(piece.strand, fragment);
    }
    if (piece.event !== "delta" && (piece.content !== "" || piece.images.length > 0)) {
      this.#break("content is in deltas alone", `this is a ${piece.event}, and has some`);
    }
    if (piece.images.length > 0) {
      if (fragment.withImages) {
        this.#break("all images are in one delta", `${labelOf(fragment)} has had images`);
      }
      fragment.withImages = true;
    }
    fragment.add(piece, message);
    if (piece.event === "stop") {
      this.#open.delete(piece.strand);
      this.#stopped = fragment;
    }
  }

  /** Holds a complete message to its fragments. */
  #compare(fragment: Fragment, piece: Piece): void {
    if (fragment.text() !== piece.content) {
      this.#break("the deltas add up to the complete message", "the content differs");
    }
    if (fragment.name !== piece.name) {
      this.#break("the deltas add up to the complete message", "name differs");
    }
    if (fragment.images.length !== piece.images.length || fragment.images.some((image, i) => image !== piece.images[i])) {
      this.#break("the deltas add up to the complete message", "images differ");
    }
    const [there, here] = [fragment.reason || "completed", piece.reason || "completed"];
    if (there !== here) {
      this.#break("the fragment and the complete message end for the same reason", `${there} there, ${here} here`);
    }
  }

  /** Tells of fragments that are open: all, or those of what the model says. */
  #left(all: boolean): void {
    for (const fragment of [...this.#open.values()]) {
      if (all || fragment.whole !== "tool_call_output") {
        this.#open.delete(fragment.strand);
        this.#break("no fragment is left open", `${labelOf(fragment)} is open`);
      }
    }
  }
}

/** How a breach names a fragment. */
function labelOf({ whole, call }: Fragment): string {
  return call === "" ? `the ${whole}` : `the ${whole} of call ${call}`;
}
