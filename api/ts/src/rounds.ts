import { asError } from "./ask.js";
import { type Frame, parseFrame } from "./frame.js";
import { elements, members } from "./json.js";
import type { Progress } from "./position.js";
import { ConnectionError } from "./problem.js";
import type { Send } from "./send.js";
import type { StreamEvent } from "./stream.js";
import type { AuthOKPayload } from "./types.gen.js";

const ROUND_SIZE = 500; // steps

/** Tells what /client/sync has behind a place as a stream would, and ends when that is all. */
export async function* rounds(send: Send, at: Progress, signal?: AbortSignal): AsyncGenerator<StreamEvent, void, void> {
  await at.applied(); // the reader of an earlier loop has come back
  let begun = false;
  for (let more = true; more; ) {
    const cursor = await at.resume();
    const query = { cursor: cursor || undefined, limit: ROUND_SIZE };
    const page = readPage(await send<string>({ method: "GET", path: "/client/sync", query, answer: "text" }, { signal }));
    const continues = page.hello.resume === "replayed";
    if (!begun || !continues) {
      // Of what follows the client has nothing yet: it stands where it asked from.
      const hello = continues ? { ...page.hello, cursor: cursor || undefined } : page.hello;
      yield* take(at, { frame: helloFrame(hello), link: "up", resume: hello, snapshot: !continues || !cursor });
    }
    begun = true;
    for (const frame of page.frames) {
      yield* take(at, { frame, snapshot: false });
    }
    if ((await at.resume()) !== page.hello.cursor) {
      yield* take(at, { frame: helloFrame({ ...page.hello, resume: "replayed" }), snapshot: false });
    }
    more = page.more;
  }
}

/** Hands a frame on; when the caller comes back, its cursor is kept. */
async function* take(at: Progress, event: StreamEvent): AsyncGenerator<StreamEvent, void, void> {
  at.hand(event.frame?.cursor);
  yield event;
  await at.applied();
}

interface Page {
  hello: AuthOKPayload;
  frames: Frame[];
  more: boolean;
}

/** Payloads stay as the hub wrote them: digests are over them. */
function readPage(text: string): Page {
  try {
    const { resume, reason, message, cursor, more } = JSON.parse(text) as AuthOKPayload & { more: boolean };
    if (!resume) {
      throw new Error("it is not of a hub");
    }
    const frames = (elements(members(text)?.get("items") ?? "[]") ?? []).map(parseFrame);
    return { hello: { resume, reason, message, cursor, connection_id: "" }, frames, more };
  } catch (error) {
    throw new ConnectionError(`unreadable page: ${asError(error).message}`);
  }
}

/** An auth.ok as a socket would send it. */
function helloFrame(hello: AuthOKPayload): Frame {
  return { type: "auth.ok", seq_id: 0, payload: hello, raw: JSON.stringify(hello), ...(hello.cursor ? { cursor: hello.cursor } : {}) };
}
