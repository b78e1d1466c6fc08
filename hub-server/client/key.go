package client

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/switchyard-dev/switchyard/shared/event"
)

// effect says what applying a frame does to the record of its key (S3, the table of Hub frames).
type effect uint8

const (
	ignored  effect = iota // ephemeral, or about this connection alone
	put                    // the record becomes what the frame says
	merge                  // the fields that the frame has win, the record keeps its others
	once                   // it has happened; again changes nothing
	remove                 // the record is gone
	forward                // a number that only grows
	appended               // the next line of a run's log
	whole                  // the records of a kind are those that the payload lists, and no others
)

// rule is how frames of one type are applied.
type rule struct {
	effect effect
	record string   // what the key names; two types that change the same thing share it
	key    []string // payload fields that make the key; for forward and appended the last one is the number, for whole it is the list

	version string   // the payload field with the number of the version; of two, the one with the smaller number is older
	omit    []string // payload fields that are no part of the record
	of      string   // the field that the items of a list go by
}

// Records of messages, and of what is kept beside them.
const (
	message  = "message"
	recall   = "recall"
	pin      = "pin"
	reaction = "reaction"
)

// membership is the record that is also part of another one, of the conversation.
const membership = "member"

// ruleOf returns the rule of a type; false for a type that this client does not know, which is to be ignored.
func ruleOf(t HubWebSocketFrameType) (rule, bool) {
	switch t {
	case HubWebSocketFrameTypeTyping, HubWebSocketFrameTypeDeviceKicked:
		return rule{effect: ignored}, true
	case HubWebSocketFrameTypeAuthOk:
		return rule{effect: whole, record: presence, key: []string{"online"}, of: "user_id"}, true
	case HubWebSocketFrameTypeDeviceOnline, HubWebSocketFrameTypeDeviceOffline:
		return rule{effect: put, record: presence, key: []string{"user_id"}, version: "version"}, true
	case HubWebSocketFrameTypeNotificationNew:
		return rule{effect: put, record: notified, key: []string{"id"}}, true
	case HubWebSocketFrameTypeFriendRequest:
		return rule{effect: put, record: befriending, key: []string{"request_id"}}, true
	case HubWebSocketFrameTypeFriendAccepted:
		return rule{effect: put, record: befriended, key: []string{"request_id"}}, true
	}
	if r, ok := messageRule(t); ok {
		return r, true
	}
	if r, ok := sessionRule(t); ok {
		return r, true
	}
	return agentRule(t)
}

func messageRule(t HubWebSocketFrameType) (rule, bool) {
	switch t {
	case HubWebSocketFrameTypeMessageNew:
		return rule{effect: put, record: message, key: []string{"id"}, version: "revision"}, true
	case HubWebSocketFrameTypeMessageRecall:
		return rule{effect: once, record: recall, key: []string{"message_id"}, omit: []string{"seq_id", "sender_id", "change_seq"}}, true
	case HubWebSocketFrameTypeMessagePin:
		return rule{effect: put, record: pin, key: []string{"session_id", "message_id"}, omit: []string{"change_seq"}}, true
	case HubWebSocketFrameTypeMessageUnpin:
		return rule{effect: remove, record: pin, key: []string{"session_id", "message_id"}}, true
	case HubWebSocketFrameTypeMessageReactionAdded:
		return rule{effect: put, record: reaction, key: []string{"message_id", "user_id", "reaction"}, omit: []string{"action", "count", "change_seq"}}, true
	case HubWebSocketFrameTypeMessageReactionRemoved:
		return rule{effect: remove, record: reaction, key: []string{"message_id", "user_id", "reaction"}}, true
	case HubWebSocketFrameTypeMessageRead:
		return rule{effect: forward, record: "read", key: []string{"session_id", "user_id", "last_read_seq"}}, true
	}
	return rule{}, false
}

func sessionRule(t HubWebSocketFrameType) (rule, bool) {
	switch t {
	case HubWebSocketFrameTypeSessionCreated:
		return rule{effect: merge, record: "session", key: []string{"session_id"}, omit: []string{"last_seq"}}, true
	case HubWebSocketFrameTypeSessionInfoUpdated:
		return rule{effect: merge, record: "session", key: []string{"session_id"}}, true
	case HubWebSocketFrameTypeSessionDissolved:
		return rule{effect: once, record: "session.dissolved", key: []string{"session_id"}}, true
	case HubWebSocketFrameTypeSessionMemberJoined:
		return rule{effect: put, record: membership, key: []string{"session_id", "member_id"}}, true
	case HubWebSocketFrameTypeSessionMemberLeft:
		return rule{effect: remove, record: membership, key: []string{"session_id", "member_id"}}, true
	}
	return rule{}, false
}

func agentRule(t HubWebSocketFrameType) (rule, bool) {
	switch t {
	case HubWebSocketFrameTypeAgentDispatch:
		return rule{effect: put, record: "dispatch", key: []string{"task_id"}}, true
	case HubWebSocketFrameTypeAgentStream:
		return rule{effect: appended, record: "log", key: []string{"task_id", "event_seq"}}, true
	case HubWebSocketFrameTypeAgentDone, HubWebSocketFrameTypeAgentFailed, HubWebSocketFrameTypeAgentCancel:
		return rule{effect: once, record: string(t), key: []string{"task_id"}}, true
	case HubWebSocketFrameTypeAgentControl:
		return rule{effect: put, record: "control", key: []string{"agent_task_id", "kind", "approval_id"}}, true
	case HubWebSocketFrameTypeTeamRunStarted:
		return rule{effect: put, record: "team.run", key: []string{"run_id"}}, true
	case HubWebSocketFrameTypeTeamEvent:
		return rule{effect: put, record: "team.event", key: []string{"run_id", "id"}}, true
	case HubWebSocketFrameTypeTeamAssignmentDone, HubWebSocketFrameTypeTeamAssignmentFailed:
		return rule{effect: once, record: string(t), key: []string{"assignment_id"}}, true
	case HubWebSocketFrameTypeTeamSubagentStream:
		return rule{effect: appended, record: "log", key: []string{"agent_task_id", "event_seq"}}, true
	}
	return rule{}, false
}

// Key names what a frame is about: its type and the payload fields by which it is applied, such as "agent.stream run_9f2c1b7ad0e44c55/3".
// Two frames with one key are the same fact, or two versions of one record. It is "" for frames that are not kept: ephemeral ones,
// those about the connection, unknown ones, and those whose payload lacks the key.
func Key(f HubWebSocketFrame) string {
	r, ok := ruleOf(f.Type)
	switch {
	case !ok || r.effect == ignored, r.effect == whole && r.listed(f.Payload) == nil:
		return ""
	case r.effect == whole:
		return string(f.Type) + " " + r.key[0]
	}
	parts, err := keyFields(f.Payload, r.key)
	if err != nil {
		return ""
	}
	return string(f.Type) + " " + strings.Join(parts, "/")
}

// keyFields reads the named fields of payload, strings and numbers alike. An absent one is "", but the first must be there.
func keyFields(payload json.RawMessage, names []string) ([]string, error) {
	var k keyed
	if err := json.Unmarshal(payload, &k); err != nil {
		return nil, fmt.Errorf("read payload: %w", err)
	}
	parts := make([]string, len(names))
	for i, name := range names {
		raw := k.field(name)
		text, ok := event.Text(raw)
		if !ok {
			text = string(raw) // a number
		}
		parts[i] = text
	}
	if parts[0] == "" {
		return nil, fmt.Errorf("payload has no %s", names[0])
	}
	return parts, nil
}

// keyed holds the fields of which keys are made (see ruleOf), and no others: a device that was away for long applies thousands of frames at
// once, and most of what is in them is not read here.
type keyed struct {
	ID           json.RawMessage `json:"id"`
	RunID        json.RawMessage `json:"run_id"`
	TaskID       json.RawMessage `json:"task_id"`
	AgentTaskID  json.RawMessage `json:"agent_task_id"`
	AssignmentID json.RawMessage `json:"assignment_id"`
	EventSeq     json.RawMessage `json:"event_seq"`
	SessionID    json.RawMessage `json:"session_id"`
	MessageID    json.RawMessage `json:"message_id"`
	MemberID     json.RawMessage `json:"member_id"`
	UserID       json.RawMessage `json:"user_id"`
	LastReadSeq  json.RawMessage `json:"last_read_seq"`
	Reaction     json.RawMessage `json:"reaction"`
	RequestID    json.RawMessage `json:"request_id"`
	ApprovalID   json.RawMessage `json:"approval_id"`
	Kind         json.RawMessage `json:"kind"`
}

func (k *keyed) field(name string) json.RawMessage { //nolint:cyclop // a table
	switch name {
	case "id":
		return k.ID
	case "run_id":
		return k.RunID
	case "task_id":
		return k.TaskID
	case "agent_task_id":
		return k.AgentTaskID
	case "assignment_id":
		return k.AssignmentID
	case "event_seq":
		return k.EventSeq
	case "session_id":
		return k.SessionID
	case "message_id":
		return k.MessageID
	case "member_id":
		return k.MemberID
	case "user_id":
		return k.UserID
	case "last_read_seq":
		return k.LastReadSeq
	case "reaction":
		return k.Reaction
	case "request_id":
		return k.RequestID
	case "approval_id":
		return k.ApprovalID
	case "kind":
		return k.Kind
	}
	return nil
}
