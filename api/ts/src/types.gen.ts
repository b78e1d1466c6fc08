// Generated from api/openapi.yaml: change it there, then `make generate`.

export interface Agent {
  /** The caller may start, steer and cancel it. */
  can_operate: boolean;
  created_at: string;
  description?: string;
  edge_id?: EdgeID;
  id: AgentID;
  name: AgentName;
  /** An edge that can run it is connected now. */
  online: boolean;
  owner_id: UserID;
  permission_mode: PermissionMode;
  profile: ProfileName;
  runtime: RuntimeName;
}

export interface AgentCancelPayload {
  agent_instance_id: AgentID;
  session_id: SessionID;
  task_id: RunID;
  triggered_by?: UserID;
}

export interface AgentControlPayload {
  agent_task_id?: RunID;
  approval_id?: RequestID;
  assignment_id?: AssignmentID;
  edge_control: EdgeControl;
  edge_device_id?: EdgeID;
  kind: "permission.decide";
  team_run_id?: TeamRunID;
}

export interface AgentDispatchPayload {
  agent_instance_id: AgentID;
  agent_type: string;
  delivery_id?: DeliveryID;
  display_name: string;
  edge_id?: EdgeID;
  prompt: string;
  session_id: SessionID;
  task_id: RunID;
  trace_id?: FrameTraceID;
  trigger_message_id: MessageID;
  trigger_user_id: UserID;
}

export interface AgentDonePayload {
  agent_instance_id: AgentID;
  session_id: SessionID;
  task_id: RunID;
}

export interface AgentFailedPayload {
  agent_instance_id: AgentID;
  error: RunError;
  session_id: SessionID;
  task_id: RunID;
}

export type AgentID = string;

export interface AgentInput {
  description?: string;
  edge_id?: EdgeID;
  name: AgentName;
  permission_mode?: PermissionMode;
  profile: ProfileName;
  runtime: RuntimeName;
}

export interface AgentList {
  items: Agent[];
  next?: PageToken;
}

/** What `@name` in a message means. */
export type AgentName = string;

/** One event of a run's log. */
export interface AgentStreamPayload {
  agent_instance_id: AgentID;
  created_at: string;
  edge_id?: EdgeID;
  event_seq: number;
  event_type: EventType;
  id: EventID;
  late?: boolean;
  /** The exact bytes of the stored payload as a JSON string. */
  payload: string;
  session_id: SessionID;
  task_id: RunID;
  traceId: FrameTraceID;
}

/** A run, as those see it who asked for it. The task's id is the run's id. */
export interface AgentTask {
  agent_id: AgentID;
  /** The events up to this number are in an archive of the hub: to read them is 410 `events_expired`. Absent while all can be read. */
  archived_through?: number;
  continued_by_run_id?: RunID;
  continues_run_id?: RunID;
  created_at: string;
  edge_id?: EdgeID;
  ended_at?: string;
  error?: RunError;
  events_url?: EventsURL;
  final_message_id?: MessageID;
  id: RunID;
  last_event_seq: number;
  parent_run_id?: RunID;
  regenerates_run_id?: RunID;
  requested_by: UserID;
  root_run_id: RunID;
  session_id: SessionID;
  started_at?: string;
  state: RunState;
  trace_id: TraceID;
  trigger_message_id?: MessageID;
  /** The edge is absent, so the run may have moved on without us knowing. */
  unknown: boolean;
  /** Why a run that waits for an edge, or lies on one, has not been started: a sentence for people. Absent when it only has to become its turn. */
  waits_for?: string;
}

export interface AgentTaskInput {
  agent_id: AgentID;
  /** Together at most 256 KiB. */
  attachments?: Attachment[];
  prompt?: string;
  session_id: SessionID;
  trigger_message_id?: MessageID;
}

export interface AgentTaskList {
  items: AgentTask[];
  next?: PageToken;
}

/** What everybody in the conversation should know; empty for none. */
export type Announcement = string;

/** `allow-all`: yes. `deny-all`: no. `read-only`: yes to tools that only look, for others a person is asked. `always-ask`: a person is asked. Empty: as the agent's profile says. A profile that denies everything counts first. */
export type ApprovalMode = string;

export interface Artifact {
  content_type: string;
  created_at: string;
  filename: string;
  id: ArtifactID;
  run_id: RunID;
  sha256: SHA256;
  size: number;
}

export type ArtifactID = string;

export interface ArtifactList {
  items: Artifact[];
  next?: PageToken;
}

export type AssignmentID = string;

export interface Attachment {
  filename?: string;
  kind: AttachmentKind;
  mime_type?: string;
  /** Bytes of what the address leads to. */
  size?: number;
  /** `http`, `https` or `data`; at most 2,048 bytes but for `data`. Or the `url` of an uploaded file, whose name, type and size then stand here whatever the sender says. */
  url: string;
}

export type AttachmentID = string;

export type AttachmentKind = "image" | "file" | "audio" | "video" | "other";

export interface AttentionInput {
  /** A person has this device in front of them. */
  foreground: boolean;
  session_id?: SessionID;
}

/** The first frame of a connection, and its heartbeat after 20 s of silence. */
export interface AuthOKPayload {
  connection_id: string;
  cursor?: Cursor;
  epoch?: string;
  /** A client that hears nothing for longer than twice this reconnects. */
  heartbeat_secs?: number;
  message?: string;
  /** Which friends are online, all of them. Absent if that is not said. */
  online?: PresencePayload[];
  /** Why a `reset`. */
  reason?: string;
  /** `reset` means: take a REST snapshot, then go on from `cursor`. */
  resume: "replayed" | "reset" | "fresh";
}

/** An `https` address; empty for none. */
export type AvatarURL = string;

export interface BootstrapInput {
  device: DeviceInput;
  display_name?: string;
  password: NewPassword;
  token: Secret;
  username: Username;
}

export interface CancelInput {
  /** End the run now, without waiting for its edge. */
  force?: boolean;
}

/** The lean view has the required fields, and `late`. */
export interface CanonicalEvent {
  agent_id?: AgentID;
  agent_snapshot_checksum?: SHA256;
  event_id?: EventID;
  event_type: EventType;
  /** It arrived after the run had ended. */
  late?: boolean;
  /** When it happened, by the clock of who says so. */
  occurred_at: string;
  payload: EventPayload;
  payload_checksum?: SHA256;
  provenance?: { source_event_id: EventID; source_type: "edge" | "hub" };
  /** When the hub committed it, by the hub's clock. */
  recorded_at?: string;
  run_id: RunID;
  schema_version?: number;
  /** The event's number in its run, from 1 without holes. */
  seq: number;
  span_id?: SpanID;
  trace_id?: TraceID;
  wire_type?: EventType;
}

export interface CanonicalEventList {
  epoch: Epoch;
  items: CanonicalEvent[];
  /** The run's newest event at the time of this answer. */
  last_event_seq: number;
  /** The `after_seq` to go on with; absent when there is no more. */
  next?: number;
}

/** Counts what happens to the messages of one conversation after they were sent: edits, recalls, pins, reactions. What was answered has every change up to this one, of the messages in it. */
export type ChangeSeq = number;

/** A UUID that the sender made, unique in the conversation: the message's idempotency key. */
export type ClientMsgID = string;

export interface CodeContent {
  code: string;
  filename?: string;
  language?: string;
}

export interface Contact {
  display_name?: string;
  /** Of a friend who is not online: when a device of theirs logged in or renewed its login last, which connected ones do every few minutes. */
  last_seen_at?: string;
  /** Of the request. */
  message?: string;
  /** Of a friend: a device of theirs is connected, or was a moment ago (HUB_PRESENCE_GRACE). */
  online?: boolean;
  request_id?: RequestID;
  since: string;
  state: ContactState;
  user_id: UserID;
  username: Username;
}

export interface ContactInput {
  message?: string;
  username: Username;
}

export interface ContactList {
  items: Contact[];
}

export type ContactState = "friend" | "request_sent" | "request_received" | "blocked";

export type ContentType = "text" | "code" | "diff" | "image" | "file" | "link_card" | "deploy_card";

/** Opaque: where in the hub's order of frames a client stands. Kept and sent back as it is. */
export type Cursor = string;

export type DeliveryID = string;

export interface DeployCardContent {
  description?: string;
  environment?: string;
  status: "queued" | "running" | "succeeded" | "failed" | "cancelled";
  title: string;
  /** `http` or `https`. */
  url?: string;
  version?: string;
}

export interface Device {
  created_at: string;
  /** The device that asks. */
  current: boolean;
  id: DeviceID;
  last_seen_at?: string;
  name: string;
  type: DeviceType;
}

export type DeviceID = string;

export interface DeviceInput {
  name: string;
  type: DeviceType;
}

/** This connection is over; the client drops its login state and does not reconnect. */
export interface DeviceKickedPayload {
  connection_id?: string;
  reason: string;
}

export interface DeviceList {
  items: Device[];
  next?: PageToken;
}

export type DeviceType = "web" | "desktop" | "mobile" | "cli";

export interface DiffContent {
  /** In unified form. */
  diff: string;
  filename?: string;
  title?: string;
}

export interface Edge {
  created_at: string;
  id: EdgeID;
  last_seen_at?: string;
  name: string;
  /** Users the owner lets operate; shown to the owner only. */
  operators?: UserID[];
  owner_id: UserID;
  profiles: EdgeProfile[];
  state: EdgeState;
  version?: string;
}

export interface EdgeControl {
  decision: "allow" | "deny";
  reason?: string;
  requestId: RequestID;
  runId: RunID;
}

export interface EdgeCredential {
  credential: Secret;
  edge_id: EdgeID;
}

export type EdgeID = string;

export interface EdgeList {
  items: Edge[];
  next?: PageToken;
}

export interface EdgeProfile {
  description?: string;
  name: ProfileName;
  runtime: RuntimeName;
}

export type EdgeState = "online" | "offline" | "refused" | "revoked";

export interface EnrolInput {
  hostname: string;
  token: Secret;
  version: string;
}

export interface Enrolment {
  edge_id: EdgeID;
  expires_at: string;
  token: Secret;
}

export interface EnrolmentInput {
  name: string;
}

/** One life of the hub's store; a restored backup begins another. */
export type Epoch = string;

export type EventID = string;

/** The stored bytes, never re-encoded. Shapes are in `api/events.md`. */
export type EventPayload = Record<string, unknown>;

export type EventType = string;

/** Where to follow the run, on this hub. */
export type EventsURL = string;

/** Without `url` the file is the message's attachment. */
export interface FileContent {
  caption?: string;
  filename?: string;
  mime_type?: string;
  /** Bytes. */
  size?: number;
  /** `http`, `https` or `data`; at most 2,048 bytes but for `data`. */
  url?: string;
}

export interface ForwardInput {
  to: ForwardTarget[];
}

export interface ForwardReceipt {
  /** In the order of `to`. */
  items: ForwardedCopy[];
}

export interface ForwardTarget {
  client_msg_id: ClientMsgID;
  session_id: SessionID;
}

export interface ForwardedCopy {
  created_at: string;
  /** This is the first answer again. */
  deduplicated: boolean;
  message_id: MessageID;
  seq_id: SeqID;
  session_id: SessionID;
}

/** The run's trace id as S3 frames carry it. */
export type FrameTraceID = string;

export interface FriendAcceptedPayload {
  request_id: RequestID;
  user_id: UserID;
}

export interface FriendRequestPayload {
  from_user_id: UserID;
  message?: string;
  request_id: RequestID;
  to_user_id: UserID;
}

export interface GroupSessionInput {
  member_ids?: MemberID[];
  name: string;
}

export interface Health {
  checks: HealthCheck[];
  status: "ok" | "unready";
  version?: string;
}

export interface HealthCheck {
  detail?: string;
  name: string;
  ok: boolean;
}

/** One text message on `/client/ws`. The shape of `payload` follows from `type`: `x-payload-schemas` names it. Applying a frame is decided by the business key that `api/events.md` gives for its type, never by `seq_id`. */
export interface HubWebSocketFrame {
  cursor?: Cursor;
  payload: Record<string, unknown>;
  /** Counts the frames of this connection from 1. A gap means loss on this connection; no other use. Absent from client to server. */
  seq_id?: number;
  type: HubWebSocketFrameType;
}

/** All frame types there are. `typing` is the only one that a client may send; anything else from a client is dropped and counted. */
export type HubWebSocketFrameType = "typing" | "auth.ok" | "message.new" | "message.recall" | "message.pin" | "message.unpin" | "message.reaction_added" | "message.reaction_removed" | "message.read" | "session.created" | "session.dissolved" | "session.member_joined" | "session.member_left" | "session.info_updated" | "device.online" | "device.offline" | "device.kicked" | "agent.dispatch" | "agent.stream" | "agent.done" | "agent.failed" | "agent.cancel" | "agent.control" | "team.run.started" | "team.event" | "team.assignment.done" | "team.assignment.failed" | "team.subagent.stream" | "notification.new" | "friend.request" | "friend.accepted";

/** What the picture is of. Without `url` it is the message's attachment. */
export interface ImageContent {
  alt?: string;
  caption?: string;
  /** In pixels. */
  height?: number;
  /** `http`, `https` or `data`; at most 2,048 bytes but for `data`. */
  url?: string;
  /** In pixels. */
  width?: number;
}

export interface ImportedTrace {
  sessionId: SessionID;
}

/** Counts the changes of name, avatar_url, announcement and owner_id. Of two versions the higher holds. */
export type InfoVersion = number;

export interface Invitation {
  created_at: string;
  expires_at: string;
  id: InvitationID;
  token: Secret;
}

export type InvitationID = string;

export interface LinkCardContent {
  description?: string;
  /** `http` or `https`. */
  image_url?: string;
  site_name?: string;
  title: string;
  /** `http` or `https`. */
  url: string;
}

/** An event's number in its run, alone or behind an epoch and a dot. */
export type LogCursor = string;

export interface LoginInput {
  device: DeviceInput;
  password: string;
  username: string;
}

export interface Me {
  device: Device;
  user: User;
}

/** A user or an agent. */
export type MemberID = string;

export interface MemberInput {
  member_id: MemberID;
}

export type MemberRole = "owner" | "member";

export type MemberType = "user" | "agent";

export interface Message {
  /** Together at most 256 KiB. */
  attachments?: Attachment[];
  client_msg_id?: ClientMsgID;
  content: MessageContent;
  content_type: ContentType;
  created_at: string;
  edited_at?: string;
  forwarded?: MessageOrigin;
  id: MessageID;
  /** The agents and people of the conversation whom it names, or whom its sender has listed. */
  mentions?: MemberID[];
  message_id: MessageID;
  pinned?: MessagePinned;
  /** By REST alone; frames tell of each. */
  reactions?: Reaction[];
  /** It was taken back: `content` is `{}`, and attachments, mentions and what it answered are not told any more. */
  recalled?: boolean;
  reply_to_message_id?: MessageID;
  /** How often it was edited; absent if never. Of two versions the one with the greater number stands. */
  revision?: number;
  sender_id: MemberID;
  sender_type: SenderType;
  seq_id: SeqID;
  session_id: SessionID;
  /** The runs this message started. */
  task_ids?: RunID[];
}

export interface MessageChangeList {
  /** In the order of their last changes. */
  items: Message[];
  last_change: ChangeSeq;
  /** The `after_change` to go on with; absent when there is no more. */
  next?: number;
}

/** Shape by content type: `x-content-schemas` names it. `text` may have fields of the sender's own; the others are closed, and an error names the field, as in `content.width`. An agent's message also has `agent_task: {task_id}`. What was recalled is `{}`. */
export type MessageContent = Record<string, unknown>;

export interface MessageEdit {
  /** All that it has from now on; absent: those that it has. */
  attachments?: Attachment[];
  content: MessageContent;
  /** Members besides those whom the new text names; absent: those that were listed before. */
  mentions?: MemberID[];
}

export type MessageID = string;

export interface MessageInput {
  /** Together at most 256 KiB. */
  attachments?: Attachment[];
  client_msg_id: ClientMsgID;
  content: MessageContent;
  content_type?: ContentType;
  /** Members besides those whom the text names as `@name`: at most 16 agents and 64 people. Agents get a run, people a notification. */
  mentions?: MemberID[];
  reply_to_message_id?: MessageID;
}

export interface MessageList {
  items: Message[];
  last_change?: ChangeSeq;
  last_seq: SeqID;
  /** The sequence number to go on with; absent when there is no more. */
  next?: number;
}

/** Whose words a forwarded message repeats, and when they were said first. */
export interface MessageOrigin {
  /** Empty of one that is no more. */
  sender_name: string;
  sender_type: SenderType;
  sent_at: string;
}

export interface MessagePinPayload {
  change_seq?: ChangeSeq;
  message_id: MessageID;
  pinned_at: string;
  pinned_by_user_id: UserID;
  session_id: SessionID;
}

/** By whom, and since when; by REST alone, frames tell of each pin. */
export interface MessagePinned {
  pinned_at: string;
  pinned_by_user_id: UserID;
}

export interface MessageReactionPayload {
  action: "added" | "removed";
  change_seq?: ChangeSeq;
  count: number;
  message_id: MessageID;
  reaction: string;
  session_id: SessionID;
  user_id: UserID;
}

export interface MessageRecallPayload {
  change_seq?: ChangeSeq;
  message_id: MessageID;
  sender_id?: MemberID;
  seq_id?: SeqID;
  session_id: SessionID;
}

export interface MessageReceipt {
  created_at: string;
  /** This is the first answer again. */
  deduplicated: boolean;
  /** Of the runs in `task_ids`, in their order. */
  events_urls: EventsURL[];
  message_id: MessageID;
  seq_id: SeqID;
  task_ids: RunID[];
}

export interface MessageUnpinPayload {
  change_seq?: ChangeSeq;
  message_id: MessageID;
  session_id: SessionID;
}

export interface MessagesFound {
  items: Message[];
  next?: PageToken;
  /** The hub is still reading messages that were there before it could search: older ones may be missing. */
  partial: boolean;
}

/** At most 128 bytes of UTF-8. */
export type NewPassword = string;

/** `ntf_` and a UUID; of a question of an agent, its `request_id`. */
export type NotificationID = string;

export interface NotificationList {
  items: NotificationPayload[];
  next?: PageToken;
  /** How many of all are unread, on other pages too. */
  unread: number;
}

export interface NotificationPayload {
  created_at: string;
  id: NotificationID;
  /** By type. `mention`: `session_id`, `message_id`, `by_user_id`. `group_invite`: `session_id`, `name`, `by_user_id`. `friend_request`: a FriendRequestPayload. `agent_done`: `task_id`, `session_id`, `agent_id`, `state`, which is how the run ended. `system`: `kind`, and for `login_ended` `device_id` and `reason`. `prompt`: a Prompt as it stood then; its `id` is the request's, so the newest one replaces those before. */
  payload: Record<string, unknown>;
  /** Read stays read. Of type `prompt`: nothing is left to be answered. */
  read: boolean;
  type: "mention" | "friend_request" | "group_invite" | "agent_done" | "system" | "prompt";
}

export interface OmniAbortInput {
  /** Stands in the `abort` that the stream ends with. */
  reason?: string;
}

export interface OmniApprovalInput {
  decision: "allow" | "deny";
  /** The agent is told. */
  reason?: string;
}

export interface OmniCompactReceipt {
  runId: RunID;
}

export interface OmniConversation {
  /** Of the caller here; absent if it is as the profiles say. */
  approvalMode?: unknown;
  lastActiveAt: string;
  /** What was said to them and not taken yet. */
  pendingSteering?: PendingSteer[];
  /** How many of them have not begun. */
  queued?: number;
  /** It is there to be read alone: what would say or start something in it is 409 `read_only`. */
  readOnly?: boolean;
  /** That are not over, the oldest first. */
  runs: RunID[];
  sessionId: SessionID;
  state: "idle" | "running" | "compacting";
  title: string;
}

/** `<epoch>-<place>`: everything up to it has been read. Opaque, but for what is said of the two parts. */
export type OmniCursor = string;

export interface OmniEntry {
  message: OmniMessage;
  /** `<cursor>.<n>`: the n-th message, from 0, of the event at that place, fragments counted. */
  position: string;
}

export interface OmniHistory {
  /** Everything up to it has been read; absent with `before`. Go on with `after`, here or in the stream. */
  cursor?: unknown;
  /** The conversation is kept behind it; absent if it is kept from its beginning. */
  floor?: unknown;
  live?: OmniLive;
  messages: OmniEntry[];
  /** There may be more in the direction in which was read. */
  more: boolean;
}

/** `text` has `text`; `image_url` has `imageUrl`, of the web or a data URL in base64; `file` has `fileName` and `dataUrl`, a data URL in base64. */
export interface OmniInputPart {
  dataUrl?: string;
  fileName?: string;
  imageUrl?: string;
  text?: string;
  type: "text" | "image_url" | "file";
}

export interface OmniLive {
  cursor: OmniCursor;
  /** Of each fragment that is open at the cursor its start, and one delta in place of those that there were. */
  fragments: OmniMessage[];
}

/** One message of S1, byte for byte as the stream has it. `docs/protocols/omni.md` has its types. */
export type OmniMessage = Record<string, unknown>;

export interface OmniRetryReceipt {
  skipped: boolean;
}

export interface OmniSessionChange {
  approvalMode: ApprovalMode;
}

export interface OmniSteerInput {
  text: string;
}

export interface OmniSteerReceipt {
  steerId: SteerID;
}

export interface OmniTaskInput {
  agentId?: AgentID;
  /** Of S1. No agent here works towards one: 409 `unsupported_by_runtime`. */
  goal?: Record<string, unknown>;
  /** At most 20 images and files. */
  input: OmniInputPart[];
  /** Take it although a task is at work: one of the same agent waits for its turn, one of another agent begins beside it. */
  queueIfBusy?: boolean;
  /** 409 `unsupported_by_runtime` for an agent that cannot be told. */
  thinkingLevel?: "none" | "low" | "medium" | "high" | "xhigh" | "max";
}

export interface OmniTaskReceipt {
  messageId: MessageID;
  /** Another task of the conversation was at work. Of the same agent, this one waits for it. */
  queued?: boolean;
  runId: RunID;
  sessionId: SessionID;
}

export interface OwnerInput {
  user_id: UserID;
}

/** Opaque; absent on the last page. */
export type PageToken = string;

export interface PendingSteer {
  id: string;
  text: string;
}

/** What the agent may do without asking. */
export type PermissionMode = string;

export interface Person {
  display_name?: string;
  user_id: UserID;
  username: Username;
}

export interface PinList {
  items: Message[];
}

/** To friends alone. */
export interface PresencePayload {
  online?: boolean;
  user_id: UserID;
  /** Of two that come over one connection, whichever is greater holds. */
  version?: number;
}

export interface PrivateSessionInput {
  member_id: MemberID;
  name?: string;
}

export interface Problem {
  answer?: PromptAnswer;
  code: ProblemCode;
  /** One sentence that says what is wrong and what to do. */
  detail: string;
  epoch?: Epoch;
  /** With `events_expired`: the `after_seq` that reads what is still there. */
  floor?: number;
  status: number;
  title: string;
  traceId: TraceID;
  /** `urn:switchyard:problem:<code>` */
  type: string;
}

/** Append-only. `api/conventions.md` gives each code's meaning, `x-statuses` the status it comes with; read an unknown code by its status. */
export type ProblemCode = "internal" | "invalid_request" | "invalid_json" | "body_too_large" | "unauthenticated" | "invalid_credentials" | "bootstrap_done" | "origin_refused" | "forbidden" | "not_found" | "conflict" | "idempotency_conflict" | "rate_limited" | "too_large" | "invitation_invalid" | "enrolment_invalid" | "edge_revoked" | "edge_refused" | "agent_unknown" | "agent_operate_required" | "empty_prompt" | "run_ended" | "run_active" | "already_answered" | "prompt_cancelled" | "prompt_expired" | "digest_mismatch" | "session_dissolved" | "recall_timeout" | "edit_timeout" | "task_in_progress" | "compacting" | "not_running" | "not_pending" | "nothing_to_compact" | "already_compacted" | "unsupported_by_runtime" | "read_only" | "cursor_invalid" | "cursor_reset" | "cursor_ahead" | "cursor_negative" | "events_expired" | "blob_mismatch" | "busy";

export type ProfileName = string;

/** `payload` is that of the run's `run.prompt.requested`: the same bytes for ever, on every device. */
export interface Prompt {
  agent_id: AgentID;
  answer?: PromptAnswer;
  /** When the hub recorded the question. */
  asked_at: string;
  digest: SHA256;
  edge_id?: EdgeID;
  /** Of the event that asked. */
  event_seq: number;
  /** When it expires by a time limit of its own. Absent when it has none. */
  expires_at?: string;
  kind: PromptKind;
  payload: EventPayload;
  request_id: RequestID;
  session_id: SessionID;
  state: PromptState;
  task_id: RunID;
}

export interface PromptAnswer {
  answered_at: string;
  /** Who decided: a person, the profile's policy, or the bridge itself. */
  by: "person" | "policy" | "bridge";
  continued_by_run_id?: RunID;
  decision: PromptDecision;
  /** When the agent had it and went on. Absent until then, and for ever if it never had it. */
  delivered_at?: string;
  device_id?: DeviceID;
  reason?: string;
  /** Why the edge could not pass it on, such as `too_late`: the process was gone. */
  refused?: string;
  response?: PromptResponse;
  updated_input?: PromptInput;
  user_id?: UserID;
}

export interface PromptAnswerInput {
  decision: PromptDecision;
  digest?: SHA256;
  /** The agent is told it, but for a permission that is allowed; it is recorded in any case. */
  reason?: string;
  response?: PromptResponse;
  updated_input?: PromptInput;
}

/** `allow` and `deny` answer all kinds but `step_decision`, which takes the other three. */
export type PromptDecision = "allow" | "deny" | "continue" | "retry" | "cancel";

/** What the tool is to get instead of what the agent proposed; only with `allow`. */
export type PromptInput = Record<string, unknown>;

/** What is asked: `permission` to use a tool, a `question`, a `plan_review`, a `step_decision`. More kinds may come; show an unknown one by its payload. */
export type PromptKind = string;

export interface PromptList {
  items: Prompt[];
  next?: PageToken;
}

/** What is answered beside the decision: `selected_options` (labels) and `custom_text` to a `question` that is not declined, `updated_steps`, if any, to a `plan_review` that is approved. */
export type PromptResponse = Record<string, unknown>;

/** `expired`: nobody answered in time. `cancelled`: the run is over, nobody waits for an answer. */
export type PromptState = "pending" | "answered" | "expired" | "cancelled";

export type PushChannel = "ntfy" | "webpush";

/** `active` (a device was looked at: `active_device_id`), `muted`, `read`, `not_a_member`, `not_registered`, `gone`, `refused`, `redirected`, `address_forbidden`, `address_unreadable`, `unreachable`, `timeout`, `unavailable`, `not_cleared`. Read an unknown one by the state. */
export type PushCode = string;

export interface PushDelivery {
  active_device_id?: DeviceID;
  active_session_id?: SessionID;
  changed_at: string;
  channel: PushChannel;
  code?: PushCode;
  created_at: string;
  device_id: DeviceID;
  /** The last that the service has answered with. */
  http_status?: number;
  next_try_at?: string;
  /** When the service took it. */
  sent_at?: string;
  state: PushState;
  tries: number;
}

export interface PushDeliveryList {
  items: PushDelivery[];
}

export interface PushInput {
  /** Of a subscription, in base64url. */
  auth?: string;
  channel: PushChannel;
  /** Of a subscription, in base64url. */
  p256dh?: string;
  /** Send names and the beginning of what was said. Without it a push says only what kind of thing waits, because it passes third parties. */
  show_text?: boolean;
  /** Access token of ntfy. */
  token?: string;
  /** Of an ntfy topic, or the endpoint of a browser's subscription. */
  url: string;
}

export interface PushOverview {
  items: PushRegistration[];
  /** The applicationServerKey of subscriptions, in base64url. */
  vapid_public_key: string;
}

export interface PushRegistration {
  channel: PushChannel;
  created_at: string;
  device_id: DeviceID;
  /** Of the address. The rest of it is secret. */
  host: string;
  show_text: boolean;
}

/** `sent`: the service took it; whether the device shows it is not for the hub to know. `suppressed`, `withdrawn` and `failed`: `code` says why. `clearing`, `cleared`: it was sent, or may have been, and was then read elsewhere, so the device is told to take it back. */
export type PushState = "pending" | "sent" | "suppressed" | "withdrawn" | "failed" | "clearing" | "cleared";

export interface PushTest {
  code?: PushCode;
  http_status?: number;
  /** The service took it. */
  sent: boolean;
}

export interface Reaction {
  count: number;
  reaction: string;
  /** Who first, first. */
  user_ids: UserID[];
}

export interface ReactionInput {
  /** An emoji or a short word, on one line; white space around it does not count. */
  reaction: string;
}

export interface ReactionList {
  items: Reaction[];
}

export interface ReadAllInput {
  /** The `created_at` of the newest item that was seen; absent means now. */
  up_to?: string;
}

export interface ReadMark {
  last_change?: ChangeSeq;
  last_read_seq: SeqID;
  last_seq?: SeqID;
  session_id: SessionID;
  unread?: Unread;
  user_id: UserID;
}

export interface ReadMarkInput {
  last_read_seq: SeqID;
}

export interface RefreshInput {
  refresh_token: Secret;
}

export interface RegisterInput {
  device: DeviceInput;
  display_name?: string;
  password: NewPassword;
  token: Secret;
  username: Username;
}

export type RequestID = string;

export interface RunError {
  code: string;
  message: string;
}

export interface RunEvent {
  /** The event's number in its run, from 1 without holes. */
  event_seq: number;
  event_type: EventType;
  id: EventID;
  /** It arrived after the run had ended. */
  late?: boolean;
  /** When it happened, by the edge's clock. */
  occurred_at: string;
  payload: EventPayload;
  payload_checksum: SHA256;
  /** When the hub committed it, by the hub's clock. */
  recorded_at: string;
  run_id: RunID;
  span_id?: SpanID;
  trace_id: TraceID;
  wire_type: EventType;
}

export interface RunEventList {
  items: RunEvent[];
  /** The run's newest event at the time of this answer. */
  last_event_seq: number;
  /** The `after_seq` to go on with; absent when there is no more. */
  next?: number;
}

export type RunID = string;

export interface RunInput {
  agent_id?: AgentID;
  /** Together at most 256 KiB. */
  attachments?: Attachment[];
  prompt?: string;
  trigger_message_id?: MessageID;
}

export interface RunReceipt {
  agent_id: AgentID;
  agent_name: AgentName;
  events_url: EventsURL;
  message_id: MessageID;
  run_id: RunID;
}

export type RunState = "queued" | "waiting_edge" | "dispatched" | "running" | "waiting_person" | "cancelling" | "completed" | "failed" | "cancelled" | "interrupted";

/** The adapter that speaks to the agent program: `bridge`, `events`, … */
export type RuntimeName = string;

export type SHA256 = string;

/** A token. Shown once, never logged, never part of a URL. */
export type Secret = string;

export type SenderType = "user" | "agent";

/** A message's number in its conversation, from 1 without holes. */
export type SeqID = number;

/** What the stream of a conversation tells beside its messages. Types that are not known are passed over. */
export interface ServerEvent {
  /** approval_request: the arguments have more than 64 KiB, or are not here, and are left out: the question has them in its `payload` (listPrompts). */
  cut?: boolean;
  /** approval_request: of the session that asks. */
  origin?: string[];
  /** task_state: what was said to them and not taken yet. */
  pendingSteering?: PendingSteer[];
  /** task_state: how many of them have not begun. */
  queued?: number;
  /** resync_required: `epoch` or `trimmed`. */
  reason?: string;
  requestId?: RequestID;
  /** task_state: runs that have not ended. Of one that is not among them, the end has been told. */
  runs?: RunID[];
  /** task_state: idle, running or compacting. */
  state?: string;
  /** session_title. */
  title?: string;
  /** approval_request: the payload of the `tool_call` that waits, which may come later. */
  toolCall?: Record<string, unknown>;
  /** task_state, approval_request, session_title or resync_required; more may come. */
  type: string;
}

export interface Session {
  announcement: Announcement;
  archived: boolean;
  avatar_url: AvatarURL;
  created_at: string;
  /** Absent while it lives. */
  dissolved_at?: string;
  id: SessionID;
  info_version: InfoVersion;
  last_change?: ChangeSeq;
  last_read_seq: SeqID;
  last_seq: SeqID;
  members: SessionMember[];
  muted: boolean;
  name?: string;
  owner_id: UserID;
  /** My own setting, as are the next two. */
  pinned: boolean;
  /** How far its people have read; who has read nothing is not in it. */
  read_marks?: SessionReadMark[];
  /** It was imported from a trace: nothing can be said or started in it (409 `read_only`). */
  read_only?: boolean;
  settings_version: SettingsVersion;
  type: SessionType;
  unread: Unread;
  updated_at: string;
}

export interface SessionCreatedPayload {
  announcement?: Announcement;
  archived?: boolean;
  avatar_url?: AvatarURL;
  created_at?: string;
  info_version?: InfoVersion;
  /** Whoever joins has read up to this message; absent when nothing was said. */
  last_seq?: number;
  members: SessionMember[];
  muted?: boolean;
  name?: string;
  owner_id: UserID;
  pinned?: boolean;
  /** It was imported from a trace. */
  read_only?: boolean;
  session_id: SessionID;
  settings_version?: SettingsVersion;
  type: SessionType;
}

export interface SessionDissolvedPayload {
  dissolved_at?: string;
  session_id: SessionID;
}

export type SessionID = string;

export interface SessionInfoInput {
  /** Empty for none. */
  announcement?: string;
  /** An `https` address; empty for none. */
  avatar_url?: string;
  name?: string;
}

export interface SessionInfoUpdatedPayload {
  /** Fields to merge. */
  changes: Record<string, unknown>;
  session_id: SessionID;
}

export interface SessionList {
  items: Session[];
  next?: PageToken;
}

export interface SessionMember {
  joined_at: string;
  member_id: MemberID;
  member_type: MemberType;
  name: string;
  role: MemberRole;
}

export interface SessionMemberJoinedPayload {
  joined_at?: string;
  member_id: MemberID;
  member_type: MemberType;
  name?: string;
  role?: MemberRole;
  session_id: SessionID;
}

export interface SessionMemberLeftPayload {
  member_id: MemberID;
  session_id: SessionID;
}

export interface SessionReadMark {
  last_read_seq: SeqID;
  user_id: UserID;
}

export interface SessionSettingsInput {
  archived?: boolean;
  muted?: boolean;
  pinned?: boolean;
}

export type SessionType = "private" | "group";

/** Counts the changes of my settings. Of two versions the higher holds. */
export type SettingsVersion = number;

export type SpanID = string;

export type SteerID = string;

export interface SyncPage {
  cursor: Cursor;
  /** Without `seq_id`. About 256 KiB, or one step that is larger. */
  items: HubWebSocketFrame[];
  message?: string;
  /** There may be more behind `cursor`. */
  more: boolean;
  /** Why a `reset`. */
  reason?: string;
  /** As in `auth.ok`. Not `replayed`: take a REST snapshot, then go on from `cursor`. */
  resume: "replayed" | "reset" | "fresh";
}

export interface TeamAssignmentPayload {
  agent_task_id?: RunID;
  assignment_id: AssignmentID;
  error?: RunError;
  run_id: TeamRunID;
  session_id?: SessionID;
  team_run_id: TeamRunID;
}

export interface TeamEventPayload {
  /** The entity that changed. */
  id: string;
  kind?: EventType;
  payload?: Record<string, unknown>;
  run_id: TeamRunID;
  session_id?: SessionID;
  team_run_id: TeamRunID;
}

export type TeamRunID = string;

/** `run_id` here is the team run, as S3 has it; `team_run_id` is the same value under a name that says so. */
export interface TeamRunStartedPayload {
  run_id: TeamRunID;
  session_id?: SessionID;
  team_run_id: TeamRunID;
}

export interface TeamSubagentStreamPayload {
  agent_instance_id: AgentID;
  agent_task_id: RunID;
  assignment_id?: AssignmentID;
  created_at: string;
  event_seq: number;
  event_type: EventType;
  payload: EventPayload;
  run_id: TeamRunID;
  session_id: SessionID;
  team_run_id: TeamRunID;
}

export interface TextContent {
  /** At most 64 KiB of UTF-8; not blank unless something is attached. */
  text: string;
}

export interface Tokens {
  access_token: string;
  device: Device;
  /** Seconds until the access token expires. */
  expires_in: number;
  refresh_token: Secret;
  token_type: "Bearer";
  user: User;
}

export interface Trace {
  bytes: number;
  /** The position of its first message. */
  from: string;
  lines: number;
  /** Of the file. */
  name: string;
  /** The session that it is a context of, as its `session_meta` says. */
  sessionId: string;
  sha256: SHA256;
  /** The position of its newest one. */
  to: string;
}

export type TraceID = string;

export interface TraceList {
  traces: Trace[];
}

/** From a client `{session_id}`; to the others also who types. */
export interface TypingPayload {
  session_id: SessionID;
  user_id?: UserID;
}

/** Messages behind the read mark that others have sent and not taken back. */
export type Unread = number;

export interface UnreadCount {
  /** Conversations in which there are any. */
  sessions: number;
  unread: Unread;
}

export interface UploadedFile {
  created_at: string;
  filename: string;
  id: AttachmentID;
  mime_type: string;
  sha256: SHA256;
  size: number;
  /** `attachment:` and the id: the `url` of an attachment in a message. */
  url: string;
}

export interface User {
  created_at: string;
  display_name?: string;
  id: UserID;
  username: Username;
}

export type UserID = string;

/** What a person logs in with and is mentioned by. */
export type Username = string;
