import { type FramePayloads, type FrameType, type Rule, RULES } from "./hubEvents.js";
import { members } from "./json.js";

/**
 * One frame of /client/ws. `seq_id` counts the frames of one connection and is good for nothing else; frames are applied by business key (see
 * `keyOf` and `Reducer`). `raw` is the payload's text as the hub wrote it.
 */
export type Frame = {
  [T in FrameType]: { readonly type: T; readonly seq_id: number; readonly payload: FramePayloads[T]; readonly raw: string; readonly cursor?: string };
}[FrameType];

/** Reads the text of a frame. Throws a SyntaxError when it is none. A type that this SDK does not know passes: it is to be ignored. */
export function parseFrame(text: string): Frame {
  const value = JSON.parse(text) as { type?: unknown; seq_id?: unknown; payload?: unknown; cursor?: unknown } | null;
  const bare = typeof value === "object" && value !== null && typeof value.type === "string" && isCount(value.seq_id) && isCursor(value.cursor);
  if (!bare) {
    throw new SyntaxError("not a frame of a hub");
  }
  const { type, seq_id, payload, cursor } = value;
  return { type, seq_id: seq_id ?? 0, payload: payload ?? {}, raw: members(text)?.get("payload") ?? "{}", ...(cursor ? { cursor } : {}) } as Frame;
}

function isCount(value: unknown): boolean {
  return value === undefined || Number.isSafeInteger(value);
}

function isCursor(value: unknown): boolean {
  return value === undefined || typeof value === "string";
}

/** How frames of a type are applied; undefined for a type that is not known. */
export function ruleOf(type: string): Rule | undefined {
  return Object.hasOwn(RULES, type) ? RULES[type as FrameType] : undefined;
}

/**
 * Names what a frame is about: its type and the payload's fields by which it is applied, such as "agent.stream run_9f2c1b7ad0e44c55/3". Two
 * frames with one key are the same fact, or two versions of one record. It is "" for frames that are not kept: ephemeral ones, those about
 * the connection, unknown ones, and those whose payload lacks the key.
 */
export function keyOf(frame: Pick<Frame, "type" | "raw">): string {
  const rule = ruleOf(frame.type);
  if (rule?.effect === "whole") {
    return listed(rule, frame.raw) === undefined ? "" : `${frame.type} ${rule.key[0]}`;
  }
  const parts = rule && rule.effect !== "ignored" ? keyFields(frame.raw, rule.key) : undefined;
  return parts ? `${frame.type} ${parts.join("/")}` : "";
}

/** The field of a payload that lists the records of a kind, undefined if it is not there. */
export function listed(rule: Rule, raw: string): string | undefined {
  return members(raw)?.get(rule.key[0] ?? "");
}

/** The named fields of a payload, strings and numbers alike. An absent one is "", but the first must be there: else undefined. */
export function keyFields(raw: string, names: readonly string[]): string[] | undefined {
  const fields = members(raw);
  const parts = names.map((name) => {
    const field = fields?.get(name) ?? "";
    return field.startsWith('"') ? (JSON.parse(field) as string) : field; // a number keeps its spelling
  });
  return parts[0] ? parts : undefined;
}
