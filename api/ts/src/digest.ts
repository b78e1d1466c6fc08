import { members } from "./json.js";
import { hex, sha256 } from "./sha256.js";

const encoder = new TextEncoder();

/** A hash over a growing list: each link covers the one before. The same as the chain of the Go SDK. */
export class Chain {
  #link = new Uint8Array(32);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Appends a frame: its key, and the text that its payload came with. */
  add(key: string, payload: string): void {
    this.#extend(`${key} ${hashOf(payload)}`);
  }

  /** Appends an event of a run as the payload of an agent.stream frame carries it. */
  addEvent(seq: bigint, payload: string): void {
    const fields = members(payload);
    const type = textOf(fields?.get("event_type") ?? '""');
    const stored = type === undefined ? payload : (fields?.get("payload") ?? "null");
    this.#extend(`${seq} ${type ?? ""} ${hashOf(textOf(stored) ?? stored)}`);
  }

  toString(): string {
    return hex(this.#link);
  }

  /** The chain as plain data, for another tab. */
  save(): { link: string; length: number } {
    return { link: this.toString(), length: this.#length };
  }

  static load(saved: { link: string; length: number }): Chain {
    const chain = new Chain();
    chain.#link = Uint8Array.from(saved.link.match(/../g) ?? [], (pair) => parseInt(pair, 16));
    chain.#length = saved.length;
    return chain;
  }

  #extend(line: string): void {
    const text = encoder.encode(line);
    const covered = new Uint8Array(32 + text.length);
    covered.set(this.#link);
    covered.set(text, 32);
    this.#link = sha256(covered);
    this.#length++;
  }
}

function hashOf(text: string): string {
  return hex(sha256(encoder.encode(text)));
}

/** The value of a JSON string; "" for null, undefined for any other value. */
function textOf(raw: string): string | undefined {
  const value: unknown = JSON.parse(raw);
  if (value === null) {
    return "";
  }
  return typeof value === "string" ? value : undefined;
}
