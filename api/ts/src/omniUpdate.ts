import type { OmniMessage } from "./omni.js";

/** One thing that the stream of a conversation tells: one of its fields, or `cursor` beside `message` or `link`. */
export interface OmniUpdate {
  message?: OmniMessage;
  /** A place to come back to: all messages up to it have been told, this one among them. */
  cursor?: string;
  /** What is at work now. */
  state?: OmniState;
  /** Somebody is asked; once on each connection for as long as it waits. */
  approval?: OmniApproval;
  /** The conversation's new title. */
  title?: string;
  /** A change of the connection; with `up`, `cursor` is where it begins, with `down`, `error` says why. It connects again by itself. */
  link?: "up" | "down";
  error?: Error;
}

/**
 * What is at work in a conversation. The list of runs was read before the messages that were told until then: of a run that is not in it, all has been
 * told.
 */
export interface OmniState {
  state: "idle" | "running" | "compacting";
  /** That have not ended. */
  runs: string[];
  /** Of the runs, that have not begun. */
  queued?: number;
  /** What was said to a run whose agent has not taken it. */
  pendingSteering?: Array<{ id: string; text: string }>;
}

/** A call of a tool that waits for a person: answer it with `approve`. */
export interface OmniApproval {
  requestId: string;
  toolCall: { name: string; arguments: string; tool_call_id: string };
  /** The arguments are too many to be told with it, and empty here: the question has them. */
  cut?: boolean;
  /** Of the sub-agent that wants it. */
  origin?: string[];
}

/** A part of what is said. Images and files may be data URLs in base64. */
export type OmniPart = { type: "text"; text: string } | { type: "image_url"; imageUrl: string } | { type: "file"; fileName: string; dataUrl: string };

/** What an agent is asked to do. */
export interface OmniTask {
  input: OmniPart[];
  /** The conversation's default agent if none is named. */
  agentId?: string;
  thinkingLevel?: string;
  /** Without it a task while another is at work is refused with 409 task_in_progress. */
  queueIfBusy?: boolean;
}

/** A message and where it stands. Positions are for `page`. */
export interface OmniPlaced {
  position: string;
  message: OmniMessage;
}

/** A piece of a conversation's history: what its stream told, without fragments. */
export interface OmniPage {
  messages: OmniPlaced[];
  /** All up to it has been read; "" of a page backward. */
  cursor: string;
  /** There are more in this direction. */
  more: boolean;
  /** Where history begins, if what was before it is not kept any more. */
  floor?: string;
  /** With the newest page: the fragments that are open there, to go on with from `cursor` in a stream. */
  live?: { cursor: string; fragments: OmniMessage[] };
}

/**
 * Ends a stream whose cursor the hub cannot go on from: its store was restored from a backup (`epoch`), or what follows is not kept any more
 * (`trimmed`). Read the conversation anew with `messages`, show that in place of what you have, and stream from the cursor of its last page.
 */
export class ResyncError extends Error {
  override readonly name = "ResyncError";
  readonly reason: "epoch" | "trimmed";

  constructor(reason: "epoch" | "trimmed") {
    super(`the stream cannot go on from its cursor (${reason}): read the messages again, and go on from the cursor of the last page`);
    this.reason = reason;
  }
}
