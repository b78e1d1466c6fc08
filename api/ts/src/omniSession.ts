import { asError, jitter, later } from "./ask.js";
import { askedPause } from "./ending.js";
import { elements, members } from "./json.js";
import { OMNI_MAX_BYTES, type OmniMessage, readMessage } from "./omni.js";
import { OmniLink, type OmniParts } from "./omniLink.js";
import { OmniRun, type RunOptions } from "./omniRun.js";
import type { OmniPage, OmniPart, OmniTask, OmniUpdate } from "./omniUpdate.js";
import { pause } from "./pause.js";
import { ProblemError, UnreachableError } from "./problem.js";
import type { CallOptions, Request, Send } from "./send.js";
import type { AgentTask, OmniTaskReceipt } from "./types.gen.js";
import { uuid } from "./uuid.js";

const FIRST_ASK_AGAIN = 500; // milliseconds
const LAST_ASK_AGAIN = 10_000;

/** How long is waited between two questions whether a run is over, in milliseconds. */
const LAST_LOOK = 30_000;

/** Bounds a page of messages, in characters: about 4 MiB of them and the one behind that, which may be as long as a message can be. */
const MAX_PAGE = OMNI_MAX_BYTES + 8 * 1024 * 1024;

/** Which page is wanted: forward from behind `after` ("0": from the beginning of what is kept), or backward from in front of `before`; else the newest. */
export interface OmniAsk {
  /** A cursor. */
  after?: string;
  /** A position or a cursor. */
  before?: string;
  /** Messages, at most 1,000; 200 if nothing is said. */
  limit?: number;
}

/**
 * A conversation as OmniMessages (S1): give it a task and follow what comes, steer it, answer what it asks for, read what was said. `client.session`
 * makes one; it holds nothing.
 */
export class OmniSession {
  readonly id: string;
  readonly #parts: OmniParts & { send: Send };
  readonly #path: string;

  constructor(parts: OmniParts & { send: Send }, id: string) {
    this.id = id;
    this.#parts = parts;
    this.#path = `/api/sessions/${encodeURIComponent(id)}`;
  }

  /**
   * Gives the conversation a task and yields what is said in it from then on, each message exactly once and in order, over any number of connections,
   * until the run has been told to its end. What others say there meanwhile is in between. A run that another one continues, because its process was gone
   * when a person answered what it had asked, is followed into that one.
   *
   * The loop ends by itself if the run completed, and with a TaskError if it failed, was cancelled or was interrupted.
   *
   * Leaving the loop, or aborting `signal`, leaves the run at work: `abort` stops it. It also throws a ProblemError when the task is refused (409), or the
   * conversation (not_found); a ResyncError where the hub's store was restored from a backup; LoggedOutError; or the reason of the signal. Where the hub
   * keeps no longer what comes next, it reads the history and goes on: fragments are missing then.
   */
  run(input: string | OmniPart[], options: RunOptions = {}): AsyncGenerator<OmniMessage, void, void> {
    return new OmniRun(this, typeof input === "string" ? [{ type: "text", text: input }] : input, options).messages();
  }

  /**
   * Follows the conversation for as long as the caller iterates: its messages in order, each exactly once over any number of connections, and what is
   * said beside them. `after` is a cursor that an update or a page had, "0" for all that is kept; without it, it tells what is said from now on. It
   * connects again by itself. It throws what `run` throws, and a ResyncError also for what is not kept any more.
   */
  stream(options: { after?: string; signal?: AbortSignal } = {}): AsyncGenerator<OmniUpdate, void, void> {
    return new OmniLink(this.#parts, `${this.#path}/stream`, options.after ?? "", options.signal).updates();
  }

  /** One page of the history. */
  async page(ask: OmniAsk = {}, options: CallOptions = {}): Promise<OmniPage> {
    const query = { after: ask.after, before: ask.before, limit: ask.limit };
    return readPage(await this.#insist<string>({ method: "GET", path: "/messages", query, answer: "text", most: MAX_PAGE }, options));
  }

  /**
   * Reads the history forward to its end, page by page, from behind a cursor; "0" is the beginning of what is kept. The cursor of the last page is where
   * a stream goes on. 409 cursor_reset: `after` is of another epoch, or what follows it is not kept any more; begin at "0".
   */
  async *messages(after = "0", options: CallOptions = {}): AsyncGenerator<OmniPage, void, void> {
    for (let more = true; more; ) {
      const page = await this.page({ after }, options);
      yield page;
      ({ cursor: after, more } = page);
    }
  }

  /**
   * Gives the conversation a task. A hub that cannot be reached, or is busy, is asked again; `key` names the attempt, so that it is given once. Refusals
   * are 409: task_in_progress, compacting, unsupported_by_runtime, read_only.
   */
  task(task: OmniTask, options: CallOptions & { key?: string } = {}): Promise<OmniTaskReceipt> {
    return this.#insist({ method: "POST", path: "/tasks", body: task, idempotent: true, idempotencyKey: options.key ?? uuid(), answer: "json" }, options);
  }

  /**
   * Says something to the run that is at work, for its agent to take before its next request. Resolves with the name by which `withdraw` takes it back
   * while the agent has not taken it. Refusals are 409: not_running, unsupported_by_runtime.
   */
  async steer(text: string, options: CallOptions = {}): Promise<string> {
    const request: Request = { method: "POST", path: "/steer", body: { text }, idempotent: true, idempotencyKey: uuid(), answer: "json" };
    return (await this.#insist<{ steerId: string }>(request, options)).steerId;
  }

  /** Takes back what `steer` has said. 409 not_pending: the agent has it. */
  withdraw(steerId: string, options: CallOptions = {}): Promise<void> {
    return this.#insist({ method: "DELETE", path: `/steer/${encodeURIComponent(steerId)}`, answer: "none" }, options);
  }

  /**
   * Answers an approval that waits, named by its request or, as in the stream, by its call. 404: nothing waits by this name. 409 already_answered:
   * somebody else was faster, and said another thing.
   */
  approve(request: string, decision: "allow" | "deny", reason?: string, options: CallOptions = {}): Promise<void> {
    const body = reason ? { decision, reason } : { decision };
    return this.#insist({ method: "POST", path: `/approvals/${encodeURIComponent(request)}`, body, answer: "none" }, options);
  }

  /** Stops what is at work, and says whether anything was. The reason stands in the `abort` that the stream ends with. */
  async abort(reason?: string, options: CallOptions = {}): Promise<boolean> {
    const body = reason ? { reason } : {};
    return (await this.#insist<number>({ method: "POST", path: "/abort", body, answer: "status" }, options)) === 202;
  }

  /** Ends the wait of an agent that would make its request again later, and says whether any waited. Refusals are 409: not_running, unsupported_by_runtime. */
  async retryNow(options: CallOptions = {}): Promise<boolean> {
    return (await this.#send<{ skipped: boolean }>({ method: "POST", path: "/retry-now", answer: "json" }, options)).skipped;
  }

  /**
   * Has the agent make its context smaller, and resolves with the run that does. Refusals are 409: nothing_to_compact, already_compacted,
   * unsupported_by_runtime, task_in_progress.
   */
  async compact(options: CallOptions = {}): Promise<string> {
    return (await this.#send<{ runId: string }>({ method: "POST", path: "/compact", answer: "json" }, options)).runId;
  }

  /** Asks again and again until a run is over. */
  async ended(run: string, signal?: AbortSignal): Promise<void> {
    for (let wait = 1000; ; wait = Math.min(wait * 2, LAST_LOOK)) {
      const { runs } = await this.#insist<{ runs: string[] }>({ method: "GET", path: "", answer: "json" }, { signal });
      if (!runs.includes(run)) {
        return;
      }
      await pause(this.#parts.clock, wait, signal);
    }
  }

  /** Reads how a run that is over ended. */
  outcome(run: string, signal?: AbortSignal): Promise<AgentTask> {
    return this.#insist({ method: "GET", path: `/web/agent-tasks/${encodeURIComponent(run)}`, answer: "json" }, { signal }, "");
  }

  #send<T>(request: Request, options: CallOptions, below = this.#path): Promise<T> {
    return this.#parts.send({ ...request, path: below + request.path }, { signal: options.signal });
  }

  /** Asks again for as long as the hub cannot be reached or is busy. */
  async #insist<T>(request: Request, { signal }: CallOptions, below = this.#path): Promise<T> {
    for (let backoff = FIRST_ASK_AGAIN; ; backoff = Math.min(backoff * 2, LAST_ASK_AGAIN)) {
      try {
        return await this.#send<T>(request, { signal }, below);
      } catch (cause) {
        const error = asError(cause);
        signal?.throwIfAborted();
        if (!(error instanceof UnreachableError) && !(error instanceof ProblemError && (error.status >= 500 || error.status === 429))) {
          throw error;
        }
        await pause(this.#parts.clock, Math.max(jitter(backoff), later(askedPause(error))), signal);
      }
    }
  }
}

/** Reads a page so that each message keeps its bytes. */
function readPage(text: string): OmniPage {
  const { live, cursor = "", ...page } = JSON.parse(text) as Omit<OmniPage, "cursor"> & { cursor?: string };
  const raw = members(text);
  const messages = (elements(raw?.get("messages") ?? "") ?? []).map((placed, i) => ({
    position: page.messages[i]?.position ?? "",
    message: readMessage(members(placed)?.get("message") ?? ""),
  }));
  if (!live) {
    return { ...page, cursor, messages };
  }
  const fragments = elements(members(raw?.get("live") ?? "")?.get("fragments") ?? "") ?? [];
  return { ...page, cursor, messages, live: { cursor: live.cursor, fragments: fragments.map(readMessage) } };
}
