import { isModelMessage, type OmniMessage, PARTIAL, shapeOf, typeOf } from "./omni.js";
import type { OmniCompletePayload, StopReason, StreamEventType } from "./omni.gen.js";
import { isReadable } from "./omniProblems.js";

/** The fields of which the deltas are pieces, by the type of the complete message. */
const CONTENT: Readonly<Record<string, string>> = { text: "text", thinking: "thinking", tool_call: "arguments", tool_call_output: "output" };

/** What a fragment, or a complete message, brings. */
export interface Piece {
  /** What fragments have in common that belong together, with the complete message that follows them (facts 1.5). */
  strand: string;
  /** The type of the complete message. */
  whole: string;
  call: string;
  /** Absent of a complete message. */
  event?: StreamEventType;
  content: string;
  name: string;
  images: string[];
  reason: StopReason | "";
}

/** What a message brings; undefined for one that is neither a fragment nor what fragments add up to. Throws a TypeError for what cannot be read. */
export function pieceOf(message: OmniMessage): Piece | undefined {
  const type = typeOf(message.payload);
  const whole = type.startsWith(PARTIAL) ? type.slice(PARTIAL.length) : type;
  const key = Object.hasOwn(CONTENT, whole) ? CONTENT[whole] : undefined;
  const shape = isModelMessage(message) && key ? shapeOf(message) : undefined;
  if (!shape || !key) {
    return undefined;
  }
  if (!isReadable(message.payload, shape.fields)) {
    throw new TypeError(`the payload has not the shape of ${type}`);
  }
  const payload = message.payload as unknown as Record<string, unknown>;
  if (type === "text" && payload["role"] !== "assistant") {
    return undefined;
  }
  const text = (name: string) => (payload[name] ?? "") as string;
  const call = text("tool_call_id");
  return {
    strand: JSON.stringify([originOf(message), whole, call]), whole, call,
    event: type === whole ? undefined : (text("event_type") as StreamEventType),
    content: text(key), name: text("name"), images: (payload["images"] ?? []) as string[], reason: text("stop_reason") as StopReason | "",
  };
}

/** The origin as a list, empty for the main session. */
export function originOf({ origin }: OmniMessage): string[] {
  return Array.isArray(origin) && origin.every((name) => typeof name === "string") ? origin : [];
}

/** Pieces that belong together, as far as they have come. */
export class Fragment {
  readonly strand: string;
  readonly whole: string;
  readonly call: string;
  name = "";
  images: string[] = [];
  reason: StopReason | "" = "";
  withImages = false;
  #newest: OmniMessage | undefined;
  #pieces: string[] = [];
  size = 0;

  constructor({ strand, whole, call }: Piece) {
    this.strand = strand;
    this.whole = whole;
    this.call = call;
  }

  add(piece: Piece, message: OmniMessage): void {
    this.#pieces.push(piece.content);
    this.size += piece.content.length;
    this.#newest = message;
    this.name = piece.name || this.name;
    this.images = piece.images.length > 0 ? piece.images : this.images;
    this.reason = piece.reason || this.reason;
  }

  /** What the deltas add up to. */
  text(): string {
    if (this.#pieces.length > 1) {
      this.#pieces = [this.#pieces.join("")];
    }
    return this.#pieces[0] ?? "";
  }

  /** The complete message that the fragment adds up to, at the time of the newest piece. */
  message(): OmniMessage {
    const origin = this.#newest ? originOf(this.#newest) : [];
    const message: OmniMessage = { timestamp: this.#newest?.timestamp ?? "", type: "model_msg", payload: this.#payload() };
    return origin.length > 0 ? { ...message, origin: [...origin] } : message;
  }

  #payload(): OmniCompletePayload {
    const because = this.reason === "" || this.reason === "completed" ? {} : { stop_reason: this.reason };
    switch (this.whole) {
      case "text":
        return { type: "text", role: "assistant", text: this.text(), ...because };
      case "thinking":
        return { type: "thinking", role: "assistant", thinking: this.text(), ...because };
      case "tool_call":
        return { type: "tool_call", role: "assistant", name: this.name, arguments: this.text(), tool_call_id: this.call, ...because };
      default:
        return {
          type: "tool_call_output", role: "user", output: this.text(), ...(this.images.length > 0 ? { images: this.images } : {}),
          tool_call_id: this.call, ...because,
        };
    }
  }
}
