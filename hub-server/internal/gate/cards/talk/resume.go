package talk

import (
	"fmt"
	"time"

	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// resume goes on where the client was (S0 §2.4). A connection without a conversation gets that of the trace.
func (t *Talk) resume(now time.Time, f card.SessionResume) Act {
	switch {
	case t.phase == waiting && t.lost:
		t.NotResumed(now, f, card.SessionNotFound)
		return nil
	case t.phase == waiting:
		return Find{Resume: f}
	case f.TraceID != string(t.at.Trace):
		t.NotResumed(now, f, card.UnknownTrace)
		return nil
	}
	return Look{Session: t.at.Session, Resume: f}
}

// Found says that the trace of a connection that has no conversation yet is one of the person's.
func (t *Talk) Found(now time.Time, h Heard, session id.Session) Act {
	t.then = h
	return Enter{Named: string(session)}
}

// NotResumed says why the client has to begin anew (R6).
func (t *Talk) NotResumed(now time.Time, f card.SessionResume, why card.ResumeReason) {
	t.tell(now, card.ResumeFailed, card.ResumeFailedInner{TraceID: shorten(f.TraceID), Reason: why})
}

// Resumed goes on behind what the client has, given where the trace begins and ends now: everything in between comes in the bytes in which it was
// first sent, and what is live behind it (R30). A client that has nothing lacks nothing: it begins with the first event that is still kept.
func (t *Talk) Resumed(now time.Time, h Heard, f card.SessionResume, floor, head card.Seq) {
	last := card.Seq(f.LastSeq) //nolint:gosec // not negative
	switch {
	case last == 0:
		last = floor
	case last > head:
		t.refuse(now, h, fmt.Sprintf("last_seq is beyond the newest event of the trace, %d.", head))
		return
	case last < floor:
		t.NotResumed(now, f, card.EventsExpired)
		return
	}
	known := map[string]card.Seq{}
	for id, seq := range f.MessageCursors {
		if card.Seq(seq) > head { //nolint:gosec // not negative
			t.refuse(now, h, "A cursor of message_cursors is beyond the newest event of the trace.")
			return
		}
		known[id] = card.Seq(seq) //nolint:gosec // not negative
	}
	t.tell(now, card.Resumed, card.ResumedInner{TraceID: f.TraceID, FromSeq: last + 1, ToSeq: head})
	t.place.begin(last)
	t.place.known, t.place.until = known, head
}
