package chat

import (
	"fmt"

	"github.com/switchyard-dev/switchyard/shared/id"
)

// Reading is how far a member has read a conversation. Unread is exact for this state of it: a client that knows the newest message and the newest change
// goes on counting by itself.
type Reading struct {
	LastRead   Seq       // the read mark
	LastSeq    Seq       // of the newest message; 0 when there is none
	LastChange ChangeSeq // of its messages
	Unread     int64     // messages behind the mark that others have sent and that were not recalled
}

// Badge is what a user has not read in all conversations together.
type Badge struct {
	Messages int64
	Sessions int64 // in which there are any
}

// ReadFrame is the payload of message.read. Ids need no escaping.
func ReadFrame(s id.Session, u id.User, r Reading) []byte {
	return fmt.Appendf(nil, `{"session_id":%q,"user_id":%q,"last_read_seq":%d,"last_seq":%d,"last_change":%d,"unread":%d}`,
		s, u, r.LastRead, r.LastSeq, r.LastChange, r.Unread)
}
