import { OMNI_MAX_BYTES } from "./omni.js";
import { ConnectionError } from "./problem.js";

/** Bounds one server-sent event, in characters: the longest message there is, and what stands around it. */
const MAX_BLOCK = OMNI_MAX_BYTES + 4096;

/** One server-sent event. */
export interface Block {
  id?: string;
  /** "" of an unnamed one. */
  event: string;
  data?: string;
}

/** Reads a stream of server-sent events. A block that its connection does not end is none. */
export class BlockReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  #text = ""; // that has come and was not taken
  #at = 0; // where the part of it begins that was not looked at
  #size = 0; // of the block that is read

  constructor(body: ReadableStream<Uint8Array>) {
    this.#reader = body.getReader();
  }

  /** The next block that says something. `heard` is called for each piece that comes. Rejects when the stream ends. */
  async next(heard: () => void): Promise<Block> {
    let block: Block = { event: "" };
    for (this.#size = 0; ; ) {
      const line = await this.#line(heard);
      if (line !== "") {
        block = taken(block, line);
      } else if (block.id !== undefined || block.data !== undefined) {
        return block;
      } else {
        this.#size = 0; // a comment
      }
    }
  }

  /** Hangs up. */
  async cancel(): Promise<void> {
    await this.#reader.cancel().catch(() => undefined); // it is over anyhow
  }

  async #line(heard: () => void): Promise<string> {
    let before = ""; // of a line that is longer than what has come at once
    for (;;) {
      const end = this.#text.indexOf("\n", this.#at);
      if (end >= 0) {
        const line = before + this.#text.slice(this.#at, end);
        this.#size += end + 1 - this.#at;
        this.#at = end + 1;
        return line.endsWith("\r") ? line.slice(0, -1) : line;
      }
      before += this.#text.slice(this.#at);
      this.#size += this.#text.length - this.#at;
      if (this.#size > MAX_BLOCK) {
        throw new ConnectionError(`a server-sent event of more than ${MAX_BLOCK} characters`);
      }
      const { value, done } = await this.#reader.read();
      if (done) {
        throw new ConnectionError("the stream has ended");
      }
      heard();
      this.#text = this.#decoder.decode(value, { stream: true });
      this.#at = 0;
    }
  }
}

/** The block with a line more: a field, or a comment. */
function taken(block: Block, line: string): Block {
  const colon = line.indexOf(":");
  const key = colon < 0 ? line : line.slice(0, colon);
  const value = colon < 0 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
  switch (key) {
    case "id":
      return { ...block, id: value };
    case "event":
      return { ...block, event: value };
    case "data":
      return { ...block, data: block.data === undefined ? value : `${block.data}\n${value}` };
    default:
      return block;
  }
}
