import type { OmniMessage } from "./omni.js";
import { OMNI_MAX_BYTES } from "./omni.js";
import { Fragment, pieceOf } from "./omniFragment.js";

/** Leaves room for what is put around the content, in characters. */
const MAX_CONTENT = OMNI_MAX_BYTES / 2;

/**
 * Puts the fragments of a stream together into complete messages (S1, 流式纪律). Fragments belong together that have the same type, tool_call_id and
 * origin. It is generous: a delta or a stop without a start opens a fragment itself, a start where one is open completes that, of images the newest
 * set counts, of names and stop reasons the newest that is not empty. For showing what streams, `open` has what has come so far.
 */
export class PartialAggregator {
  readonly #open = new Map<string, Fragment>();

  /**
   * Takes the next message of the stream and returns the messages that it completes: that of its fragment for a stop, that of the fragment before it
   * for a start. A complete message is the end of the fragment that it belongs to, without one being made. Throws a TypeError for a fragment that
   * cannot be read and a RangeError for one with which the whole would be too large; it is left out then.
   */
  add(message: OmniMessage): OmniMessage[] {
    const piece = pieceOf(message);
    if (!piece) {
      return [];
    }
    let fragment = this.#open.get(piece.strand);
    if (piece.event === undefined) {
      this.#open.delete(piece.strand);
      return [];
    }
    const done: OmniMessage[] = [];
    const before = piece.event === "start" ? fragment : undefined;
    if ((before ? 0 : (fragment?.size ?? 0)) + piece.content.length > MAX_CONTENT) {
      throw new RangeError(`the pieces of a message have at most ${MAX_CONTENT} characters`);
    }
    if (before) {
      done.push(this.#complete(before));
      fragment = undefined;
    }
    fragment ??= new Fragment(piece);
    this.#open.set(piece.strand, fragment);
    fragment.add(piece, message);
    if (piece.event === "stop") {
      done.push(this.#complete(fragment));
    }
    return done;
  }

  /** What the fragments that are open add up to until now, in the order in which they began. */
  open(): OmniMessage[] {
    return Array.from(this.#open.values(), (fragment) => fragment.message());
  }

  /** Completes the fragments that are open. Each has the stop reason that was last said of it, and is completed if none was. */
  flush(): OmniMessage[] {
    const done = this.open();
    this.#open.clear();
    return done;
  }

  #complete(fragment: Fragment): OmniMessage {
    this.#open.delete(fragment.strand);
    return fragment.message();
  }
}
