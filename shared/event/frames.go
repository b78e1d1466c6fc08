package event

// FrameType is the `type` of a frame on /client/ws (S3).
type FrameType string

// Repeat says what a client does with a frame that it has applied before.
type Repeat string

// What repeating a frame does (S3).
const (
	Upsert     Repeat = "merge"     // merged into the one record of its key; never a second record
	Idempotent Repeat = "same"      // applying it again changes nothing
	Watermark  Repeat = "forward"   // a number that only moves forward; a smaller one is dropped
	Ephemeral  Repeat = "ephemeral" // may be lost or repeated; never kept
)

// FrameRow is one line of the table of Hub frames.
type FrameRow struct {
	Type    FrameType
	Key     string // the business key in payload by which a client applies it
	Repeat  []Repeat
	Meaning string
}

// Frames that end or carry a run.
const (
	FrameAgentStream FrameType = "agent.stream"
	FrameAgentDone   FrameType = "agent.done"
	FrameAgentFailed FrameType = "agent.failed"
	FrameAgentCancel FrameType = "agent.cancel"
)

// Frames returns the 31 frame types of S3, in its order. There are no others.
func Frames() []FrameRow {
	merge, same, forward := []Repeat{Upsert}, []Repeat{Idempotent}, []Repeat{Watermark}
	log := []Repeat{Upsert, Watermark}
	return []FrameRow{
		{"typing", "none", []Repeat{Ephemeral}, "Somebody writes. The only type that a client may send; any other is dropped and counted."},
		{"auth.ok", "the connection", same, "The connection stands. Sent first, and again after silence; carries how it was resumed, and at times which friends are `online`, all of them."},
		{"message.new", "`id` (also `client_msg_id`)", merge, "A message as it is now: new, edited, or recalled. Of two, the greater `revision` stands."},
		{"message.recall", "`message_id`, `session_id`", same, "A message was taken back: what it said, its pin and its reactions are gone, whatever comes later. It is unread no more."},
		{"message.pin", "`session_id`, `message_id`", merge, "A message was pinned."},
		{"message.unpin", "`session_id`, `message_id`", same, "A pin was removed."},
		{"message.reaction_added", "`message_id`, `user_id`, `reaction`", merge, "Somebody reacted; with the new count."},
		{"message.reaction_removed", "`message_id`, `user_id`, `reaction`", same, "A reaction was taken back; with the new count."},
		{"message.read", "`session_id`, `user_id`", forward, "Somebody has read up to `last_read_seq`; with how much was `unread` for them then, counted up to `last_seq` and `last_change`."},
		{"session.created", "`session_id`", merge, "A conversation that you are a member of."},
		{"session.dissolved", "`session_id`", same, "A conversation is closed for good."},
		{"session.member_joined", "`session_id`, `member_id`", merge, "A user or an agent became a member."},
		{"session.member_left", "`session_id`, `member_id`", same, "A user or an agent is no longer a member."},
		{"session.info_updated", "`session_id`", merge, "Fields of a conversation that changed."},
		{"device.online", "`user_id`", merge, "A friend has a connection. Says nothing about which device. Of two over one connection the greater `version` stands."},
		{"device.offline", "`user_id`", merge, "A friend has no connection any more, and had none for a moment."},
		{"device.kicked", "this connection", same, "Another connection took this device's place: forget the login here and stay away."},
		{"agent.dispatch", "`task_id` (also `delivery_id`)", merge, "A run was handed to an agent. An executor starts a task once, however often it hears of it."},
		{FrameAgentStream, "`id`, or `task_id`, `event_seq`", log, "One event of a run's log. What was missed is at `GET /web/agent-tasks/{task_id}/events?after_seq=`."},
		{FrameAgentDone, "`task_id`", same, "The run completed."},
		{FrameAgentFailed, "`task_id`", same, "The run failed, timed out or was cut off; the code says which."},
		{FrameAgentCancel, "`task_id`", same, "The run was cancelled."},
		{"agent.control", "`task_id` and what is asked for", []Repeat{Upsert, Idempotent}, "A decision on its way to an edge. Its effect happens once."},
		{"team.run.started", "`run_id`", merge, "A team run began."},
		{"team.event", "id of the thing that changed", merge, "Something inside a team run changed; if the payload does not hold it, fetch it again."},
		{"team.assignment.done", "`assignment_id` or `task_id`", []Repeat{Upsert, Idempotent}, "An assignment of a team run completed."},
		{"team.assignment.failed", "`assignment_id` or `task_id`", []Repeat{Upsert, Idempotent}, "An assignment of a team run failed."},
		{"team.subagent.stream", "`agent_task_id`, `event_seq`", log, "`agent.stream` for a run inside a team run."},
		{"notification.new", "`id`", merge, "A notification as it is now. Open questions to a person travel here too."},
		{"friend.request", "`request_id`, or both users", merge, "Somebody asks to be a contact."},
		{"friend.accepted", "`request_id`, `user_id`", merge, "A request was accepted; the list of contacts is out of date."},
	}
}
