// Generated from shared/card and api/openapi.yaml: change it there, then `make generate`.

/** The version of the protocol that session.event(opened) says. */
export const CARD_PROTOCOL = "2.0";

/** The type of the bare frame that answers a ping. */
export const CARD_PONG = "pong";

/** What a client does with an event (S0 §4). */
export const CARD_TYPES = ["card.add", "card.set", "card.append", "card.tick", "card.close", "prompt.user", "prompt.reply", "session.event"] as const;
export type CardType = (typeof CARD_TYPES)[number];

/** What a card stands for (S0 §5). */
export const CARD_KINDS = ["turn", "message", "tool", "agent", "plan", "step", "artifact", "thinking", "memory_op", "budget", "todo", "team", "system"] as const;
export type CardKind = (typeof CARD_KINDS)[number];

/** How a card ended (S0 §6.5). */
export const CARD_STATUSES = ["ok", "failed", "skipped", "cancelled"] as const;
export type CardStatus = (typeof CARD_STATUSES)[number];

/** What an append adds to (S0 §6.3). */
export const CARD_CHANNELS = ["text", "tool_input", "thinking"] as const;
export type CardChannel = (typeof CARD_CHANNELS)[number];

/** What a tick tells (S0 §6.4). */
export const CARD_TICK_KINDS = ["progress", "heartbeat", "intent", "note", "escalation"] as const;
export type CardTickKind = (typeof CARD_TICK_KINDS)[number];

/** Who an agent is to the person (S0 §3.2). */
export const CARD_ROLES = ["persona", "orchestrator", "worker", "system"] as const;
export type CardRole = (typeof CARD_ROLES)[number];

/** How severe an event is. */
export const CARD_SEVERITIES = ["info", "warn", "error"] as const;
export type CardSeverity = (typeof CARD_SEVERITIES)[number];

/** How a card is first shown. */
export const CARD_INITIAL_STATES = ["expanded", "collapsed", "hidden"] as const;
export type CardInitialState = (typeof CARD_INITIAL_STATES)[number];

/** How far a tool card has come. */
export const CARD_PHASES = ["planning", "planning_args", "queued", "permission_wait", "executing"] as const;
export type CardPhase = (typeof CARD_PHASES)[number];

/** What a session.event tells (S0 §8). */
export const CARD_SESSION_KINDS = ["opened", "updated", "error", "resumed", "resume_failed"] as const;
export type CardSessionKind = (typeof CARD_SESSION_KINDS)[number];

/** Why a trace cannot be gone on with. */
export const CARD_RESUME_REASONS = ["events_expired", "unknown_trace", "session_not_found"] as const;
export type CardResumeReason = (typeof CARD_RESUME_REASONS)[number];

/** How a question ended (S0 §7.2). */
export const CARD_REPLY_DECISIONS = ["approved", "denied", "timeout", "cancelled"] as const;
export type CardReplyDecision = (typeof CARD_REPLY_DECISIONS)[number];

/** What kind of failure it is; one that is not known is taken as internal (S0 §12). */
export const CARD_ERROR_TYPES = ["tool_timeout", "orphan_timeout", "rate_limit", "overloaded", "contract_fail", "dependency_fail", "user_aborted", "permission_denied", "max_turns", "context_exceeded", "model_error", "budget_exhausted", "invalid_input", "internal", "unsupported_modality"] as const;
export type CardErrorType = (typeof CARD_ERROR_TYPES)[number];

/** What a part of a message is. */
export const CARD_BLOCK_TYPES = ["text", "image", "file"] as const;
export type CardBlockType = (typeof CARD_BLOCK_TYPES)[number];

/** Where the bytes of a part are. A hub refuses some. */
export const CARD_SOURCE_TYPES = ["path", "url", "base64", "upload"] as const;
export type CardSourceType = (typeof CARD_SOURCE_TYPES)[number];

/** What events carry, by action: of card.add and card.set the payload of the card's kind. */
export interface CardActions {
  "card.add": CardPayloads[CardKind];
  "card.set": CardPayloads[CardKind];
  "card.append": CardAppendPayload;
  "card.tick": CardTickPayload;
  "card.close": CardClosePayload;
  "prompt.user": CardPromptPayload;
  "prompt.reply": CardReplyPayload;
  "session.event": CardSessionPayload;
}

/** The payload of a card, by its kind (S0 §10). */
export interface CardPayloads {
  "turn": CardTurnPayload;
  "message": CardMessagePayload;
  "tool": CardToolPayload;
  "agent": CardAgentPayload;
  "plan": CardPlanPayload;
  "step": CardStepPayload;
  "artifact": CardArtifactPayload;
  "thinking": CardThinkingPayload;
  "memory_op": CardMemoryOpPayload;
  "budget": CardBudgetPayload;
  "todo": CardTodoPayload;
  "team": CardTeamPayload;
  "system": CardSystemPayload;
}

/** What a tick tells, by its kind (S0 §11). */
export interface CardTicks {
  "progress": CardProgressTick;
  "heartbeat": CardHeartbeatTick;
  "intent": CardIntentTick;
  "note": CardNoteTick;
  "escalation": CardEscalationTick;
}

/** What a session.event tells, by its kind (S0 §8). */
export interface CardSessionTells {
  "opened": CardOpenedInner;
  "updated": CardUpdatedInner;
  "error": CardErrorInner;
  "resumed": CardResumedInner;
  "resume_failed": CardResumeFailedInner;
}

/** What is asked, by the kind of the question (S0 §7.1). */
export interface CardPromptInners {
  "permission": CardPermission;
  "question": PromptQuestion;
  "plan_review": PromptPlanReview;
  "step_decision": PromptStepDecision;
}

/** What a client may say on /v1/ws (S0 §9). */
export type CardFrame =
  | ({ type: "session.create" } & CardSessionCreate)
  | ({ type: "user.message" } & CardUserMessage)
  | ({ type: "user.inject" } & CardUserInject)
  | ({ type: "tool.result" } & CardToolResult)
  | ({ type: "prompt.user_response" } & CardPromptResponse)
  | ({ type: "session.interrupt" } & CardSessionInterrupt)
  | ({ type: "session.resume" } & CardSessionResume);

export interface CardAppendPayload {
  channel: CardChannel;
  index?: number;
  chunk?: string;
  partial_json?: string;
}

export interface CardTickPayload {
  kind: CardTickKind;
  inner: unknown;
}

export interface CardClosePayload {
  status: CardStatus;
  error?: CardErrorInfo;
  inner?: unknown;
}

export interface CardPromptPayload {
  request_id: string;
  kind: string;
  inner: unknown;
  timeout_ms?: number;
}

export interface CardReplyPayload {
  request_id: string;
  decision: CardReplyDecision;
  reason?: string;
}

export interface CardSessionPayload {
  kind: CardSessionKind;
  inner?: unknown;
}

export interface CardTurnPayload {
  turn_no?: number;
  channel?: string;
}

export interface CardMessagePayload {
  role?: string;
  model?: string;
  stop_reason?: string;
}

export interface CardToolPayload {
  name?: string;
  target?: string;
  intent?: string;
  input?: unknown;
  output?: string;
  render_hint?: string;
  language?: string;
  file_path?: string;
  artifacts?: CardArtifactRef[];
  await_session_id?: string;
  metadata?: Record<string, unknown>;
  phase?: CardPhase;
  phase_hint?: string;
  phase_bytes?: number;
}

export interface CardAgentPayload {
  name?: string;
  agent_type?: string;
  subagent_type?: string;
  parent_agent_id?: string;
  task_prompt?: string;
  output_summary?: string;
  num_turns?: number;
  denied_tools?: string[];
  loaded_skills?: CardSkill[];
  artifacts?: CardArtifactRef[];
}

export interface CardPlanPayload {
  plan_id?: string;
  goal?: string;
  strategy?: string;
  rationale?: string;
  steps?: CardPlanStep[];
}

export interface CardStepPayload {
  step_id?: string;
  subagent_type?: string;
  status?: string;
  input_summary?: string;
  output_summary?: string;
  attempts?: number;
  deliverables?: string[];
  artifacts?: CardArtifactRef[];
}

export interface CardArtifactPayload {
  artifact_id: string;
  name: string;
  type?: string;
  mime_type?: string;
  size_bytes?: number;
  description?: string;
  role?: string;
  uri?: string;
  version?: number;
  thumbnail?: string;
}

export interface CardThinkingPayload {
  length?: number;
}

export interface CardMemoryOpPayload {
  op: string;
  subject?: string;
  bytes?: number;
}

export interface CardBudgetPayload {
  kind: string;
  spent?: CardAmount;
  limit?: CardAmount;
}

export interface CardTodoPayload {
  subject?: string;
  status?: string;
  owner?: string;
  active_form?: string;
}

export interface CardTeamPayload {
  team_name: string;
  members?: string[];
}

export interface CardSystemPayload {
  topic?: string;
  summary?: string;
  action_hint?: string;
}

export interface CardProgressTick {
  stage?: string;
  progress_pct?: number;
  items_processed?: number;
  items_total?: number;
  unit?: string;
  eta_ms?: number;
}

export interface CardHeartbeatTick {
  stage?: string;
  uptime_ms?: number;
  active_tool_card_id?: string;
}

export interface CardIntentTick {
  intent: string;
}

export interface CardNoteTick {
  text: string;
  severity?: CardSeverity;
}

export interface CardEscalationTick {
  from_mode: string;
  to_mode: string;
  reason?: string;
}

export interface CardOpenedInner {
  protocol_version: string;
  model?: string;
  capabilities: CardCapabilities;
}

export interface CardUpdatedInner {
  title?: string;
  members?: string[];
  model?: string;
}

export interface CardErrorInner {
  error: CardErrorInfo;
}

export interface CardResumedInner {
  trace_id: string;
  from_seq: number;
  to_seq: number;
}

export interface CardResumeFailedInner {
  trace_id?: string;
  reason: CardResumeReason;
}

export interface CardPermission {
  tool_name: string;
  tool_input?: string;
  message?: string;
  is_read_only?: boolean;
  options: CardPermissionOption[];
  permission_key?: string;
}

export interface PromptQuestion {
  question: string;
  options?: PromptChoice[];
  multi?: boolean;
  allow_custom?: boolean;
}

export interface PromptPlanReview {
  plan_id: string;
  goal?: string;
  rationale?: string;
  steps: PromptPlanStep[];
  available_subagents?: string[];
  rejection_reason?: string;
}

export interface PromptStepDecision {
  scope: string;
  step_id?: string;
  step_description?: string;
  reason?: string;
  attempts?: number;
  allow_retry?: boolean;
}

export interface CardSessionCreate {
  session_id?: string;
  agent_id?: string;
  capabilities?: CardCapabilities;
  tools?: CardClientTool[];
}

export interface CardUserMessage {
  text?: string;
  content?: CardBlock[];
  agent_id?: string;
  coordinator_mode?: string;
  plan_confirmation?: string;
}

export interface CardUserInject {
  trace_id: string;
  text: string;
}

export interface CardToolResult {
  tool_use_id: string;
  status: string;
  output?: unknown;
  error?: CardErrorInfo;
  metadata?: Record<string, unknown>;
}

export interface CardPromptResponse {
  request_id: string;
  decision: string;
  payload?: unknown;
}

export interface CardSessionInterrupt {
  trace_id?: string;
}

export interface CardSessionResume {
  trace_id: string;
  last_seq: number;
  message_cursors?: Record<string, number>;
}

export interface CardEnvelope {
  event_id?: string;
  session_id?: string;
  trace_id?: string;
  card_id: string;
  parent_card_id?: string;
  card_kind: CardKind;
  seq?: number;
  timestamp?: string;
  agent_id?: string;
  agent_role?: CardRole;
  agent_run_id?: string;
  severity?: CardSeverity;
}

export interface CardHint {
  title?: string;
  summary?: string;
  icon?: string;
  initial_state?: CardInitialState;
  persona?: string;
  render_hint?: string;
}

export interface CardMetrics {
  duration_ms?: number;
  tokens_in?: number;
  tokens_out?: number;
  cache_read_tokens?: number;
  cache_write_tokens?: number;
  cost_usd?: number;
  model?: string;
  budget_spent?: CardAmount;
  budget_limit?: CardAmount;
}

export interface CardErrorInfo {
  type: CardErrorType;
  code?: string;
  message: string;
  user_message?: string;
  retryable: boolean;
  retry_after_ms?: number;
  recovery?: CardRecovery;
  details?: Record<string, unknown>;
}

export interface CardArtifactRef {
  artifact_id: string;
  name: string;
  type?: string;
  mime_type?: string;
  size_bytes?: number;
  description?: string;
  role?: string;
}

export interface CardSkill {
  name: string;
  version?: string;
  source?: string;
}

export interface CardPlanStep {
  step_id: string;
  subagent_type?: string;
  depends_on?: string[];
  user_facing_title?: string;
  user_facing_summary?: string;
}

export interface CardAmount {
  tokens?: number;
  usd?: number;
  calls?: number;
}

export interface CardCapabilities {
  streaming?: boolean;
  tools?: boolean;
  client_tools?: boolean;
  sub_agents?: boolean;
  tasks?: boolean;
  teams?: boolean;
  plan_review?: boolean;
  artifacts?: boolean;
  recovery?: boolean;
}

export interface CardPermissionOption {
  label: string;
  scope: string;
  allow: boolean;
}

export interface PromptChoice {
  label: string;
  description?: string;
}

export interface PromptPlanStep {
  id: string;
  subagent_type?: string;
  description?: string;
  prompt?: string;
  depends_on?: string[];
}

export interface CardClientTool {
  name: string;
  description?: string;
  input_schema?: unknown;
  timeout_ms?: number;
}

export interface CardBlock {
  type: CardBlockType;
  text?: string;
  source?: CardSource;
}

export interface CardRecovery {
  action: string;
  next_card_id?: string;
}

export interface CardSource {
  type: CardSourceType;
  path?: string;
  url?: string;
  data?: string;
  attachment_id?: string;
  filename?: string;
  media_type?: string;
}

/** The form of what a hub says, by field. What is absent, null or not named here fits. */
export const CARD_SHAPES = {
  CardAppendPayload: { channel: "string", index: "integer", chunk: "string", partial_json: "string" },
  CardTickPayload: { kind: "string", inner: "unknown" },
  CardClosePayload: { status: "string", error: "CardErrorInfo", inner: "unknown" },
  CardPromptPayload: { request_id: "string", kind: "string", inner: "unknown", timeout_ms: "integer" },
  CardReplyPayload: { request_id: "string", decision: "string", reason: "string" },
  CardSessionPayload: { kind: "string", inner: "unknown" },
  CardOpenedInner: { protocol_version: "string", model: "string", capabilities: "CardCapabilities" },
  CardUpdatedInner: { title: "string", members: "string[]", model: "string" },
  CardErrorInner: { error: "CardErrorInfo" },
  CardResumedInner: { trace_id: "string", from_seq: "integer", to_seq: "integer" },
  CardResumeFailedInner: { trace_id: "string", reason: "string" },
  CardEnvelope: { event_id: "string", session_id: "string", trace_id: "string", card_id: "string", parent_card_id: "string", card_kind: "string", seq: "integer", timestamp: "time", agent_id: "string", agent_role: "string", agent_run_id: "string", severity: "string" },
  CardHint: { title: "string", summary: "string", icon: "string", initial_state: "string", persona: "string", render_hint: "string" },
  CardMetrics: { duration_ms: "integer", tokens_in: "integer", tokens_out: "integer", cache_read_tokens: "integer", cache_write_tokens: "integer", cost_usd: "number", model: "string", budget_spent: "CardAmount", budget_limit: "CardAmount" },
  CardErrorInfo: { type: "string", code: "string", message: "string", user_message: "string", retryable: "boolean", retry_after_ms: "integer", recovery: "CardRecovery", details: "map" },
  CardCapabilities: { streaming: "boolean", tools: "boolean", client_tools: "boolean", sub_agents: "boolean", tasks: "boolean", teams: "boolean", plan_review: "boolean", artifacts: "boolean", recovery: "boolean" },
  CardAmount: { tokens: "integer", usd: "number", calls: "integer" },
  CardRecovery: { action: "string", next_card_id: "string" },
} as const;

/** What a client does after a close code of /v1/ws. */
export const AFTER_CARD_CLOSE: Readonly<Record<number, "resume" | "wait" | "login" | "stay_away">> = {
  /** A text message was not UTF-8. It led to nothing; connect again and resume, and do not send it again. */
  1007: "resume",
  /** The person is not in the conversation any more; `session.event` of kind `error` was the last frame. */
  1008: "stay_away",
  /** A message had more than 16 times the 1 MiB of a frame. It led to nothing; connect again and resume, and do not send it again. */
  1009: "resume",
  /** The hub restarts; the reason says `retry_ms=`, how many milliseconds to wait. */
  1012: "resume",
  /** The socket took nothing for 15 s, or the hub cannot serve now; connect again and resume, with patience. */
  1013: "wait",
  /** The login ended; log in again. */
  4401: "login",
  /** Nothing was heard for 60 s, not even a pong; connect again and resume. */
  4408: "resume",
};
