import { messageOf, type ProblemError, problemOf, UnreachableError } from "./problem.js";
import type { TokenSource } from "./tokens.js";
import { uuid } from "./uuid.js";

/** What a caller may say about one call. */
export interface CallOptions {
  signal?: AbortSignal;
}

/** One operation, as the methods of `Api` describe it. */
export interface Request {
  method: string;
  path: string;
  query?: Record<string, string | number | boolean | undefined>;
  body?: unknown;
  /** A body of bytes as they are. */
  file?: Blob;
  /** The operation takes an Idempotency-Key; without one of the caller's each call gets its own. */
  idempotent?: boolean;
  idempotencyKey?: string;
  /** The answer is a stream of server-sent events. */
  stream?: true;
  /** What the caller gets of it: `status` is the number alone. */
  answer: "json" | "text" | "blob" | "none" | "status";
  /** How much it may weigh, in characters, if not 32 Mi. */
  most?: number;
}

/** Sends an operation and reads its answer. A refusal rejects with a ProblemError, a hub that is not there with an UnreachableError. */
export type Send = <T>(request: Request, options?: CallOptions) => Promise<T>;

export type Fetch = typeof globalThis.fetch;

/** How much a JSON answer may weigh, in characters. Artifacts have no such bound. */
const MAX_ANSWER = 32 * 1024 * 1024;

/** How long a hub may think before it begins to answer, in milliseconds. Bodies may take as long as they need. */
export const ANSWER_WITHIN = 30_000;

/** Sends an operation and returns its answer with a body that may last; the signal ends it. Rejects as Send does. */
export type Stream = (request: Request, options?: CallOptions) => Promise<Response>;

/** Returns a Send to a hub. Without tokens the calls are anonymous. */
export function sender(hub: string, fetch: Fetch, tokens?: TokenSource): Send {
  const answer = asker(hub, fetch, tokens);
  return async <T>(request: Request, options: CallOptions = {}): Promise<T> => (await read(await answer(request, options), request)) as T;
}

/** Returns a Stream from a hub. */
export function streamer(hub: string, fetch: Fetch, tokens?: TokenSource): Stream {
  const answer = asker(hub, fetch, tokens);
  return async (request, options = {}) => {
    const response = await answer(request, options);
    return response.ok ? response : Promise.reject(await refusal(response));
  };
}

/** Sends requests, once more with another token if the first one is turned down. */
function asker(hub: string, fetch: Fetch, tokens?: TokenSource): (request: Request, options: CallOptions) => Promise<Response> {
  return async (request, options) => {
    const headers = headersOf(request);
    const once = async (refused: string): Promise<{ response: Response; token: string }> => {
      const token = tokens ? await tokens.token(refused, options.signal) : "";
      if (token) {
        headers.set("Authorization", `Bearer ${token}`);
      }
      return { response: await ask(hub, fetch, request, headers, options.signal), token };
    };
    let { response, token } = await once("");
    if (response.status === 401 && tokens) {
      await response.body?.cancel();
      ({ response } = await once(token));
    }
    return response;
  };
}

function headersOf(request: Request): Headers {
  const headers = new Headers({ Accept: request.answer === "blob" ? "*/*" : "application/json, application/problem+json" });
  if (request.stream) {
    headers.set("Accept", "text/event-stream, application/problem+json");
  }
  if (request.body !== undefined) {
    headers.set("Content-Type", "application/json");
  } else if (request.file) {
    headers.set("Content-Type", "application/octet-stream");
  }
  if (request.idempotent) {
    headers.set("Idempotency-Key", request.idempotencyKey ?? uuid());
  }
  return headers;
}

async function ask(hub: string, fetch: Fetch, request: Request, headers: Headers, signal?: AbortSignal): Promise<Response> {
  const late = new AbortController();
  // A file may take as long as it needs on its way there, and nothing tells when it has arrived.
  const timer = request.file ? undefined : setTimeout(() => late.abort(new Error(`no answer within ${ANSWER_WITHIN / 1000} s`)), ANSWER_WITHIN);
  try {
    return await fetch(hub + request.path + queryOf(request.query), {
      method: request.method,
      headers,
      body: request.file ?? (request.body === undefined ? undefined : JSON.stringify(request.body)),
      signal: signal ? AbortSignal.any([signal, late.signal]) : late.signal,
      credentials: "omit", // the bearer header is the only credential here
      redirect: "error", // which would carry it elsewhere
      cache: "no-store",
    });
  } catch (error) {
    signal?.throwIfAborted();
    throw new UnreachableError(messageOf(error), { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

function queryOf(query: Request["query"]): string {
  const given = Object.entries(query ?? {}).filter(([, value]) => value !== undefined);
  return given.length > 0 ? `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}` : "";
}

async function refusal(response: Response): Promise<ProblemError> {
  return problemOf(response.status, response.headers.get("Retry-After"), await bounded(response));
}

async function read(response: Response, { answer, most }: Request): Promise<unknown> {
  if (!response.ok) {
    throw await refusal(response);
  }
  if (answer === "blob") {
    return response.blob();
  }
  const text = await bounded(response, most);
  if (answer === "status") {
    return response.status;
  }
  if (answer === "text") {
    return text;
  }
  return text === "" ? undefined : parse(text, response.url);
}

function parse(text: string, url: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`answer of ${new URL(url).pathname} is not JSON`, { cause: error });
  }
}

async function bounded(response: Response, most = MAX_ANSWER): Promise<string> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (let part = await next(reader); part !== undefined; part = await next(reader)) {
    text += part;
    if (text.length > most) {
      await reader?.cancel();
      throw new Error(`answer of ${new URL(response.url).pathname} is larger than ${most} characters`);
    }
  }
  return text;
}

async function next(reader: ReadableStreamDefaultReader<string> | undefined): Promise<string | undefined> {
  try {
    return (await reader?.read())?.value;
  } catch (error) {
    throw new UnreachableError(messageOf(error), { cause: error });
  }
}
