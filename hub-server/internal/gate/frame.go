package gate

// FrameType is the `type` of a frame on /client/ws (S3 hub plane). There are 31 and no others: the same list stands in
// api/openapi.yaml and api/events.md, and a contract test compares the three.
type FrameType string

// The frame types. All but Typing go from the hub to clients only.
const (
	Typing FrameType = "typing" // someone is writing; the one type a client may send, never stored

	AuthOK FrameType = "auth.ok" // the connection stands; also the heartbeat, and where resume reports its outcome

	MessageNew             FrameType = "message.new"              // a message as it is now, new or edited
	MessageRecall          FrameType = "message.recall"           // a message was taken back
	MessagePin             FrameType = "message.pin"              // a message was pinned in its conversation
	MessageUnpin           FrameType = "message.unpin"            // a pin was removed
	MessageReactionAdded   FrameType = "message.reaction_added"   // someone reacted; carries the new count
	MessageReactionRemoved FrameType = "message.reaction_removed" // someone took a reaction back; carries the new count
	MessageRead            FrameType = "message.read"             // someone's read mark moved forward

	SessionCreated      FrameType = "session.created"       // a conversation that the receiver is a member of
	SessionDissolved    FrameType = "session.dissolved"     // a conversation is closed for good
	SessionMemberJoined FrameType = "session.member_joined" // a user or agent became a member
	SessionMemberLeft   FrameType = "session.member_left"   // a user or agent is no longer a member
	SessionInfoUpdated  FrameType = "session.info_updated"  // fields of a conversation to merge

	DeviceOnline  FrameType = "device.online"  // a user's first connection came
	DeviceOffline FrameType = "device.offline" // a user's last connection went
	DeviceKicked  FrameType = "device.kicked"  // this connection is over; the client drops its login and stays away

	AgentDispatch FrameType = "agent.dispatch" // a run was handed to an agent
	AgentStream   FrameType = "agent.stream"   // one event of a run's log
	AgentDone     FrameType = "agent.done"     // a run completed
	AgentFailed   FrameType = "agent.failed"   // a run failed, timed out or was interrupted; the error's code says which
	AgentCancel   FrameType = "agent.cancel"   // a run was cancelled
	AgentControl  FrameType = "agent.control"  // a decision on its way to an edge

	TeamRunStarted       FrameType = "team.run.started"       // a team run began
	TeamEvent            FrameType = "team.event"             // something inside a team run changed
	TeamAssignmentDone   FrameType = "team.assignment.done"   // an assignment of a team run completed
	TeamAssignmentFailed FrameType = "team.assignment.failed" // an assignment of a team run failed
	TeamSubagentStream   FrameType = "team.subagent.stream"   // one event of a run inside a team run

	NotificationNew FrameType = "notification.new" // a notification as it is now; open prompts travel here too

	FriendRequest  FrameType = "friend.request"  // someone asks to be a contact
	FriendAccepted FrameType = "friend.accepted" // a contact request was accepted
)

// AllFrameTypes returns the frame types in the order of the contract; the caller owns the slice.
func AllFrameTypes() []FrameType {
	return []FrameType{
		Typing,
		AuthOK,
		MessageNew, MessageRecall, MessagePin, MessageUnpin, MessageReactionAdded, MessageReactionRemoved, MessageRead,
		SessionCreated, SessionDissolved, SessionMemberJoined, SessionMemberLeft, SessionInfoUpdated,
		DeviceOnline, DeviceOffline, DeviceKicked,
		AgentDispatch, AgentStream, AgentDone, AgentFailed, AgentCancel, AgentControl,
		TeamRunStarted, TeamEvent, TeamAssignmentDone, TeamAssignmentFailed, TeamSubagentStream,
		NotificationNew,
		FriendRequest, FriendAccepted,
	}
}
