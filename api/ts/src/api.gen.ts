// Generated from api/openapi.yaml: change it there, then `make generate`.

import type { CallOptions, Send } from "./send.js";
import type * as t from "./types.gen.js";

/** Every REST operation of a hub. A refusal rejects with a ProblemError. */
export class Api {
  readonly #send: Send;

  constructor(send: Send) {
    this.#send = send;
  }

  /** Add a user or an agent to a group. */
  addMember(input: { session_id: t.SessionID; idempotency_key?: string; body: t.MemberInput }, options?: CallOptions): Promise<t.SessionMember> {
    return this.#send<t.SessionMember>({ method: "POST", path: `/client/sessions/${encodeURIComponent(input.session_id)}/members`, idempotent: true, idempotencyKey: input.idempotency_key, body: input.body, answer: "json" }, options);
  }

  /** Answer what an agent asks. The first answer counts. The same one again, from whichever device, gets what was recorded; another one is 409 `already_answered`, with the recorded answer in the problem's `answer`. 409 `prompt_cancelled`: the run is over and nobody is left to be answered. 409 `prompt_expired`: the time for an answer is over. With `digest` the answer holds for exactly the question that has this digest, else 409 `digest_mismatch`. When the agent's process has ended meanwhile, the answer goes on as a new run of the same agent session once nothing of that run waits any more. */
  answerPrompt(input: { task_id: t.RunID; request_id: t.RequestID; body: t.PromptAnswerInput }, options?: CallOptions): Promise<t.Prompt> {
    return this.#send<t.Prompt>({ method: "POST", path: `/web/agent-tasks/${encodeURIComponent(input.task_id)}/approvals/${encodeURIComponent(input.request_id)}`, body: input.body, answer: "json" }, options);
  }

  /** Make the first user. Takes the token that the hub wrote to `HUB_HOME/bootstrap.token` at its first start. Works once; afterwards people come by invitation. */
  bootstrapUser(input: { body: t.BootstrapInput }, options?: CallOptions): Promise<t.Tokens> {
    return this.#send<t.Tokens>({ method: "POST", path: `/client/auth/bootstrap`, body: input.body, answer: "json" }, options);
  }

  /** Ask for a run to be stopped. Idempotent. A run that was not sent to an edge yet ends at once; another goes to `cancelling` until its edge confirms that the process tree is gone. A run that is already over answers as it is; of one that is `interrupted` the edge, when it is back, ends what it may still work on. With `force` nobody waits for the edge: the run ends now, as `interrupted` with reason `forced` unless all is known to be gone. The edge keeps the order to end the processes, and what it still reports is late. */
  cancelAgentTask(input: { task_id: t.RunID; body?: t.CancelInput }, options?: CallOptions): Promise<t.AgentTask> {
    return this.#send<t.AgentTask>({ method: "POST", path: `/web/agent-tasks/${encodeURIComponent(input.task_id)}/cancel`, body: input.body, answer: "json" }, options);
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

  /** Open a conversation with one user or one agent. */
  createPrivateSession(input: { idempotency_key?: string; body: t.PrivateSessionInput }, options?: CallOptions): Promise<t.Session> {
    return this.#send<t.Session>({ method: "POST", path: `/client/sessions/private`, idempotent: true, idempotencyKey: input.idempotency_key, body: input.body, answer: "json" }, options);
  }

  /** Start a run of one agent in this conversation, and hear where to follow it. With `prompt` the text is first stored as the caller's message; with `trigger_message_id` the run answers a message that is already there. Exactly one of the two. Without `agent_id` the agent is the one that the text names, else the only one in the conversation. The same key with the same request gets the first answer again; with another request 422 `idempotency_conflict`. */
  createRun(input: { session_id: t.SessionID; idempotency_key?: string; body: t.RunInput }, options?: CallOptions): Promise<t.RunReceipt> {
    return this.#send<t.RunReceipt>({ method: "POST", path: `/client/sessions/${encodeURIComponent(input.session_id)}/runs`, idempotent: true, idempotencyKey: input.idempotency_key, body: input.body, answer: "json" }, options);
  }

  /** A run's log, live as server-sent events or in pages. Replays what is committed after the cursor, then goes on live, and ends by itself after the run's outcome. Frames are named: `id` is the event's number, `event` its type, `data` a `CanonicalEvent` on one line. With `Accept: application/json` the answer is one page of the same events instead. A cursor is a number, or `<epoch>.<number>`; of `after_seq` and `Last-Event-ID` the larger counts. Malformed is 400, negative or beyond the newest event 422; below what is kept of an old run it is 410 `events_expired`. A cursor of another epoch is 409 `cursor_reset` in the query; in the header it is a stream with the one event `cursor_reset`. A client that reconnects after everything was sent gets 204, which tells browsers to stop. `docs/protocols/canonical.md` has the rules. */
  followRunEvents(input: { run_id: t.RunID; after_seq?: t.LogCursor; limit?: number; view?: "lean" | "full" }, options?: CallOptions): Promise<t.CanonicalEventList> {
    return this.#send<t.CanonicalEventList>({ method: "GET", path: `/api/agent-runs/${encodeURIComponent(input.run_id)}/events`, query: { after_seq: input.after_seq, limit: input.limit, view: input.view }, answer: "json" }, options);
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

  /** One thing that a run has asked, and what became of it. */
  getPrompt(input: { task_id: t.RunID; request_id: t.RequestID }, options?: CallOptions): Promise<t.Prompt> {
    return this.#send<t.Prompt>({ method: "GET", path: `/web/agent-tasks/${encodeURIComponent(input.task_id)}/approvals/${encodeURIComponent(input.request_id)}`, answer: "json" }, options);
  }

  /** Can the hub do its work. Proven by a write to the store and a round trip over the bus. */
  getReadiness(options?: CallOptions): Promise<t.Health> {
    return this.#send<t.Health>({ method: "GET", path: `/readyz`, answer: "json" }, options);
  }

  /** One conversation. */
  getSession(input: { session_id: t.SessionID }, options?: CallOptions): Promise<t.Session> {
    return this.#send<t.Session>({ method: "GET", path: `/client/sessions/${encodeURIComponent(input.session_id)}`, answer: "json" }, options);
  }

  /** Let a user operate the agents of my edge. */
  grantOperator(input: { edge_id: t.EdgeID; user_id: t.UserID }, options?: CallOptions): Promise<void> {
    return this.#send<void>({ method: "PUT", path: `/client/edges/${encodeURIComponent(input.edge_id)}/operators/${encodeURIComponent(input.user_id)}`, answer: "none" }, options);
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

  /** My devices, newest first. */
  listDevices(options?: CallOptions): Promise<t.DeviceList> {
    return this.#send<t.DeviceList>({ method: "GET", path: `/client/devices`, answer: "json" }, options);
  }

  /** Edges I own or may operate. */
  listEdges(options?: CallOptions): Promise<t.EdgeList> {
    return this.#send<t.EdgeList>({ method: "GET", path: `/client/edges`, answer: "json" }, options);
  }

  /** A page of messages before a point, the newest page first. Items stand in ascending `seq_id`. `next` is the `before_seq` of the page before this one. */
  listMessages(input: { session_id: t.SessionID; before_seq?: number; limit?: number }, options?: CallOptions): Promise<t.MessageList> {
    return this.#send<t.MessageList>({ method: "GET", path: `/client/sessions/${encodeURIComponent(input.session_id)}/messages`, query: { before_seq: input.before_seq, limit: input.limit }, answer: "json" }, options);
  }

  /** Questions of agents that I may answer, the oldest first. */
  listPrompts(input: { state?: t.PromptState; limit?: number; after?: string } = {}, options?: CallOptions): Promise<t.PromptList> {
    return this.#send<t.PromptList>({ method: "GET", path: `/client/prompts`, query: { state: input.state, limit: input.limit, after: input.after }, answer: "json" }, options);
  }

  /** Conversations I am a member of, most recently changed first. */
  listSessions(input: { name?: string; limit?: number; after?: string } = {}, options?: CallOptions): Promise<t.SessionList> {
    return this.#send<t.SessionList>({ method: "GET", path: `/client/sessions`, query: { name: input.name, limit: input.limit, after: input.after }, answer: "json" }, options);
  }

  /** Log in on a new device. Makes a device and a family of refresh tokens. A wrong name and a wrong password give the same answer after the same work. */
  login(input: { body: t.LoginInput }, options?: CallOptions): Promise<t.Tokens> {
    return this.#send<t.Tokens>({ method: "POST", path: `/client/auth/login`, body: input.body, answer: "json" }, options);
  }

  /** End this device's login. Ends the refresh family and closes the device's sockets. Saying it twice is fine. */
  logout(options?: CallOptions): Promise<void> {
    return this.#send<void>({ method: "POST", path: `/client/auth/logout`, answer: "none" }, options);
  }

  /** Move my read mark forward. The mark never moves back; a smaller number answers with where it stands. */
  markRead(input: { session_id: t.SessionID; body: t.ReadMarkInput }, options?: CallOptions): Promise<t.ReadMark> {
    return this.#send<t.ReadMark>({ method: "POST", path: `/client/sessions/${encodeURIComponent(input.session_id)}/read`, body: input.body, answer: "json" }, options);
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

  /** Make a user from an invitation. */
  registerUser(input: { body: t.RegisterInput }, options?: CallOptions): Promise<t.Tokens> {
    return this.#send<t.Tokens>({ method: "POST", path: `/client/auth/register`, body: input.body, answer: "json" }, options);
  }

  /** Remove a member, or leave. The owner removes anybody; everybody removes themselves. Nothing written after the removal reaches the removed one. */
  removeMember(input: { session_id: t.SessionID; member_id: t.MemberID }, options?: CallOptions): Promise<void> {
    return this.#send<void>({ method: "DELETE", path: `/client/sessions/${encodeURIComponent(input.session_id)}/members/${encodeURIComponent(input.member_id)}`, answer: "none" }, options);
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

  /** Send a message, and start the runs that it asks for. Every agent that the message mentions gets a run, as does the only agent of a private conversation without a mention. Without *operate* on a mentioned agent the whole message is refused and not stored. `client_msg_id` is the natural idempotency key: a repeat gets the first answer with `deduplicated: true`. */
  sendMessage(input: { session_id: t.SessionID; body: t.MessageInput }, options?: CallOptions): Promise<t.MessageReceipt> {
    return this.#send<t.MessageReceipt>({ method: "POST", path: `/client/sessions/${encodeURIComponent(input.session_id)}/messages`, body: input.body, answer: "json" }, options);
  }

  /** Messages after a point, oldest first. `after_seq` is a message's `seq_id`, exclusive; never the `seq_id` of a WebSocket frame. `next` is the `after_seq` of the next page. */
  syncMessages(input: { session_id: t.SessionID; after_seq?: number; limit?: number }, options?: CallOptions): Promise<t.MessageList> {
    return this.#send<t.MessageList>({ method: "GET", path: `/client/sessions/${encodeURIComponent(input.session_id)}/messages/sync`, query: { after_seq: input.after_seq, limit: input.limit }, answer: "json" }, options);
  }
}
