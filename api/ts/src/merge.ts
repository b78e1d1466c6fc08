import { elements, members, object } from "./json.js";

/**
 * The fields of a conversation that travel together with a number: of two versions the higher one holds, in whichever order they come.
 */
const VERSIONED: ReadonlyArray<readonly [version: string, names: readonly string[]]> = [
  ["info_version", ["name", "avatar_url", "announcement", "owner_id"]],
  ["settings_version", ["pinned", "archived", "muted"]],
];

/**
 * A record after a frame whose fields win, but for those of an older version than the record's. The fields of session.info_updated stand in its
 * `changes`. Undefined if they are no object.
 */
export function merged(record: string | undefined, raw: string): string | undefined {
  const payload = members(raw);
  const changes = payload?.get("changes") ?? "{}";
  const changed = members(changes === "null" ? "{}" : changes);
  if (!payload || !changed) {
    return undefined;
  }
  payload.delete("changes");
  const fields = members(record ?? "{}") ?? new Map<string, string>();
  const news = new Map([...payload, ...changed]);
  for (const [version, names] of VERSIONED) {
    if (older(news.get(version), fields.get(version))) {
      [version, ...names].forEach((name) => news.delete(name));
    }
  }
  return object(rolesGiven(new Map([...fields, ...news])));
}

function older(version: string | undefined, than: string | undefined): boolean {
  const whole = /^-?\d+$/;
  return whole.test(version ?? "") && whole.test(than ?? "") && BigInt(version ?? "") < BigInt(than ?? "");
}

/** Makes the one who owns a conversation the one member with that role. */
function rolesGiven(fields: Map<string, string>): Map<string, string> {
  const owner = fields.get("owner_id");
  const all = elements(fields.get("members") ?? "");
  if (owner === undefined || !all) {
    return fields;
  }
  const given = all.map((member) => {
    const own = members(member);
    const role = own?.get("role");
    const due = own?.get("member_id") === owner ? '"owner"' : '"member"';
    const stands = role === undefined || (role === '"owner"') === (due === '"owner"');
    return own && !stands ? object(own.set("role", due)) : member;
  });
  return given.some((member, i) => member !== all[i]) ? fields.set("members", `[${given.join()}]`) : fields;
}
