import { asError } from "./ask.js";
import { isEventMessage, type OmniMessage } from "./omni.js";
import type { OmniSession } from "./omniSession.js";
import { type OmniApproval, type OmniPart, type OmniTask, type OmniUpdate, ResyncError } from "./omniUpdate.js";
import { messageOf, ProblemError, TaskError } from "./problem.js";
import { uuid } from "./uuid.js";

/** What may be said about a run. */
export interface RunOptions extends Omit<OmniTask, "input"> {
  /**
   * Names the attempt: a program that comes again with the same key and the same task, after a crash say, goes on with the run that it has begun.
   * Without it each run is a task of its own.
   */
  key?: string;
  /** Tells from behind a cursor that an earlier loop was told, in place of from now on. */
  from?: string;
  /**
   * Answers what the run and others of the conversation ask for. A rejection is a deny, with its message as the reason. `signal` is aborted when somebody
   * else has answered, or the loop has ended. Without it calls wait for a person, or for `approve`.
   */
  approve?: (ask: OmniApproval, signal: AbortSignal) => Promise<"allow" | "deny"> | "allow" | "deny";
  /** Is told all that the stream brings, before its messages are yielded: cursors to keep, states, approvals, changes of the connection. */
  update?: (update: OmniUpdate) => void;
  signal?: AbortSignal;
}

/** Ends a connection because the hub has said beside it that the run is over. */
const OVER = new Error("the run is over");

interface Asked {
  ask: OmniApproval;
  over: AbortController;
}

/** One run that is followed. */
export class OmniRun {
  readonly #session: OmniSession;
  readonly #task: OmniTask;
  readonly #options: RunOptions;
  readonly #over = new AbortController(); // aborted when the loop ends, for whatever reason
  readonly #open = new Map<string, Asked>(); // by request: what is looked at, or answered and not told of yet
  readonly #answers = new Set<Promise<void>>();
  #cursor: string; // all up to here has been yielded
  #begun = false; // a state has had the run
  #ended = false; // the hub says that it is over: what follows the connection's first state is not of it

  constructor(session: OmniSession, input: OmniPart[], options: RunOptions) {
    const { agentId, thinkingLevel, queueIfBusy } = options;
    this.#session = session;
    this.#task = { input, agentId, thinkingLevel, queueIfBusy };
    this.#options = options;
    this.#cursor = options.from ?? "";
  }

  async *messages(): AsyncGenerator<OmniMessage, void, void> {
    const { signal } = this.#options;
    const aborted = () => this.#over.abort(signal?.reason);
    signal?.addEventListener("abort", aborted);
    try {
      signal?.throwIfAborted();
      yield* this.#all();
    } catch (error) {
      this.#over.signal.throwIfAborted(); // of which the error may be no more than an echo
      throw error;
    } finally {
      signal?.removeEventListener("abort", aborted);
      this.#over.abort();
      await Promise.all(this.#answers);
    }
  }

  /** Gives the task and follows it. The place in the conversation is known before the task is given, so that nothing of it is missed. */
  async *#all(): AsyncGenerator<OmniMessage, void, void> {
    const { signal } = this.#over;
    this.#cursor ||= await this.#head();
    let { runId } = await this.#session.task(this.#task, { signal, key: this.#options.key ?? uuid() });
    for (;;) {
      yield* this.#whole(runId);
      const task = await this.#session.outcome(runId, signal);
      if (task.continued_by_run_id) {
        runId = task.continued_by_run_id;
        this.#begun = this.#ended = false;
      } else if (task.state === "completed") {
        return;
      } else {
        throw new TaskError(task);
      }
    }
  }

  /** Follows one run to its end. */
  async *#whole(run: string): AsyncGenerator<OmniMessage, void, void> {
    const { signal } = this.#over;
    for (;;) {
      try {
        yield* this.#follow(run);
        return;
      } catch (error) {
        if (error === OVER) {
          continue;
        }
        if (!(error instanceof ResyncError) || error.reason !== "trimmed") {
          throw error;
        }
      }
      for await (const page of this.#session.messages("0", { signal })) {
        yield* page.messages.map(({ message }) => message);
        this.#cursor = page.cursor;
      }
    }
  }

  /** Finds where the conversation is. */
  async #head(): Promise<string> {
    for await (const update of this.#session.stream({ signal: this.#over.signal })) {
      this.#options.update?.(update);
      if (update.link === "up") {
        return update.cursor ?? "";
      }
    }
    throw new Error("the stream has ended"); // which it does by throwing
  }

  /**
   * Yields messages until all of the run was told. A state that has had the run, and has it no more, says so. A run that no state has had may not have
   * begun, or its states were told before this connection was there, or it was cancelled before it began: then the hub is asked, and if it is over, the
   * first state of another connection is behind all that it has said.
   */
  async *#follow(run: string): AsyncGenerator<OmniMessage, void, void> {
    const watch = new AbortController(); // aborted when there is nothing to ask
    const line = new AbortController();
    const over = () => line.abort(this.#over.signal.reason);
    this.#over.signal.addEventListener("abort", over);
    const watching = this.#begun || this.#ended ? undefined : this.#watch(run, watch.signal, line);
    try {
      this.#over.signal.throwIfAborted();
      yield* this.#told(run, line.signal, watch);
    } finally {
      this.#over.signal.removeEventListener("abort", over);
      watch.abort();
      await watching;
    }
  }

  /** Ends a line once the hub says that the run is over. */
  async #watch(run: string, signal: AbortSignal, line: AbortController): Promise<void> {
    try {
      await this.#session.ended(run, signal);
    } catch {
      return; // the stream says so too
    }
    this.#ended = true;
    line.abort(OVER);
  }

  async *#told(run: string, signal: AbortSignal, watch: AbortController): AsyncGenerator<OmniMessage, void, void> {
    for await (const update of this.#session.stream({ after: this.#cursor, signal })) {
      this.#options.update?.(update);
      if (update.message) {
        this.#settled(update.message);
        yield update.message;
      } else if (update.approval) {
        this.#ask(update.approval);
      } else if (update.state?.runs.includes(run)) {
        this.#begun = true;
        watch.abort();
      } else if (update.state && (this.#begun || this.#ended)) {
        return;
      }
      this.#cursor = update.cursor ?? this.#cursor;
    }
  }

  /** Has an approval answered. Each connection tells those that wait: the same one counts once. */
  #ask(ask: OmniApproval): void {
    if (!this.#options.approve || this.#open.has(ask.requestId)) {
      return;
    }
    const over = new AbortController();
    this.#open.set(ask.requestId, { ask, over });
    const signal = AbortSignal.any([over.signal, this.#over.signal]);
    const answer = this.#decide(ask, signal)
      .catch((error: unknown) => {
        if (!signal.aborted) { // what cannot be answered would wait without end
          this.#over.abort(new Error(`answer the approval of ${ask.toolCall.name}: ${messageOf(error)}`, { cause: error }));
        }
      })
      .finally(() => this.#answers.delete(answer));
    this.#answers.add(answer);
  }

  async #decide(ask: OmniApproval, signal: AbortSignal): Promise<void> {
    let decision: "allow" | "deny" = "deny";
    let reason: string | undefined;
    try {
      decision = (await this.#options.approve?.(ask, signal)) === "allow" ? "allow" : "deny";
    } catch (error) {
      reason = asError(error).message;
    }
    if (signal.aborted) {
      return; // somebody else has answered, or nobody needs to
    }
    try {
      await this.#session.approve(ask.requestId, decision, reason, { signal });
    } catch (error) {
      if (!(error instanceof ProblemError) || (error.status !== 404 && error.status !== 409)) { // else it waits no more
        throw error;
      }
    }
  }

  /** Ends the work on what somebody has answered. */
  #settled(message: OmniMessage): void {
    if (this.#open.size === 0 || !isEventMessage(message) || message.payload.type !== "approval_decision") {
      return;
    }
    const { tool_call_id } = message.payload;
    const origin = JSON.stringify(message.origin ?? []);
    for (const [request, { ask, over }] of this.#open) {
      if (ask.toolCall.tool_call_id === tool_call_id && JSON.stringify(ask.origin ?? []) === origin) {
        over.abort();
        this.#open.delete(request);
      }
    }
  }
}
