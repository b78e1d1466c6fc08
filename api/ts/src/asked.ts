import type { Item } from "./ask.js";
import type { FrameType } from "./hubEvents.js";
import { members, object } from "./json.js";
import type { AgentTask, Contact, Prompt } from "./types.gen.js";

/** What the frames of a run have in common. */
export interface RunRef {
  task_id: string;
  session_id: string;
  agent_instance_id: string;
}

/** A frame that was made of what REST has answered: its type, and the text of its payload. Texts are kept as they are: digests are over them. */
export interface Asked {
  type: FrameType;
  raw: string;
}

/** The text of an object made of some fields of another, by their new names; what is absent there is absent here. */
export function pick(raw: string, names: Record<string, string>): string {
  const fields = members(raw);
  return object(
    Object.entries(names).flatMap(([name, from]) => {
      const value = fields?.get(from);
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
}

/** The payload of the agent.stream frame of a stored event. */
export function streamPayload(about: RunRef, event: string): string {
  const fields = members(event);
  const own = pick(event, { id: "id", event_seq: "event_seq", event_type: "wire_type", created_at: "recorded_at", late: "late" });
  return object([
    ...Object.entries(about).map(([name, value]) => [name, JSON.stringify(value)] as const),
    ...(members(own) ?? []),
    ["payload", JSON.stringify(fields?.get("payload") ?? "")],
    ["traceId", JSON.stringify(`trace_${JSON.parse(fields?.get("trace_id") ?? '""')}`)],
  ]);
}

/** How a question stands, as the hub's frame would say it. */
export function notification({ raw, value }: Item<Prompt>): string {
  return object([
    ["id", JSON.stringify(value.request_id)],
    ["type", '"prompt"'],
    ["payload", raw],
    ["read", String(value.state !== "pending")],
    ["created_at", JSON.stringify(value.asked_at)],
  ]);
}

/** The frame that a run's state stands for; none while it is under way. */
export function endOf(task: AgentTask): Asked[] {
  const about = { task_id: task.id, agent_instance_id: task.agent_id, session_id: task.session_id };
  switch (task.state) {
    case "completed":
      return [{ type: "agent.done", raw: JSON.stringify(about) }];
    case "cancelled":
      return [{ type: "agent.cancel", raw: JSON.stringify(about) }];
    case "failed":
    case "interrupted":
      return [{ type: "agent.failed", raw: JSON.stringify({ ...about, error: task.error }) }];
    default:
      return [];
  }
}

/** The frame that tells how a contact stands to a user; none for one that is blocked, of whom nobody is told. */
export function friendship(contact: Contact, me: string): Asked[] {
  const { request_id, user_id, message } = contact;
  switch (contact.state) {
    case "friend":
      return [{ type: "friend.accepted", raw: JSON.stringify({ request_id, user_id }) }];
    case "request_sent":
      return [{ type: "friend.request", raw: JSON.stringify({ request_id, from_user_id: me, to_user_id: user_id, message }) }];
    case "request_received":
      return [{ type: "friend.request", raw: JSON.stringify({ request_id, from_user_id: user_id, to_user_id: me, message }) }];
    default:
      return [];
  }
}
