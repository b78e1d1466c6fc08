import { members, object } from "./json.js";

/** The fields that a recalled message keeps; its content is {} and `recalled` is true, as the hub has it. */
const REMAINING = [
  "id", "message_id", "session_id", "seq_id", "client_msg_id", "sender_type", "sender_id", "content_type", "task_ids", "created_at",
];

/** What is left of a message that was recalled. */
export function remains(raw: string): string {
  const fields = [...(members(raw) ?? [])].filter(([name]) => REMAINING.includes(name));
  return object([...fields, ["content", "{}"], ["recalled", "true"]]);
}

/** Whether a message says of itself that it was recalled. */
export function isRecalled(raw: string): boolean {
  return members(raw)?.get("recalled") === "true";
}

/** The record of a recall that a message itself speaks of. */
export function recallOf(raw: string): string {
  const fields = members(raw);
  return object([
    ["message_id", fields?.get("id") ?? '""'],
    ["session_id", fields?.get("session_id") ?? '""'],
  ]);
}

/** Whether a payload is an earlier version than a record. */
export function older(raw: string, record: string, field: string): boolean {
  return versionOf(raw, field) < versionOf(record, field);
}

function versionOf(raw: string, field: string): bigint {
  const text = members(raw)?.get(field) ?? "";
  return /^-?\d{1,18}$/.test(text) ? BigInt(text) : 0n;
}

/** An object without some of its fields. */
export function without(raw: string, names: readonly string[]): string | undefined {
  const fields = members(raw);
  return fields && object([...fields].filter(([name]) => !names.includes(name)));
}
