import { type OmniCompletePayload, type OmniEventPayload, OMNI_SHAPES, type OmniMessageType, type OmniShape, type OmniPartialPayload, type SessionMetaPayload } from "./omni.gen.js";

/** What a message holds. */
export type OmniPayload = SessionMetaPayload | OmniCompletePayload | OmniPartialPayload | OmniEventPayload;

/** One message: what a run of an agent says, the same live, in history and in traces (S1, 信封). Types that are not known may come (R12). */
export interface OmniMessage<P extends OmniPayload = OmniPayload> {
  /** ISO 8601 in UTC. */
  timestamp: string;
  type: OmniMessageType;
  payload: P;
  /** The sub-agents' sessions that it came through, the outermost first; absent in the main session. */
  origin?: string[];
}

/** How long the line of a message may be, in bytes: an image of 20 MB in base64 fits. */
export const OMNI_MAX_BYTES = 32 * 1024 * 1024;

const lines = new WeakMap<OmniMessage, string>();

/**
 * Reads a line. It asks for no more than the form, one object with a type and a payload: `problemsOf` says whether a message is as S1 has it. Throws
 * a SyntaxError.
 */
export function readMessage(line: string): OmniMessage {
  const text = line.replace(/\r?\n$/, "");
  const value = text.length > OMNI_MAX_BYTES ? undefined : (JSON.parse(text) as Partial<OmniMessage> | null);
  if (!isObject(value) || typeof value.type !== "string" || !isObject(value.payload)) {
    throw new SyntaxError("not a message: one line of JSON, an object with a type and a payload");
  }
  const message = value as OmniMessage;
  lines.set(message, text);
  return message;
}

/**
 * The message as one line of JSON without its end: byte for byte as it was read, with numbers and escapes that a parsed object does not keep. Of a
 * message that was made here it is what JSON has for it. A message that was read must not be changed: make another one.
 */
export function lineOf(message: OmniMessage): string {
  return lines.get(message) ?? JSON.stringify(message);
}

/** Whether this SDK knows the payload. Pass the others on and make nothing of them. */
export function isKnown(message: OmniMessage): boolean {
  return shapeOf(message) !== undefined;
}

/** Whether the message is with what a context of the model runs. */
export function isSessionMeta(message: OmniMessage): message is OmniMessage<SessionMetaPayload> {
  return message.type === "session_meta";
}

/** Whether the message is of the model's context, whole or in fragments. */
export function isModelMessage(message: OmniMessage): message is OmniMessage<OmniCompletePayload | OmniPartialPayload> {
  return message.type === "model_msg";
}

/** Whether the message is content of the context as a whole. So is one of a type that is not known. */
export function isCompleteModelMessage(message: OmniMessage): message is OmniMessage<OmniCompletePayload> {
  return isModelMessage(message) && !isPartialPayload(message.payload);
}

/** Whether a payload of a model message is a fragment, which the complete message takes the place of. So is one whose type is not known and begins as theirs do. */
export function isPartialPayload(payload: OmniPayload): payload is OmniPartialPayload {
  return typeOf(payload).startsWith(PARTIAL);
}

/** Whether the message is an event beside the context. */
export function isEventMessage(message: OmniMessage): message is OmniMessage<OmniEventPayload> {
  return message.type === "event_msg";
}

/** Whether the message was passed on from the session of a sub-agent. */
export function isOfSubagent(message: OmniMessage): boolean {
  return message.origin !== undefined;
}

/** Whether the message belongs in the trace of the session whose stream it is in: all but fragments, and but what sub-agents say. */
export function isInTrace(message: OmniMessage): boolean {
  return !(isModelMessage(message) && isPartialPayload(message.payload)) && !isOfSubagent(message);
}

export const PARTIAL = "partial_";

/** The type of a payload, "" if it has none. */
export function typeOf(payload: OmniPayload): string {
  const { type } = payload as { type?: unknown };
  return typeof type === "string" ? type : "";
}

/** What is known of the messages with such a payload. */
export function shapeOf(message: OmniMessage): OmniShape | undefined {
  const type = typeOf(message.payload);
  return OMNI_SHAPES.find((shape) => shape.message === message.type && shape.type === type);
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
