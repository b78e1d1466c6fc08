import { elements, members as fieldsOf, object } from "./json.js";

/**
 * The text of a conversation's record after somebody has joined or left, as a fresh list of conversations would have it; the record itself if
 * there is no list of members in it. `joined` is the payload's text.
 */
export function edited(record: string, member: string, change: { joined: string } | { left: true }): string {
  const fields = fieldsOf(record);
  const all = elements(fields?.get("members") ?? "");
  if (!fields || !all) {
    return record;
  }
  const at = all.findIndex((raw) => fieldsOf(raw)?.get("member_id") === JSON.stringify(member));
  if ("joined" in change) {
    const now = new Map([...(fieldsOf(all[at] ?? "{}") ?? []), ...(fieldsOf(change.joined) ?? [])]);
    now.delete("session_id");
    all.splice(at < 0 ? all.length : at, 1, object(now));
  } else if (at >= 0) {
    all.splice(at, 1);
  }
  return object(fields.set("members", `[${all.join()}]`));
}
