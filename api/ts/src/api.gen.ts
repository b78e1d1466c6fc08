// Generated from api/openapi.yaml: change it there, then `make generate`.

import type { CallOptions, Send } from "./send.js";
import type * as t from "./types.gen.js";

/** Every REST operation of a hub. A refusal rejects with a ProblemError. */
export class Api {
  readonly #send: Send;

  constructor(send: Send) {
    this.#send = send;
  }

  /** Stop what is at work. All runs of the conversation whose agents the caller may operate, those included that have not begun. It is over when the stream says so. */
  abortOmniTasks(input: { session_id: t.SessionID; body?: t.OmniAbortInput }, options?: CallOptions): Promise<void> {
    return this.#send<void>({ method: "POST", path: `/api/sessions/${encodeURIComponent(input.session_id)}/abort`, body: input.body, answer: "none" }, options);
  }

  /** Make a friend of who has asked me. Both sides get `friend.accepted`. Saying it twice is fine. */
  acceptContact(input: { request_id: t.RequestID }, options?: CallOptions): Promise<t.Contact> {
    return this.#send<t.Contact>({ method: "POST", path: `/client/contacts/requests/${encodeURIComponent(input.request_id)}/accept`, answer: "json" }, options);
  }

  /** Add a user or an agent to a group. */
  addMember(input: { session_id: t.SessionID; idempotency_key?: string; body: t.MemberInput }, options?: CallOptions): Promise<t.SessionMember> {
    return this.#send<t.SessionMember>({ method: "POST", path: `/client/sessions/${encodeURIComponent(input.session_id)}/members`, idempotent: true, idempotencyKey: input.idempotency_key, body: input.body, answer: "json" }, options);
  }

  /** React to a message. A message has at most 1,000 reactions of all people, then 422 `too_large`. The same again changes nothing. */
  addReaction(input: { message_id: t.MessageID; body: t.ReactionInput }, options?: CallOptions): Promise<t.ReactionList> {
    return this.#send<t.ReactionList>({ method: "POST", path: `/client/messages/${encodeURIComponent(input.message_id)}/reactions`, body: input.body, answer: "json" }, options);
  }

  /** Answer what an agent asks. The first answer counts. The same one again, from whichever device, gets what was recorded; another one is 409 `already_answered`, with the recorded answer in the problem's `answer`. 409 `prompt_cancelled`: the run is over and nobody is left to be answered. 409 `prompt_expired`: the time for an answer is over. With `digest` the answer holds for exactly the question that has this digest, else 409 `digest_mismatch`. When the agent's process has ended meanwhile, the answer goes on as a new run of the same agent session once nothing of that run waits any more. */
  answerPrompt(input: { task_id: t.RunID; request_id: t.RequestID; body: t.PromptAnswerInput }, options?: CallOptions): Promise<t.Prompt> {
    return this.#send<t.Prompt>({ method: "POST", path: `/web/agent-tasks/${encodeURIComponent(input.task_id)}/approvals/${encodeURIComponent(input.request_id)}`, body: input.body, answer: "json" }, options);
  }

  /** Be nobody to somebody. Ends what was between us without a word. They can neither find nor ask me, nor open a conversation with me or bring me into one: all of it answers as for a person that does not exist. A conversation that stands already stays; mute or leave it. */
  blockContact(input: { user_id: t.UserID }, options?: CallOptions): Promise<void> {
    return this.#send<void>({ method: "PUT", path: `/client/contacts/${encodeURIComponent(input.user_id)}/block`, answer: "none" }, options);
  }

  /** Make the first user. Takes the token that the hub wrote to `HUB_HOME/bootstrap.token` at its first start. Works once; afterwards people come by invitation. */
  bootstrapUser(input: { body: t.BootstrapInput }, options?: CallOptions): Promise<t.Tokens> {
    return this.#send<t.Tokens>({ method: "POST", path: `/client/auth/bootstrap`, body: input.body, answer: "json" }, options);
  }

  /** Ask for a run to be stopped. Idempotent. A run that was not sent to an edge yet ends at once; another goes to `cancelling` until its edge confirms that the process tree is gone. A run that is already over answers as it is; of one that is `interrupted` the edge, when it is back, ends what it may still work on. With `force` nobody waits for the edge: the run ends now, as `interrupted` with reason `forced` unless all is known to be gone. The edge keeps the order to end the processes, and what it still reports is late. */
  cancelAgentTask(input: { task_id: t.RunID; body?: t.CancelInput }, options?: CallOptions): Promise<t.AgentTask> {
    return this.#send<t.AgentTask>({ method: "POST", path: `/web/agent-tasks/${encodeURIComponent(input.task_id)}/cancel`, body: input.body, answer: "json" }, options);
  }

  /** Have an agent make its context smaller. The one at work, or else the one that has worked last: it gets a run for it. 409 `nothing_to_compact`, `already_compacted`, `compacting`, `task_in_progress` (it has not begun, or is about to end), `unsupported_by_runtime`. */
  compactOmniSession(input: { session_id: t.SessionID }, options?: CallOptions): Promise<t.OmniCompactReceipt> {
    return this.#send<t.OmniCompactReceipt>({ method: "POST", path: `/api/sessions/${encodeURIComponent(input.session_id)}/compact`, answer: "json" }, options);
  }

  /** Name a configuration on my edges as an agent. */
  createAgent(input: { idempotency_key?: string; body: t.AgentInput }, options?: CallOptions): Promise<t.Agent> {
    return this.#send<t.Agent>({ method: "POST", path: `/client/agents`, idempotent: true, idempotencyKey: input.idempotency_key, body: input.body, answer: "json" }, options);
  }

  /** Start a run of one agent. With `prompt` the text is first stored as the caller's message in the conversation; with `trigger_message_id` the run answers a message that is already there. Exactly one of the two. */
  createAgentTask(input: { idempotency_key?: string; body: t.AgentTaskInput }, options?: CallOptions): Promise<t.AgentTask> {
    return this.#send<t.AgentTask>({ method: "POST", path: `/web/agent-tasks`, idempotent: true, idempotencyKey: input.idempotency_key, body: input.body, answer: "json" }, options);
  }

  /** Make a token that enrols one edge. The edge's id is fixed here; the token works once, for 30 minutes. `edge-server enrol --hub URL --token T` redeems it. */
  createEnrolment(input: { idempotency_key?: string; body: t.EnrolmentInput }, options?: CallOptions): Promise<t.Enrolment> {
    return this.#send<t.Enrolment>({ method: "POST", path: `/client/edges/enrolments`, idempotent: true, idempotencyKey: input.idempotency_key, body: input.body, answer: "json" }, options);
  }

  /** Open a conversation with any number of users and agents. */
  createGroupSession(input: { idempotency_key?: string; body: t.GroupSessionInput }, options?: CallOptions): Promise<t.Session> {
    return this.#send<t.Session>({ method: "POST", path: `/client/sessions/group`, idempotent: true, idempotencyKey: input.idempotency_key, body: input.body, answer: "json" }, options);
  }

  /** Invite one person. */
  createInvitation(input: { idempotency_key?: string } = {}, options?: CallOptions): Promise<t.Invitation> {
    return this.#send<t.Invitation>({ method: "POST", path: `/client/invitations`, idempotent: true, idempotencyKey: input.idempotency_key, answer: "json" }, options);
  }

  /** Say something, and begin a task with it. The texts together are the caller's message, images and files its attachments, with their bounds: a data URL has at most 64 KiB, which is about 48 KiB of a file, all together have 256 KiB. Without `agentId` the agent is the one that the text names, else the only one in the conversation. 409 `task_in_progress` or `compacting` while a task is at work, but with `queueIfBusy`. The same key with the same request gets the first answer again. */
  createOmniTask(input: { session_id: t.SessionID; idempotency_key?: string; body: t.OmniTaskInput }, options?: CallOptions): Promise<t.OmniTaskReceipt> {
    return this.#send<t.OmniTaskReceipt>({ method: "POST", path: `/api/sessions/${encodeURIComponent(input.session_id)}/tasks`, idempotent: true, idempotencyKey: input.idempotency_key, body: input.body, answer: "json" }, options);
  }

  /** Open the conversation with one user or one agent. There is one for two members: whoever asks again, on whichever device and under whichever key, gets the one that stands, with the name that it has. */
  createPrivateSession(input: { idempotency_key?: string; body: t.PrivateSessionInput }, options?: CallOptions): Promise<t.Session> {
    return this.#send<t.Session>({ method: "POST", path: `/client/sessions/private`, idempotent: true, idempotencyKey: input.idempotency_key, body: input.body, answer: "json" }, options);
  }

  /** Start a run of one agent in this conversation, and hear where to follow it. With `prompt` the text is first stored as the caller's message; with `trigger_message_id` the run answers a message that is already there. Exactly one of the two. Without `agent_id` the agent is the one that the text names, else the only one in the conversation. The same key with the same request gets the first answer again; with another request 422 `idempotency_conflict`. */
  createRun(input: { session_id: t.SessionID; idempotency_key?: string; body: t.RunInput }, options?: CallOptions): Promise<t.RunReceipt> {
    return this.#send<t.RunReceipt>({ method: "POST", path: `/client/sessions/${encodeURIComponent(input.session_id)}/runs`, idempotent: true, idempotencyKey: input.idempotency_key, body: input.body, answer: "json" }, options);
  }

  /** Allow or deny a call that waits. By the id of the request, or by the name that the call has in the stream. Names are of one session: a sub-agent has calls of the same names, so a name is of a call of the main session, and where it may mean another call the answer is 409 `conflict`. The first answer counts: the same one again is fine, another is 409 `already_answered`, and the problem says who was first. */
  decideOmniApproval(input: { session_id: t.SessionID; tool_call_id: string; body: t.OmniApprovalInput }, options?: CallOptions): Promise<void> {
    return this.#send<void>({ method: "POST", path: `/api/sessions/${encodeURIComponent(input.session_id)}/approvals/${encodeURIComponent(input.tool_call_id)}`, body: input.body, answer: "none" }, options);
  }

  /** Take a request off my list. Who asked is not told, and sees it waiting; asking again changes nothing. */
  declineContact(input: { request_id: t.RequestID }, options?: CallOptions): Promise<void> {
    return this.#send<void>({ method: "POST", path: `/client/contacts/requests/${encodeURIComponent(input.request_id)}/decline`, answer: "none" }, options);
  }

  /** Close a group for good. For the owner. Its members go on reading it, and keep it in their lists; whatever would change it is 410 `session_dissolved`. Runs that are under way are cancelled. Dissolving again changes nothing. */
  dissolveSession(input: { session_id: t.SessionID }, options?: CallOptions): Promise<t.Session> {
    return this.#send<t.Session>({ method: "POST", path: `/client/sessions/${encodeURIComponent(input.session_id)}/dissolve`, answer: "json" }, options);
  }

  /** Say something else in a message of mine. For 15 minutes after it was sent (`HUB_EDIT_WINDOW`), then 400 `edit_timeout`. The message keeps its number, its time and its runs; it gets the next `revision`, and `message.new` tells of it. Nobody is notified, no run is started, nothing becomes unread. The same again changes nothing. A message that was recalled is 409 `conflict`. */
  editMessage(input: { message_id: t.MessageID; body: t.MessageEdit }, options?: CallOptions): Promise<t.Message> {
    return this.#send<t.Message>({ method: "PUT", path: `/client/messages/${encodeURIComponent(input.message_id)}`, body: input.body, answer: "json" }, options);
  }

  /** The person of exactly this login name. There is no other way to look for people. Somebody who has blocked the caller is not there. */
  findPerson(input: { username: t.Username }, options?: CallOptions): Promise<t.Person> {
    return this.#send<t.Person>({ method: "GET", path: `/client/people/${encodeURIComponent(input.username)}`, answer: "json" }, options);
  }

  /** A run's log, live as server-sent events or in pages. Replays what is committed after the cursor, then goes on live, and ends by itself after the run's outcome. Frames are named: `id` is the event's number, `event` its type, `data` a `CanonicalEvent` on one line. With `Accept: application/json` the answer is one page of the same events instead. A cursor is a number, or `<epoch>.<number>`; of `after_seq` and `Last-Event-ID` the larger counts. Malformed is 400, negative or beyond the newest event 422; below what is kept of an old run it is 410 `events_expired`. A cursor of another epoch is 409 `cursor_reset` in the query; in the header it is a stream with the one event `cursor_reset`. A client that reconnects after everything was sent gets 204, which tells browsers to stop. `docs/protocols/canonical.md` has the rules. */
  followRunEvents(input: { run_id: t.RunID; after_seq?: t.LogCursor; limit?: number; view?: "lean" | "full" }, options?: CallOptions): Promise<t.CanonicalEventList> {
    return this.#send<t.CanonicalEventList>({ method: "GET", path: `/api/agent-runs/${encodeURIComponent(input.run_id)}/events`, query: { after_seq: input.after_seq, limit: input.limit, view: input.view }, answer: "json" }, options);
  }

  /** Say in other conversations what a message says. To at most 50 conversations that I may post in, all or none. Each copy is a message of mine with the content and the attachments, which its readers can fetch; `forwarded` says whose words they are and of when, not where they were said. It mentions nobody, answers nothing and starts no run. An edit or a recall of the source does not touch it; it can be recalled by itself, and not be edited. A message that was recalled is 409 `conflict`. `client_msg_id` is the natural idempotency key of each copy: a repeat gets the first answer with `deduplicated: true`. */
  forwardMessage(input: { message_id: t.MessageID; body: t.ForwardInput }, options?: CallOptions): Promise<t.ForwardReceipt> {
    return this.#send<t.ForwardReceipt>({ method: "POST", path: `/client/messages/${encodeURIComponent(input.message_id)}/forward`, body: input.body, answer: "json" }, options);
  }

  /** One agent. */
  getAgent(input: { agent_id: t.AgentID }, options?: CallOptions): Promise<t.Agent> {
    return this.#send<t.Agent>({ method: "GET", path: `/client/agents/${encodeURIComponent(input.agent_id)}`, answer: "json" }, options);
  }

  /** One run. */
  getAgentTask(input: { task_id: t.RunID }, options?: CallOptions): Promise<t.AgentTask> {
    return this.#send<t.AgentTask>({ method: "GET", path: `/web/agent-tasks/${encodeURIComponent(input.task_id)}`, answer: "json" }, options);
  }

  /** What an artifact is. */
  getArtifact(input: { artifact_id: t.ArtifactID }, options?: CallOptions): Promise<t.Artifact> {
    return this.#send<t.Artifact>({ method: "GET", path: `/client/artifacts/${encodeURIComponent(input.artifact_id)}`, answer: "json" }, options);
  }

  /** An artifact's bytes. Always an attachment of unspecific type, so that nothing an agent wrote can run on the hub's origin. */
  getArtifactContent(input: { artifact_id: t.ArtifactID }, options?: CallOptions): Promise<Blob> {
    return this.#send<Blob>({ method: "GET", path: `/client/artifacts/${encodeURIComponent(input.artifact_id)}/content`, answer: "blob" }, options);
  }

  /** What is known of an uploaded file. For its owner, and for whoever may read a message that has it. */
  getAttachment(input: { attachment_id: t.AttachmentID }, options?: CallOptions): Promise<t.UploadedFile> {
    return this.#send<t.UploadedFile>({ method: "GET", path: `/client/attachments/${encodeURIComponent(input.attachment_id)}`, answer: "json" }, options);
  }

  /** The bytes of an uploaded file. Always an attachment of unspecific type, so that nothing in it can run on the hub's origin. `Range` and `If-Range` go on where a download was cut off. */
  getAttachmentContent(input: { attachment_id: t.AttachmentID }, options?: CallOptions): Promise<Blob> {
    return this.#send<Blob>({ method: "GET", path: `/client/attachments/${encodeURIComponent(input.attachment_id)}/content`, answer: "blob" }, options);
  }

  /** One edge. */
  getEdge(input: { edge_id: t.EdgeID }, options?: CallOptions): Promise<t.Edge> {
    return this.#send<t.Edge>({ method: "GET", path: `/client/edges/${encodeURIComponent(input.edge_id)}`, answer: "json" }, options);
  }

  /** Is the process alive. */
  getHealth(options?: CallOptions): Promise<t.Health> {
    return this.#send<t.Health>({ method: "GET", path: `/healthz`, answer: "json" }, options);
  }

  /** Who am I, on which device. */
  getMe(options?: CallOptions): Promise<t.Me> {
    return this.#send<t.Me>({ method: "GET", path: `/client/auth/me`, answer: "json" }, options);
  }

  /** What a conversation is at, and how my permissions are answered there. */
  getOmniSession(input: { session_id: t.SessionID }, options?: CallOptions): Promise<t.OmniConversation> {
    return this.#send<t.OmniConversation>({ method: "GET", path: `/api/sessions/${encodeURIComponent(input.session_id)}`, answer: "json" }, options);
  }

  /** One thing that a run has asked, and what became of it. */
  getPrompt(input: { task_id: t.RunID; request_id: t.RequestID }, options?: CallOptions): Promise<t.Prompt> {
    return this.#send<t.Prompt>({ method: "GET", path: `/web/agent-tasks/${encodeURIComponent(input.task_id)}/approvals/${encodeURIComponent(input.request_id)}`, answer: "json" }, options);
  }

  /** Which of my devices are pushed to, and the key that browsers subscribe with. */
  getPush(options?: CallOptions): Promise<t.PushOverview> {
    return this.#send<t.PushOverview>({ method: "GET", path: `/client/push`, answer: "json" }, options);
  }

  /** Can the hub do its work. Proven by a write to the store and a round trip over the bus. */
  getReadiness(options?: CallOptions): Promise<t.Health> {
    return this.#send<t.Health>({ method: "GET", path: `/readyz`, answer: "json" }, options);
  }

  /** One conversation. */
  getSession(input: { session_id: t.SessionID }, options?: CallOptions): Promise<t.Session> {
    return this.#send<t.Session>({ method: "GET", path: `/client/sessions/${encodeURIComponent(input.session_id)}`, answer: "json" }, options);
  }

  /** How much I have not read. For the badge of an app: the messages that are unread in all conversations together, but for those that I have muted and those that are dissolved. Each conversation in `GET /client/sessions` has its own count. */
  getUnread(options?: CallOptions): Promise<t.UnreadCount> {
    return this.#send<t.UnreadCount>({ method: "GET", path: `/client/unread`, answer: "json" }, options);
  }

  /** Let a user operate the agents of my edge. */
  grantOperator(input: { edge_id: t.EdgeID; user_id: t.UserID }, options?: CallOptions): Promise<void> {
    return this.#send<void>({ method: "PUT", path: `/client/edges/${encodeURIComponent(input.edge_id)}/operators/${encodeURIComponent(input.user_id)}`, answer: "none" }, options);
  }

  /** Make a conversation of a trace. Takes the lines of a trace (S1) that an agent has left elsewhere, all files of one conversation after one another: those of its main session in their order, and those of its sub-agents, to which `subagent` events point. What comes of it is a conversation with the caller as its owner, which can be read on every surface and not be changed (409 `read_only`); its traces are these files, byte for byte. It is called as the first thing that a person says in it begins, until it is renamed. A line that is no message, a fragment, and one with an `origin` is 400 `invalid_request` with its number. At most 32 MiB, 20,000 lines and 4 MiB for one of them; the bytes count among the caller's files. One import of a person is at work at a time, others wait for it. */
  importTrace(input: { idempotency_key?: string; body: Blob }, options?: CallOptions): Promise<t.ImportedTrace> {
    return this.#send<t.ImportedTrace>({ method: "POST", path: `/api/traces`, idempotent: true, idempotencyKey: input.idempotency_key, file: input.body, answer: "json" }, options);
  }

  /** Leave a group. When the owner leaves, the person who has been there longest becomes the owner. Nothing written afterwards reaches who has left. */
  leaveSession(input: { session_id: t.SessionID }, options?: CallOptions): Promise<void> {
    return this.#send<void>({ method: "POST", path: `/client/sessions/${encodeURIComponent(input.session_id)}/leave`, answer: "none" }, options);
  }

  /** What the run produced, in the order it was produced. */
  listAgentTaskArtifacts(input: { task_id: t.RunID }, options?: CallOptions): Promise<t.ArtifactList> {
    return this.#send<t.ArtifactList>({ method: "GET", path: `/web/agent-tasks/${encodeURIComponent(input.task_id)}/artifacts`, answer: "json" }, options);
  }

  /** The run's log after a point. `after_seq` is an `event_seq`, exclusive; never the `seq_id` of a WebSocket frame. A number beyond the newest event is 422 `cursor_ahead`, one below what is kept of an old run 410 `events_expired`. `next` is the `after_seq` of the next page. */
  listAgentTaskEvents(input: { task_id: t.RunID; after_seq?: number; limit?: number }, options?: CallOptions): Promise<t.RunEventList> {
    return this.#send<t.RunEventList>({ method: "GET", path: `/web/agent-tasks/${encodeURIComponent(input.task_id)}/events`, query: { after_seq: input.after_seq, limit: input.limit }, answer: "json" }, options);
  }

  /** What the run has asked people, in the order it was asked. Those that wait, those that are answered, and those that nobody can answer any more. */
  listAgentTaskPrompts(input: { task_id: t.RunID; limit?: number; after?: string }, options?: CallOptions): Promise<t.PromptList> {
    return this.#send<t.PromptList>({ method: "GET", path: `/web/agent-tasks/${encodeURIComponent(input.task_id)}/approvals`, query: { limit: input.limit, after: input.after }, answer: "json" }, options);
  }

  /** Runs in my conversations, newest first. */
  listAgentTasks(input: { session_id?: t.SessionID; agent_id?: t.AgentID; state?: t.RunState; limit?: number; after?: string } = {}, options?: CallOptions): Promise<t.AgentTaskList> {
    return this.#send<t.AgentTaskList>({ method: "GET", path: `/web/agent-tasks`, query: { session_id: input.session_id, agent_id: input.agent_id, state: input.state, limit: input.limit, after: input.after }, answer: "json" }, options);
  }

  /** Agents I own, may operate, or share a conversation with. */
  listAgents(options?: CallOptions): Promise<t.AgentList> {
    return this.#send<t.AgentList>({ method: "GET", path: `/client/agents`, answer: "json" }, options);
  }

  /** My friends, requests and blocks, by name. */
  listContacts(options?: CallOptions): Promise<t.ContactList> {
    return this.#send<t.ContactList>({ method: "GET", path: `/client/contacts`, answer: "json" }, options);
  }

  /** My devices, newest first. */
  listDevices(options?: CallOptions): Promise<t.DeviceList> {
    return this.#send<t.DeviceList>({ method: "GET", path: `/client/devices`, answer: "json" }, options);
  }

  /** Edges I own or may operate. */
  listEdges(options?: CallOptions): Promise<t.EdgeList> {
    return this.#send<t.EdgeList>({ method: "GET", path: `/client/edges`, answer: "json" }, options);
  }

  /** Messages that were changed after a point, as they are now. What was edited, recalled, pinned, unpinned or reacted to, each message once, in the order of its last change: for a device that has the messages and could not resume. `after_change` is the number of the last change that it knows; `next` is the `after_change` of the next page. A message that changes while you page comes again on a later page. A number beyond the newest change is another record's: the page is empty and its `last_change` smaller; begin with 0. */
  listMessageChanges(input: { session_id: t.SessionID; after_change?: number; limit?: number }, options?: CallOptions): Promise<t.MessageChangeList> {
    return this.#send<t.MessageChangeList>({ method: "GET", path: `/client/sessions/${encodeURIComponent(input.session_id)}/messages/changes`, query: { after_change: input.after_change, limit: input.limit }, answer: "json" }, options);
  }

  /** A page of messages before a point, the newest page first. Items stand in ascending `seq_id`. `next` is the `before_seq` of the page before this one. */
  listMessages(input: { session_id: t.SessionID; before_seq?: number; limit?: number }, options?: CallOptions): Promise<t.MessageList> {
    return this.#send<t.MessageList>({ method: "GET", path: `/client/sessions/${encodeURIComponent(input.session_id)}/messages`, query: { before_seq: input.before_seq, limit: input.limit }, answer: "json" }, options);
  }

  /** What I am told, the newest first. Mentions, invitations, friend requests, ended runs and messages of the hub, and the questions of agents that I may answer now, in one list. Each is what `notification.new` says of it. */
  listNotifications(input: { unread?: boolean; limit?: number; after?: string } = {}, options?: CallOptions): Promise<t.NotificationList> {
    return this.#send<t.NotificationList>({ method: "GET", path: `/client/notifications`, query: { unread: input.unread, limit: input.limit, after: input.after }, answer: "json" }, options);
  }

  /** A conversation as OmniMessages, in pages. What was said, without fragments: the stream's messages with the place at which each stands, sub-agents' included. Without `after` and `before` it is the newest page, with what is open right now: a stream that begins at `live.cursor` goes on from there. `after` reads on from a cursor, `before` backward. A page has about `limit` messages (the messages of one event stay together when it reads forward) and ends at about 4 MiB. A cursor that is malformed is 400, one beyond the newest event 422, one of another epoch or of what is not kept any more 409 `cursor_reset`. `docs/protocols/omni.md` has the rules. */
  listOmniMessages(input: { session_id: t.SessionID; after?: string; before?: string; limit?: number }, options?: CallOptions): Promise<t.OmniHistory> {
    return this.#send<t.OmniHistory>({ method: "GET", path: `/api/sessions/${encodeURIComponent(input.session_id)}/messages`, query: { after: input.after, before: input.before, limit: input.limit }, answer: "json" }, options);
  }

  /** The pinned messages of a conversation, the newest pin first. */
  listPins(input: { session_id: t.SessionID }, options?: CallOptions): Promise<t.PinList> {
    return this.#send<t.PinList>({ method: "GET", path: `/client/sessions/${encodeURIComponent(input.session_id)}/pins`, answer: "json" }, options);
  }

  /** Questions of agents that I may answer, the oldest first. */
  listPrompts(input: { state?: t.PromptState; limit?: number; after?: string } = {}, options?: CallOptions): Promise<t.PromptList> {
    return this.#send<t.PromptList>({ method: "GET", path: `/client/prompts`, query: { state: input.state, limit: input.limit, after: input.after }, answer: "json" }, options);
  }

  /** What became of a notification on each of my devices. One line for each device that was registered when there was something to tell; questions of agents have the id of their request. The list is empty for what was pushed to nobody, is older than 30 days, or is not mine. */
  listPushDeliveries(input: { notification_id: string }, options?: CallOptions): Promise<t.PushDeliveryList> {
    return this.#send<t.PushDeliveryList>({ method: "GET", path: `/client/notifications/${encodeURIComponent(input.notification_id)}/deliveries`, answer: "json" }, options);
  }

  /** Who reacted to a message, and how. */
  listReactions(input: { message_id: t.MessageID }, options?: CallOptions): Promise<t.ReactionList> {
    return this.#send<t.ReactionList>({ method: "GET", path: `/client/messages/${encodeURIComponent(input.message_id)}/reactions`, answer: "json" }, options);
  }

  /** Conversations I am a member of, most recently changed first. */
  listSessions(input: { name?: string; limit?: number; after?: string } = {}, options?: CallOptions): Promise<t.SessionList> {
    return this.#send<t.SessionList>({ method: "GET", path: `/client/sessions`, query: { name: input.name, limit: input.limit, after: input.after }, answer: "json" }, options);
  }

  /** What the traces of a conversation have to be. The traces of a conversation are files of its messages: one for each context of the model, for its sub-agents too. Here is what each must be, by its checksum, as the caller may see it (paths are for the owner of the machine). The conversation is read for it, to its end. */
  listTraces(input: { session_id: t.SessionID }, options?: CallOptions): Promise<t.TraceList> {
    return this.#send<t.TraceList>({ method: "GET", path: `/api/sessions/${encodeURIComponent(input.session_id)}/traces`, answer: "json" }, options);
  }

  /** Log in on a new device. Makes a device and a family of refresh tokens. A wrong name and a wrong password give the same answer after the same work. */
  login(input: { body: t.LoginInput }, options?: CallOptions): Promise<t.Tokens> {
    return this.#send<t.Tokens>({ method: "POST", path: `/client/auth/login`, body: input.body, answer: "json" }, options);
  }

  /** End this device's login. Ends the refresh family and closes the device's sockets. Saying it twice is fine. */
  logout(options?: CallOptions): Promise<void> {
    return this.#send<void>({ method: "POST", path: `/client/auth/logout`, answer: "none" }, options);
  }

  /** End all of my logins. Ends the refresh family and the sockets of every device of the caller, on all hubs, this one included. */
  logoutEverywhere(options?: CallOptions): Promise<void> {
    return this.#send<void>({ method: "POST", path: `/client/auth/logout-everywhere`, answer: "none" }, options);
  }

  /** Move my read mark forward. The mark never moves back; a smaller number answers with where it stands. `message.read` tells all members. What I was told of messages up to the mark is read, too. */
  markRead(input: { session_id: t.SessionID; body: t.ReadMarkInput }, options?: CallOptions): Promise<t.ReadMark> {
    return this.#send<t.ReadMark>({ method: "POST", path: `/client/sessions/${encodeURIComponent(input.session_id)}/read`, body: input.body, answer: "json" }, options);
  }

  /** Pin a message in its conversation. Any member may. A conversation has at most 50 pins, then 422 `too_large`. Again answers with the pin that stands. */
  pinMessage(input: { message_id: t.MessageID }, options?: CallOptions): Promise<t.MessagePinPayload> {
    return this.#send<t.MessagePinPayload>({ method: "POST", path: `/client/messages/${encodeURIComponent(input.message_id)}/pin`, answer: "json" }, options);
  }

  /** Say that I look at this device, or that I do not. A device in the foreground says so at least every 60 seconds, and once more when it leaves it; what it said last is forgotten after 60 seconds. While a person looks at one of their devices nothing is pushed to the others. A socket alone is no sign of a person: it may be open in a pocket. */
  putAttention(input: { body: t.AttentionInput }, options?: CallOptions): Promise<void> {
    return this.#send<void>({ method: "PUT", path: `/client/devices/self/attention`, body: input.body, answer: "none" }, options);
  }

  /** Mark everything as read, up to a time. Everything that is not younger than `up_to`. Questions of agents stay unread until they are answered. */
  readAllNotifications(input: { body: t.ReadAllInput }, options?: CallOptions): Promise<void> {
    return this.#send<void>({ method: "POST", path: `/client/notifications/read`, body: input.body, answer: "none" }, options);
  }

  /** Mark one thing as read. All of my devices hear of it as `notification.new` with `read`. A question of an agent is 409 `conflict`; it is read when it is answered. */
  readNotification(input: { notification_id: t.NotificationID }, options?: CallOptions): Promise<void> {
    return this.#send<void>({ method: "POST", path: `/client/notifications/${encodeURIComponent(input.notification_id)}/read`, answer: "none" }, options);
  }

  /** Take a message back. Its sender may for 5 minutes (`HUB_RECALL_WINDOW`), then 400 `recall_timeout`; the owner of a group may with any message at any time, and the owner of a private conversation with their own and an agent's. What it said is erased: nobody gets it any more, whenever they ask or resume. Runs that it started go on, but for those whose edge has not heard of them yet: they are cancelled. Again changes nothing. */
  recallMessage(input: { message_id: t.MessageID }, options?: CallOptions): Promise<t.Message> {
    return this.#send<t.Message>({ method: "POST", path: `/client/messages/${encodeURIComponent(input.message_id)}/recall`, answer: "json" }, options);
  }

  /** Trade a refresh token for a new pair. The old refresh token stays good for 30 s and answers with the same successor, so that a lost answer can be asked for again. Presented later, it ends the whole family, because somebody else has it. */
  refreshTokens(input: { body: t.RefreshInput }, options?: CallOptions): Promise<t.Tokens> {
    return this.#send<t.Tokens>({ method: "POST", path: `/client/auth/refresh`, body: input.body, answer: "json" }, options);
  }

  /** Let the agent answer the same message once more. Starts a new run of the agent, as it is configured now, for the message that triggered this one. It is a turn like any other: the agent remembers the conversation, the earlier answer too. The earlier run must be over (409 `run_active`) and stays as it is. */
  regenerateAgentTask(input: { task_id: t.RunID; idempotency_key?: string }, options?: CallOptions): Promise<t.RunReceipt> {
    return this.#send<t.RunReceipt>({ method: "POST", path: `/web/agent-tasks/${encodeURIComponent(input.task_id)}/regenerate`, idempotent: true, idempotencyKey: input.idempotency_key, answer: "json" }, options);
  }

  /** Register a further device of mine. The new device has a refresh family of its own and outlives the login that made it. A repeat with the same Idempotency-Key names the same device. */
  registerDevice(input: { idempotency_key?: string; body: t.DeviceInput }, options?: CallOptions): Promise<t.Tokens> {
    return this.#send<t.Tokens>({ method: "POST", path: `/client/devices`, idempotent: true, idempotencyKey: input.idempotency_key, body: input.body, answer: "json" }, options);
  }

  /** Have this device pushed to while it is not connected. In place of the device's former registration, if it had one, so a repeat changes nothing. The address is never shown again. It must be on the Internet and reached over https, unless the operator has allowed another (`HUB_OUTGOING_ALLOW`). It ends with the device's login, with `unregisterPush`, and when its service says that it is gone. */
  registerPush(input: { body: t.PushInput }, options?: CallOptions): Promise<t.PushRegistration> {
    return this.#send<t.PushRegistration>({ method: "POST", path: `/client/devices/self/push`, body: input.body, answer: "json" }, options);
  }

  /** Make a user from an invitation. */
  registerUser(input: { body: t.RegisterInput }, options?: CallOptions): Promise<t.Tokens> {
    return this.#send<t.Tokens>({ method: "POST", path: `/client/auth/register`, body: input.body, answer: "json" }, options);
  }

  /** End a friendship, or take a request back. Nobody is told. Without one it does nothing. */
  removeContact(input: { user_id: t.UserID }, options?: CallOptions): Promise<void> {
    return this.#send<void>({ method: "DELETE", path: `/client/contacts/${encodeURIComponent(input.user_id)}`, answer: "none" }, options);
  }

  /** Remove a member, or leave. The owner removes anybody; everybody removes themselves. Nothing written after the removal reaches the removed one. */
  removeMember(input: { session_id: t.SessionID; member_id: t.MemberID }, options?: CallOptions): Promise<void> {
    return this.#send<void>({ method: "DELETE", path: `/client/sessions/${encodeURIComponent(input.session_id)}/members/${encodeURIComponent(input.member_id)}`, answer: "none" }, options);
  }

  /** Take my reaction back. */
  removeReaction(input: { message_id: t.MessageID; reaction: string }, options?: CallOptions): Promise<void> {
    return this.#send<void>({ method: "DELETE", path: `/client/messages/${encodeURIComponent(input.message_id)}/reactions`, query: { reaction: input.reaction }, answer: "none" }, options);
  }

  /** Ask somebody to be a friend. Whoever has asked me is a friend then, at once. Asking again changes nothing. Somebody who has blocked me is 404, as nobody is. Both sides get `friend.request`. */
  requestContact(input: { body: t.ContactInput }, options?: CallOptions): Promise<t.Contact> {
    return this.#send<t.Contact>({ method: "POST", path: `/client/contacts`, body: input.body, answer: "json" }, options);
  }

  /** Do not wait before a request is made again. 409 `not_running`, `unsupported_by_runtime`. */
  retryOmniNow(input: { session_id: t.SessionID }, options?: CallOptions): Promise<t.OmniRetryReceipt> {
    return this.#send<t.OmniRetryReceipt>({ method: "POST", path: `/api/sessions/${encodeURIComponent(input.session_id)}/retry-now`, answer: "json" }, options);
  }

  /** Revoke a device of mine. Ends its refresh family and closes its sockets. */
  revokeDevice(input: { device_id: t.DeviceID }, options?: CallOptions): Promise<void> {
    return this.#send<void>({ method: "DELETE", path: `/client/devices/${encodeURIComponent(input.device_id)}`, answer: "none" }, options);
  }

  /** Revoke an edge of mine. Its credential stops working and its connection is closed. Its runs' logs stay. */
  revokeEdge(input: { edge_id: t.EdgeID }, options?: CallOptions): Promise<void> {
    return this.#send<void>({ method: "DELETE", path: `/client/edges/${encodeURIComponent(input.edge_id)}`, answer: "none" }, options);
  }

  /** Take that right back. */
  revokeOperator(input: { edge_id: t.EdgeID; user_id: t.UserID }, options?: CallOptions): Promise<void> {
    return this.#send<void>({ method: "DELETE", path: `/client/edges/${encodeURIComponent(input.edge_id)}/operators/${encodeURIComponent(input.user_id)}`, answer: "none" }, options);
  }

  /** Find messages by their words. The messages that have all words of `q`, in the conversations that the caller is a member of now, the newest first. What counts is what a message says now: what was taken back, or edited away, is not found. All kinds of content are looked through, and the names of attached files. Upper and lower case and compatibility forms are alike. Words are whole words; in scripts without spaces, such as Chinese, one character suffices. A new message is found about a second after it was sent. */
  searchMessages(input: { q: string; session_id?: t.SessionID; limit?: number; after?: string }, options?: CallOptions): Promise<t.MessagesFound> {
    return this.#send<t.MessagesFound>({ method: "GET", path: `/client/search`, query: { q: input.q, session_id: input.session_id, limit: input.limit, after: input.after }, answer: "json" }, options);
  }

  /** Send a message, and start the runs that it asks for. Whoever is mentioned is so by `@name` in the text or by `mentions`, and must be a member. People who are mentioned are notified. Every agent that the message mentions gets a run, as does the only agent of a private conversation without a mention. Without *operate* on a mentioned agent the whole message is refused and not stored. `client_msg_id` is the natural idempotency key: a repeat gets the first answer with `deduplicated: true`. */
  sendMessage(input: { session_id: t.SessionID; body: t.MessageInput }, options?: CallOptions): Promise<t.MessageReceipt> {
    return this.#send<t.MessageReceipt>({ method: "POST", path: `/client/sessions/${encodeURIComponent(input.session_id)}/messages`, body: input.body, answer: "json" }, options);
  }

  /** Say something to the agent that is at work. Its model hears it before its next request, in the stream as a text that begins with `[user_steering]`; what is not taken by the end of the run was not delivered. An agent that is about to begin at its edge hears it when it has; while the task waits for an edge it is 409 `not_running`, as where no task is at work, and the sentence says which. 409 `unsupported_by_runtime`. */
  steerOmniTask(input: { session_id: t.SessionID; idempotency_key?: string; body: t.OmniSteerInput }, options?: CallOptions): Promise<t.OmniSteerReceipt> {
    return this.#send<t.OmniSteerReceipt>({ method: "POST", path: `/api/sessions/${encodeURIComponent(input.session_id)}/steer`, idempotent: true, idempotencyKey: input.idempotency_key, body: input.body, answer: "json" }, options);
  }

  /** A conversation as OmniMessages, live as server-sent events. Unnamed events are one OmniMessage on one line, fragments included; of the messages of one event of the record only the last has an `id`, a cursor. A client keeps messages back until one with an id has come, and drops what has none when it reconnects: so it has each exactly once. It reconnects with `Last-Event-ID`, or `after`; `0` begins at the beginning of what is kept, nothing begins now. The first id comes without a message. `event: server_event` is a `ServerEvent` on one line, without an id. After what was missed come a `task_state` and the approvals that wait, then it goes on live. `: ping` comes after 20 s of silence. A cursor of another epoch, or of what is not kept any more, is the event `resync_required`, and it goes on from now. */
  streamOmniMessages(input: { session_id: t.SessionID; after?: string }, options?: CallOptions): Promise<void> {
    return this.#send<void>({ method: "GET", path: `/api/sessions/${encodeURIComponent(input.session_id)}/stream`, query: { after: input.after }, answer: "none" }, options);
  }

  /** Everything that changed, without a socket. The frames that `/client/ws` would have sent this user after `cursor`, in the same order: messages and what became of them, members, reads, runs, questions, notifications. Without a `cursor` the answer is `fresh` and names the place to begin at: ask for it first, then take a REST snapshot, then go on from it. Nothing is ever left out silently: a cursor that cannot be continued is a `reset`, which says so. With `more`, ask again at once. */
  syncChanges(input: { cursor?: t.Cursor; limit?: number; wait?: number } = {}, options?: CallOptions): Promise<t.SyncPage> {
    return this.#send<t.SyncPage>({ method: "GET", path: `/client/sync`, query: { cursor: input.cursor, limit: input.limit, wait: input.wait }, answer: "json" }, options);
  }

  /** Messages after a point, oldest first. `after_seq` is a message's `seq_id`, exclusive; never the `seq_id` of a WebSocket frame. `next` is the `after_seq` of the next page. */
  syncMessages(input: { session_id: t.SessionID; after_seq?: number; limit?: number }, options?: CallOptions): Promise<t.MessageList> {
    return this.#send<t.MessageList>({ method: "GET", path: `/client/sessions/${encodeURIComponent(input.session_id)}/messages/sync`, query: { after_seq: input.after_seq, limit: input.limit }, answer: "json" }, options);
  }

  /** Push something to this device now. */
  testPush(options?: CallOptions): Promise<t.PushTest> {
    return this.#send<t.PushTest>({ method: "POST", path: `/client/devices/self/push/test`, answer: "json" }, options);
  }

  /** Make another person the owner of a group. For the owner, who stays a member. Handing over to who owns it already changes nothing. */
  transferSession(input: { session_id: t.SessionID; body: t.OwnerInput }, options?: CallOptions): Promise<t.Session> {
    return this.#send<t.Session>({ method: "POST", path: `/client/sessions/${encodeURIComponent(input.session_id)}/transfer-owner`, body: input.body, answer: "json" }, options);
  }

  /** End a block. Friends we are not again. Without one it does nothing. */
  unblockContact(input: { user_id: t.UserID }, options?: CallOptions): Promise<void> {
    return this.#send<void>({ method: "DELETE", path: `/client/contacts/${encodeURIComponent(input.user_id)}/block`, answer: "none" }, options);
  }

  /** Remove a pin. */
  unpinMessage(input: { message_id: t.MessageID }, options?: CallOptions): Promise<void> {
    return this.#send<void>({ method: "DELETE", path: `/client/messages/${encodeURIComponent(input.message_id)}/pin`, answer: "none" }, options);
  }

  /** Push nothing to this device any more. */
  unregisterPush(options?: CallOptions): Promise<void> {
    return this.#send<void>({ method: "DELETE", path: `/client/devices/self/push`, answer: "none" }, options);
  }

  /** Choose how permissions are answered that my runs ask for. The mode is of the caller in this conversation, and holds for the runs that they ask for, those at work included: it is read again for each call. It needs the right to operate an agent of the conversation. 409 `unsupported_by_runtime` while a run of theirs is on an edge that knows no modes. */
  updateOmniSession(input: { session_id: t.SessionID; body: t.OmniSessionChange }, options?: CallOptions): Promise<t.OmniConversation> {
    return this.#send<t.OmniConversation>({ method: "PATCH", path: `/api/sessions/${encodeURIComponent(input.session_id)}`, body: input.body, answer: "json" }, options);
  }

  /** Change what a group is called, how it looks and what it announces. For the owner. Fields that are not given stay as they are. Everybody hears `session.info_updated`. */
  updateSessionInfo(input: { session_id: t.SessionID; body: t.SessionInfoInput }, options?: CallOptions): Promise<t.Session> {
    return this.#send<t.Session>({ method: "PATCH", path: `/client/sessions/${encodeURIComponent(input.session_id)}/info`, body: input.body, answer: "json" }, options);
  }

  /** Pin, archive or mute a conversation for myself. Only my own devices hear of it, as `session.info_updated`. Fields that are not given stay as they are. A conversation stays archived, whatever is said in it, until I take it out again; who leaves and comes back begins anew. */
  updateSessionSettings(input: { session_id: t.SessionID; body: t.SessionSettingsInput }, options?: CallOptions): Promise<t.Session> {
    return this.#send<t.Session>({ method: "PATCH", path: `/client/sessions/${encodeURIComponent(input.session_id)}/settings`, body: input.body, answer: "json" }, options);
  }

  /** Upload a file to send. The body is the file as it is. A message has it as an attachment whose `url` is the one of the answer. The same file once more is the same attachment, so the request may be repeated; one that no message has had within a day is dropped. Beyond the hub's limit of a file 413 `body_too_large`, beyond what it keeps for one person 422 `too_large`. */
  uploadAttachment(input: { filename: string; mime_type?: string; body: Blob }, options?: CallOptions): Promise<t.UploadedFile> {
    return this.#send<t.UploadedFile>({ method: "POST", path: `/client/attachments`, query: { filename: input.filename, mime_type: input.mime_type }, file: input.body, answer: "json" }, options);
  }

  /** Take back what was said to an agent at work. As long as it has not left for the edge, which it does at once when that is connected; then 409 `not_pending`. Twice is fine. */
  withdrawOmniSteer(input: { session_id: t.SessionID; steer_id: t.SteerID }, options?: CallOptions): Promise<void> {
    return this.#send<void>({ method: "DELETE", path: `/api/sessions/${encodeURIComponent(input.session_id)}/steer/${encodeURIComponent(input.steer_id)}`, answer: "none" }, options);
  }
}
