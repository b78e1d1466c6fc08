import type { Frame } from "./frame.js";
import type { Reducer } from "./reducer.js";
import type { Attachment, Message, NotificationPayload, PresencePayload, Prompt, SessionCreatedPayload } from "./types.gen.js";

/**
 * A message as people are shown it. It has these fields and no others: what else a message carries beside its text, such as marks of debugging,
 * of a mock or of a mode, is metadata and never comes into a bubble (S3).
 */
export interface Bubble {
  message_id: string;
  session_id: string;
  /** Orders the bubbles of a conversation. */
  seq_id: number;
  sender_type: Message["sender_type"];
  sender_id: string;
  /** "" of content without text. */
  text: string;
  attachments: Attachment[];
  /** It was taken back: text and attachments are not given any more. */
  recalled: boolean;
  created_at: string;
  /** Undefined if it never was. */
  edited_at: string | undefined;
  /** Whose words it repeats; undefined for its sender's own. */
  forwarded: Message["forwarded"];
}

/** How a message is shown. */
export function bubbleOf(message: Message): Bubble {
  const recalled = message.recalled === true;
  return {
    message_id: message.id,
    session_id: message.session_id,
    seq_id: message.seq_id,
    sender_type: message.sender_type,
    sender_id: message.sender_id,
    text: recalled ? "" : textField(message.content, "text"),
    attachments: recalled ? [] : (message.attachments ?? []),
    recalled,
    created_at: message.created_at,
    edited_at: message.edited_at,
    forwarded: recalled ? undefined : message.forwarded,
  };
}

/** The messages of a conversation as they are shown, in order. */
export function bubbles(state: Reducer, session: string): Bubble[] {
  return (state.recordsOf("message") as Message[])
    .filter((message) => message.session_id === session)
    .map(bubbleOf)
    .sort((a, b) => a.seq_id - b.seq_id);
}

/** The conversations that are known and not dissolved. */
export function sessions(state: Reducer): SessionCreatedPayload[] {
  const known = state.recordsOf("session") as SessionCreatedPayload[];
  return known.filter((session) => state.record("session.dissolved", session.session_id) === undefined);
}

/** The friends who are online by what was told last, in the order of their ids. Without a connection that is what was true before. */
export function online(state: Reducer): string[] {
  return (state.recordsOf("presence") as PresencePayload[]).filter((friend) => friend.online).map((friend) => friend.user_id);
}

/** What is unread of what the person was told, questions among them, in the order of their ids. */
export function notifications(state: Reducer): NotificationPayload[] {
  return (state.recordsOf("notification") as NotificationPayload[]).filter((notification) => !notification.read);
}

/** The prompts that wait for an answer, the oldest first. */
export function questions(state: Reducer): Prompt[] {
  return notifications(state)
    .filter((notification) => notification.type === "prompt")
    .map((notification) => notification.payload as unknown as Prompt)
    .sort((a, b) => Date.parse(a.asked_at) - Date.parse(b.asked_at));
}

/**
 * What an agent.stream frame adds to what its agent is saying, and the run that says it; undefined for any other frame and for every other
 * event: reasoning, tools, raw output and metadata of the run are not words.
 */
export function words(frame: Frame): { run: string; text: string } | undefined {
  if (frame.type !== "agent.stream" || frame.payload.event_type !== "run.agent.text_delta") {
    return undefined;
  }
  try {
    return { run: frame.payload.task_id, text: textField(JSON.parse(frame.payload.payload), "delta") };
  } catch {
    return undefined; // a payload that is no JSON says nothing
  }
}

function textField(object: unknown, name: string): string {
  const value = typeof object === "object" && object !== null ? (object as Record<string, unknown>)[name] : undefined;
  return typeof value === "string" ? value : "";
}
