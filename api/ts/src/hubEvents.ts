// Generated from api/openapi.yaml: change it there, then `make generate`.

import type * as t from "./types.gen.js";

/** The subprotocol that stands before the access token when a socket is opened. */
export const SUBPROTOCOL = "switchyard.bearer.v1";

/** Seconds without a word from the hub after which a connection counts as dead; `heartbeat_secs` of auth.ok may say otherwise. */
export const SILENCE_SECS = 45;

/** All frame types there are (S3). */
export const HUB_EVENTS = [
  "typing",
  "auth.ok",
  "message.new",
  "message.recall",
  "message.pin",
  "message.unpin",
  "message.reaction_added",
  "message.reaction_removed",
  "message.read",
  "session.created",
  "session.dissolved",
  "session.member_joined",
  "session.member_left",
  "session.info_updated",
  "device.online",
  "device.offline",
  "device.kicked",
  "agent.dispatch",
  "agent.stream",
  "agent.done",
  "agent.failed",
  "agent.cancel",
  "agent.control",
  "team.run.started",
  "team.event",
  "team.assignment.done",
  "team.assignment.failed",
  "team.subagent.stream",
  "notification.new",
  "friend.request",
  "friend.accepted",
] as const;

export type FrameType = (typeof HUB_EVENTS)[number];

/** The payload of each type. */
export interface FramePayloads {
  "typing": t.TypingPayload;
  "auth.ok": t.AuthOKPayload;
  "message.new": t.Message;
  "message.recall": t.MessageRecallPayload;
  "message.pin": t.MessagePinPayload;
  "message.unpin": t.MessageUnpinPayload;
  "message.reaction_added": t.MessageReactionPayload;
  "message.reaction_removed": t.MessageReactionPayload;
  "message.read": t.ReadMark;
  "session.created": t.SessionCreatedPayload;
  "session.dissolved": t.SessionDissolvedPayload;
  "session.member_joined": t.SessionMemberJoinedPayload;
  "session.member_left": t.SessionMemberLeftPayload;
  "session.info_updated": t.SessionInfoUpdatedPayload;
  "device.online": t.PresencePayload;
  "device.offline": t.PresencePayload;
  "device.kicked": t.DeviceKickedPayload;
  "agent.dispatch": t.AgentDispatchPayload;
  "agent.stream": t.AgentStreamPayload;
  "agent.done": t.AgentDonePayload;
  "agent.failed": t.AgentFailedPayload;
  "agent.cancel": t.AgentCancelPayload;
  "agent.control": t.AgentControlPayload;
  "team.run.started": t.TeamRunStartedPayload;
  "team.event": t.TeamEventPayload;
  "team.assignment.done": t.TeamAssignmentPayload;
  "team.assignment.failed": t.TeamAssignmentPayload;
  "team.subagent.stream": t.TeamSubagentStreamPayload;
  "notification.new": t.NotificationPayload;
  "friend.request": t.FriendRequestPayload;
  "friend.accepted": t.FriendAcceptedPayload;
}

/** What applying a frame does to the record of its key. */
export type Effect = "ignored" | "put" | "merge" | "once" | "remove" | "forward" | "appended" | "whole";

/** How frames of one type are applied: `key` names the payload's fields; of `forward` and `appended` the last is the number, of `whole` it is the list. */
export interface Rule {
  readonly effect: Effect;
  readonly record: string;
  readonly key: readonly string[];
  /** The payload's field with the number of the version; of two, the one with the smaller number is older. */
  readonly version?: string;
  /** Fields that are no part of the record. */
  readonly omit?: readonly string[];
  /** A field that stays true once it is. */
  readonly final?: string;
  /** The field that the items of a list go by. */
  readonly of?: string;
}

export const RULES: Readonly<Record<FrameType, Rule>> = {
  "typing": { effect: "ignored", record: "", key: [] },
  "auth.ok": { effect: "whole", record: "presence", key: ["online"], of: "user_id" },
  "message.new": { effect: "put", record: "message", key: ["id"], version: "revision" },
  "message.recall": { effect: "once", record: "recall", key: ["message_id"], omit: ["seq_id", "sender_id", "change_seq"] },
  "message.pin": { effect: "put", record: "pin", key: ["session_id", "message_id"], omit: ["change_seq"] },
  "message.unpin": { effect: "remove", record: "pin", key: ["session_id", "message_id"] },
  "message.reaction_added": { effect: "put", record: "reaction", key: ["message_id", "user_id", "reaction"], omit: ["action", "count", "change_seq"] },
  "message.reaction_removed": { effect: "remove", record: "reaction", key: ["message_id", "user_id", "reaction"] },
  "message.read": { effect: "forward", record: "read", key: ["session_id", "user_id", "last_read_seq"] },
  "session.created": { effect: "merge", record: "session", key: ["session_id"], omit: ["last_seq"] },
  "session.dissolved": { effect: "once", record: "session.dissolved", key: ["session_id"] },
  "session.member_joined": { effect: "put", record: "member", key: ["session_id", "member_id"] },
  "session.member_left": { effect: "remove", record: "member", key: ["session_id", "member_id"] },
  "session.info_updated": { effect: "merge", record: "session", key: ["session_id"] },
  "device.online": { effect: "put", record: "presence", key: ["user_id"], version: "version" },
  "device.offline": { effect: "put", record: "presence", key: ["user_id"], version: "version" },
  "device.kicked": { effect: "ignored", record: "", key: [] },
  "agent.dispatch": { effect: "put", record: "dispatch", key: ["task_id"] },
  "agent.stream": { effect: "appended", record: "log", key: ["task_id", "event_seq"] },
  "agent.done": { effect: "once", record: "agent.done", key: ["task_id"] },
  "agent.failed": { effect: "once", record: "agent.failed", key: ["task_id"] },
  "agent.cancel": { effect: "once", record: "agent.cancel", key: ["task_id"] },
  "agent.control": { effect: "put", record: "control", key: ["agent_task_id", "kind", "approval_id"] },
  "team.run.started": { effect: "put", record: "team.run", key: ["run_id"] },
  "team.event": { effect: "put", record: "team.event", key: ["run_id", "id"] },
  "team.assignment.done": { effect: "once", record: "team.assignment.done", key: ["assignment_id"] },
  "team.assignment.failed": { effect: "once", record: "team.assignment.failed", key: ["assignment_id"] },
  "team.subagent.stream": { effect: "appended", record: "log", key: ["agent_task_id", "event_seq"] },
  "notification.new": { effect: "put", record: "notification", key: ["id"], final: "read" },
  "friend.request": { effect: "put", record: "friend.request", key: ["request_id"] },
  "friend.accepted": { effect: "put", record: "friend.accepted", key: ["request_id"] },
};

/** What a client does after a close code. */
export type Then = "resume" | "wait" | "login" | "stay_away";

export const CLOSE_CODES = {
  /** The hub restarts; the reason says `retry_ms=`, how many milliseconds to wait. */
  restart: 1012,
  /** The hub cannot serve now; connect again, with patience. */
  try_later: 1013,
  /** The login ended; log in again. */
  login_ended: 4401,
  /** A ping was not answered; connect again and resume. */
  silent: 4408,
  /** The socket took nothing for 15 s; connect again and resume. */
  slow: 4409,
  /** The same device connected elsewhere; `device.kicked` was the last frame. */
  replaced: 4410,
} as const;

export const AFTER_CLOSE: Readonly<Record<number, Then>> = {
  1012: "resume",
  1013: "wait",
  4401: "login",
  4408: "resume",
  4409: "resume",
  4410: "stay_away",
};
