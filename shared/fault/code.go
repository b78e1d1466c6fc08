package fault

// Code is machine-readable, stable and append-only: a code is never renamed and never changes its meaning.
type Code string

// The codes and what each means to the one who gets it.
const (
	Internal            Code = "internal"             // our fault; retry later
	InvalidRequest      Code = "invalid_request"      // body, query or header does not fit the contract
	InvalidJSON         Code = "invalid_json"         // body is not JSON, or nests too deep
	BodyTooLarge        Code = "body_too_large"       // more bytes than this route takes
	Unauthenticated     Code = "unauthenticated"      // no credential, or one that is expired, revoked or forged
	InvalidCredentials  Code = "invalid_credentials"  // wrong name or password
	BootstrapDone       Code = "bootstrap_done"       // the first user exists, or the token is wrong
	OriginRefused       Code = "origin_refused"       // the browser page is not one this hub trusts
	Forbidden           Code = "forbidden"            // known to you, but not yours to do
	NotFound            Code = "not_found"            // does not exist, or is not yours
	Conflict            Code = "conflict"             // state changed under you, or the name is taken
	IdempotencyConflict Code = "idempotency_conflict" // same key, another request
	RateLimited         Code = "rate_limited"         // too many; see Retry-After
	TooLarge            Code = "too_large"            // a list or value is beyond its limit

	InvitationInvalid Code = "invitation_invalid" // used, expired or never made
	EnrolmentInvalid  Code = "enrolment_invalid"  // used, expired or never made
	EdgeRevoked       Code = "edge_revoked"       // this edge was removed; enrol again
	EdgeRefused       Code = "edge_refused"       // this edge's rows cannot be taken; see its state

	AgentUnknown         Code = "agent_unknown"          // no such agent in this conversation
	AgentOperateRequired Code = "agent_operate_required" // the edge's owner has not let you operate this agent
	EmptyPrompt          Code = "empty_prompt"           // nothing to send
	RunEnded             Code = "run_ended"              // the run is already over
	RunActive            Code = "run_active"             // the run is not over yet
	AlreadyAnswered      Code = "already_answered"       // another answer came first and stands
	PromptExpired        Code = "prompt_expired"         // nobody answered in time
	PromptCancelled      Code = "prompt_cancelled"       // the run is over; nobody waits for an answer
	SessionDissolved     Code = "session_dissolved"      // the conversation is closed
	RecallTimeout        Code = "recall_timeout"         // the message is too old to be taken back by who sent it
	EditTimeout          Code = "edit_timeout"           // the message is too old to be edited

	TaskInProgress       Code = "task_in_progress"       // a task of the conversation is at work
	Compacting           Code = "compacting"             // the context of the agent is being made smaller
	NotRunning           Code = "not_running"            // no task of the conversation is at work
	NotPending           Code = "not_pending"            // it is on its way to the agent and cannot be taken back
	NothingToCompact     Code = "nothing_to_compact"     // the agent remembers nothing of this conversation
	AlreadyCompacted     Code = "already_compacted"      // nothing was said since the context was made smaller
	UnsupportedByRuntime Code = "unsupported_by_runtime" // the agent, or its machine, cannot do that
	ReadOnly             Code = "read_only"              // the conversation is there to be read alone

	CursorInvalid  Code = "cursor_invalid"  // not a cursor of ours
	CursorReset    Code = "cursor_reset"    // cursor of another epoch, or trimmed: take a snapshot
	CursorAhead    Code = "cursor_ahead"    // after_seq beyond the newest event
	CursorNegative Code = "cursor_negative" // after_seq below 0
	EventsExpired  Code = "events_expired"  // after_seq below what is kept of the run's log: the rest is in an archive

	FrameUnreadable  Code = "frame_unreadable"   // an uplink frame that cannot be decoded
	RowUnreadable    Code = "row_unreadable"     // a journal row that is not an event envelope
	RowForeignRun    Code = "row_foreign_run"    // a journal row for a run of another edge
	RowUnknownRun    Code = "row_unknown_run"    // a journal row for a run nobody dispatched
	RowTooLarge      Code = "row_too_large"      // a journal row beyond 256 KiB
	RowNotAppendable Code = "row_not_appendable" // an event type that an edge may not append
	BlobMissing      Code = "blob_missing"       // a row names bytes that were never uploaded
	BlobMismatch     Code = "blob_mismatch"      // uploaded bytes do not hash to their name

	Timeout        Code = "timeout"         // the agent ran beyond its turn limit
	AgentExited    Code = "agent_exited"    // the agent process ended without an outcome
	AgentError     Code = "agent_error"     // the agent reported an error of its own
	StartFailed    Code = "start_failed"    // the agent process could not be started
	StartUnknown   Code = "start_unknown"   // the edge crashed between intent and start
	ProcessLost    Code = "process_lost"    // the edge came back without the process
	EdgeAbsent     Code = "edge_absent"     // the edge stayed away for too long
	Forced         Code = "forced"          // a person ended the run without waiting for its edge
	EdgeStopped    Code = "edge_stopped"    // the edge was shut down while the agent worked
	Interrupted    Code = "interrupted"     // the run was cut off; its reason_code says why
	LeaseStale     Code = "lease_stale"     // a command for an older dispatch of the run
	AuthRequired   Code = "auth_required"   // the model's provider has refused the agent's credentials: no turn begins until they change
	ProfileUnknown Code = "profile_unknown" // the edge has no such profile
	Busy           Code = "busy"            // no room for more now: at the edge, or on the disk of the hub
	TooLate        Code = "too_late"        // the run ended first, or the question was settled first
	DigestMismatch Code = "digest_mismatch" // the answer is to something else than what was asked
	DispatchForged Code = "dispatch_forged" // a dispatch the hub did not sign
	ReceiptForged  Code = "receipt_forged"  // a commit receipt the hub did not sign
	Unsupported    Code = "unsupported"     // this edge does not know the command

	ClientToolFailed Code = "client_tool_failed" // a client could not carry out a call, and gave no code of its own
	UnknownTool      Code = "unknown_tool"       // no client of the conversation offers this tool
	InvalidInput     Code = "invalid_input"      // what a tool is called with, or the call itself, does not fit
	TooManyCalls     Code = "too_many_calls"     // too many calls wait for clients already
	Cancelled        Code = "cancelled"          // it was called off
)
