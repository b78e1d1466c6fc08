import type { OmniMessage } from "./omni.js";
import { shapeOf } from "./omni.js";
import { addTokenCounts } from "./omniBuild.js";
import { isReadable } from "./omniProblems.js";
import type { CompactionBeginPayload, CompactionEndPayload, OmniEventPayload, OmniRule, TokenCounts, TokenUsagePayload } from "./omni.gen.js";

/** How far a tool call has come: its request is not over, an output is owed, one may come or not, it has come. */
type CallState = "called" | "committed" | "given up" | "answered";

/** Says that a rule was broken. */
export type Break = (rule: OmniRule, what: string) => void;

/** Tells of fragments that are open: all, or those of what the model says. */
export type Leave = (all: boolean) => void;

/** What the messages of a session owe each other, fragments apart. */
export class OmniLedger {
  #spoken = false; // in this context
  #meta = false; // of this context
  #requesting = false;
  readonly #calls = new Map<string, CallState>();
  #usage: TokenCounts | undefined; // of the session
  #compaction: CompactionBeginPayload | undefined;
  readonly #break: Break;
  readonly #leave: Leave;

  constructor(broken: Break, leave: Leave) {
    this.#break = broken;
    this.#leave = leave;
  }

  /** Takes a message. */
  enter(message: OmniMessage): void {
    const begun = this.#spoken;
    this.#spoken = true;
    const shape = shapeOf(message);
    if (!shape || !isReadable(message.payload, shape.fields)) {
      return; // it was told as a problem of its shape, or means nothing
    }
    if (message.type === "session_meta") {
      if (this.#meta || begun) {
        this.#break("a context has one session_meta, before anything else", "this context has begun");
      }
      this.#meta = true;
      return;
    }
    const payload = message.payload as unknown as { type: string; tool_call_id?: string; event_type?: string };
    const id = payload.tool_call_id ?? "";
    switch (payload.type) {
      case "tool_call":
        return this.#call(id);
      case "tool_call_output":
        this.#output(id);
        this.#calls.set(id, "answered");
        return;
      case "partial_tool_call_output":
        return payload.event_type === "start" ? this.#output(id) : undefined;
      case "approval_decision":
        return this.#missing("an approval is of a call that has no output yet", id);
    }
    if (message.type === "event_msg") {
      this.#event(message.payload as OmniEventPayload);
    }
  }

  /** Says what is owed at the end of the stream. */
  end(): void {
    for (const id of [...this.#calls.keys()].sort()) {
      if (this.#calls.get(id) === "committed") {
        this.#break("each tool call has an id of its own and one output, after it", `call ${id} has no output`);
      }
    }
    if (this.#requesting) {
      this.#break("requests end before the next begins, and after it began", "one has not ended");
    }
    if (this.#compaction) {
      this.#break("a compaction ends as it began, before the next begins", "one has not ended");
    }
  }

  /** Takes what has a begin and an end, and what is counted. */
  #event(payload: OmniEventPayload): void {
    switch (payload.type) {
      case "token_usage":
        return this.#used(payload);
      case "abort":
        this.#settle(() => true, "given up");
        this.#leave(true);
        this.#requesting = false;
        return;
      case "request_begin":
        if (this.#requesting) {
          this.#break("requests end before the next begins, and after it began", "the one before has not ended");
        }
        this.#requesting = true;
        return;
      case "request_end":
        return this.#requestEnded(payload.status === "completed");
      case "compaction_begin":
        if (this.#compaction) {
          this.#break("a compaction ends as it began, before the next begins", "the one before has not ended");
        }
        this.#compaction = payload;
        return;
      case "compaction_end":
        return this.#compacted(payload);
    }
  }

  #call(id: string): void {
    if (this.#calls.has(id)) {
      this.#break("each tool call has an id of its own and one output, after it", `there is a call ${id} already`);
    }
    this.#calls.set(id, this.#requesting ? "called" : "committed");
  }

  #output(id: string): void {
    this.#missing("each tool call has an id of its own and one output, after it", id);
  }

  #missing(rule: OmniRule, id: string): void {
    const state = this.#calls.get(id);
    if (state === undefined || state === "answered") {
      this.#break(rule, `call ${id} ${state ? "has its output" : "is not there"}`);
    }
  }

  /** Commits the calls of a request, or gives them up. What tools put out may still be open. */
  #requestEnded(completed: boolean): void {
    if (!this.#requesting) {
      this.#break("requests end before the next begins, and after it began", "none has begun");
    }
    this.#requesting = false;
    this.#leave(false);
    this.#settle((state) => state === "called", completed ? "committed" : "given up");
  }

  #settle(which: (state: CallState) => boolean, as: CallState): void {
    for (const [id, state] of this.#calls) {
      if (state !== "answered" && which(state)) {
        this.#calls.set(id, as);
      }
    }
  }

  #used({ session, request }: TokenUsagePayload): void {
    const zero = { cache_read: 0, cache_write: 0, output: 0, total: 0 };
    const now = addTokenCounts(zero, session ?? zero);
    if (this.#usage && JSON.stringify(addTokenCounts(this.#usage, request ?? zero)) !== JSON.stringify(now)) {
      this.#break("the session's usage grows by the request's", "it does not");
    }
    this.#usage = now;
  }

  /** Ends a compaction. If that went well, another context begins. */
  #compacted({ reason, mode, status }: CompactionEndPayload): void {
    if (!this.#compaction) {
      this.#break("a compaction ends as it began, before the next begins", "none has begun");
    } else if (this.#compaction.reason !== reason || this.#compaction.mode !== mode) {
      this.#break("a compaction ends as it began, before the next begins", "reason or mode differ");
    }
    this.#compaction = undefined;
    this.#leave(false);
    if (status === "completed") {
      this.#meta = this.#spoken = false;
    }
  }
}
