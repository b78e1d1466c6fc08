package client

import (
	"encoding/json"
	"maps"
)

// The hub numbers what happens to the messages of a conversation after they were sent. Frames that tell of it carry the number and come in its order, so
// whoever has applied one has applied all before it. An edit is told by message.new, which has no number: the one that is known may be too low, never
// too high.

// Changes returns how far the feed has told what became of the messages of each conversation, to be kept with what it told, and given as
// FeedOptions.Changes at the next start.
func (f *Feed) Changes() map[SessionID]ChangeSeq { return maps.Clone(f.changes) }

func (f *Feed) noteChange(frame HubWebSocketFrame) {
	var about struct {
		Session SessionID `json:"session_id"`
		Number  ChangeSeq `json:"change_seq"`
	}
	if json.Unmarshal(frame.Payload, &about) == nil && about.Number > 0 {
		f.changes[about.Session] = max(f.changes[about.Session], about.Number)
	}
}

// doubtChanges forgets the numbers, and what was counted by them, if those that the hub gives are another record's.
func (f *Feed) doubtChanges(hello *AuthOKPayload) {
	if hello != nil && hello.Reason == "other_epoch" {
		clear(f.changes)
		clear(f.reducer.tallies)
	}
}
