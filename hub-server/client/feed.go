package client

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"maps"
	"time"
)

// Update is one thing that a feed tells. One with Err and nothing else says why what has to be fetched cannot be fetched for so long; it is asked
// for again.
type Update struct {
	Event
	New   bool // Frame is a fact that was not told before
	Asked bool // Frame was fetched by REST, in place of a frame of the socket
	Ready bool // nothing else: everything that had to be fetched was told, and what follows is live
	// Truncated says that a snapshot leaves something out: of conversation Session the messages before the newest 100, of which the feed does not
	// know whether they were missed; with Session "" the conversations beyond 4,000. Frame is nil. FeedOptions.Heads and Since avoid the former.
	Truncated bool
	Session   SessionID
	// Cursor is the place behind this update, to be kept together with what is made of it; "" if this is no place to come back to. It may come
	// alone, behind what was fetched for the frame before.
	Cursor string
}

// Beginning says what a feed tells before it goes on live.
type Beginning uint8

// Beginnings.
const (
	// BeginWhole begins with a snapshot, whatever the hub could replay: for applications that remember nothing from their last start.
	BeginWhole Beginning = iota
	// BeginMissed takes a snapshot only if the hub cannot replay what was missed: for applications that keep what they were told.
	BeginMissed
	// BeginLive tells messages and runs from now on, and what the hub replays: for a look at what happens.
	BeginLive
)

// FeedOptions narrow a feed.
type FeedOptions struct {
	Begin   Beginning
	Session SessionID // only this conversation; "" for all
	Since   time.Time // of what was said before, only messages that are younger; zero for all, with BeginLive for none
	// Heads are the newest messages that the application has, by conversation: a snapshot fetches all that came after them, and of other
	// conversations the newest 100, or those since Since. Who begins with BeginMissed gives them, so that a reset leaves no hole.
	Heads map[SessionID]SeqID
	// Changes are how far the application knows what has become of these messages: what Feed.Changes returned when they were kept. Without them a
	// snapshot fetches every message that ever changed.
	Changes map[SessionID]ChangeSeq
	Keep    Limits // how much of the past State keeps
}

// Feed follows everything that a user may see, without holes: it applies the frames of the stream by their business keys, and fetches by
// REST what they lack: the state of a device that the hub could not resume, and the log of a run that was under way. One loop at a time;
// not safe for concurrent use.
type Feed struct {
	client  *Client
	api     ClientInterface
	at      *progress
	options FeedOptions
	reducer *Reducer
	runs    map[RunID]runRef        // seen and not ended
	heads   map[SessionID]SeqID     // newest message told of each conversation
	changes map[SessionID]ChangeSeq // newest change of a message told of each conversation; see changes.go
	before  bool                    // a connection stood before
	resumed bool                    // the hub continued an earlier process of this device, whose application knows what that was told
	joining map[SessionID]bool      // conversations of which not everything was told
	hollow  map[SessionID]bool      // conversations of which nothing was told that was said before: they were left again too soon
	owed    bool                    // a snapshot was begun and is not whole
	began   time.Time               // when the first connection stood
	typists typists
}

// Feed returns a feed of everything that happens. at is where an earlier feed of this device has come to. Nothing is sent yet.
func (c *Client) Feed(at Position, options FeedOptions) *Feed {
	heads, changes := map[SessionID]SeqID{}, map[SessionID]ChangeSeq{}
	maps.Copy(heads, options.Heads)
	maps.Copy(changes, options.Changes)
	reducer := NewReducer()
	reducer.Keep(options.Keep)
	return &Feed{
		client: c, api: c.API(), at: &progress{kept: at}, options: options, reducer: reducer, runs: map[RunID]runRef{}, heads: heads,
		changes: changes, joining: map[SessionID]bool{}, hollow: map[SessionID]bool{},
	}
}

// State is what the feed has told so far, put together.
func (f *Feed) State() *Reducer { return f.reducer }

// Outcome is how a run ended, by what was told so far; "" if it has not.
func (f *Feed) Outcome(task RunID) HubWebSocketFrameType { return f.reducer.Outcome(task) }

// Track makes sure that the end of a run is told, even if none of its frames reaches this device.
func (f *Feed) Track(task RunID, session SessionID) {
	if _, known := f.runs[task]; !known && f.reducer.Outcome(task) == "" {
		f.runs[task] = runRef{Task: task, Session: session}
	}
}

// errLeft says that the caller has left the loop.
var errLeft = errors.New("the caller has left")

// Follow tells updates for as long as the caller iterates. It ends like Stream, with an error that says why going on is no use. Following
// again goes on behind the last update, which counts as applied then.
func (f *Feed) Follow(ctx context.Context) iter.Seq2[Update, error] {
	return f.tellAll(ctx, f.client.stream(ctx, f.at))
}

func (f *Feed) tellAll(ctx context.Context, events iter.Seq2[Event, error]) iter.Seq2[Update, error] {
	return func(yield func(Update, error) bool) {
		tell := func(u Update) error {
			if !yield(u, nil) {
				return errLeft
			}
			return nil
		}
		for e, err := range events {
			if err == nil {
				err = f.take(ctx, e, tell)
			}
			if errors.Is(err, errLeft) {
				return
			}
			if err != nil {
				yield(Update{}, err)
				return
			}
		}
	}
}

func (f *Feed) take(ctx context.Context, e Event, tell func(Update) error) error {
	switch {
	case e.Link == LinkDown:
		return tell(Update{Event: e})
	case e.Link == LinkUp:
		return f.connected(ctx, e, tell)
	case e.Snapshot:
		return f.restored(ctx, e, tell)
	}
	return f.frame(ctx, e, tell)
}

func (f *Feed) frame(ctx context.Context, e Event, tell func(Update) error) error {
	about := refOf(*e.Frame)
	if f.options.Session != "" && about.Session != f.options.Session {
		return nil
	}
	joins := f.joins(*e.Frame, about.Session)
	verdict := f.reducer.Apply(*e.Frame)
	if verdict == Missed {
		if err := f.fill(ctx, about, *e.Frame, tell); err != nil {
			f.at.takeBack()
			return err
		}
		verdict = f.reducer.Apply(*e.Frame)
	}
	f.note(*e.Frame, about)
	if joins {
		return f.join(ctx, e, verdict, about.Session, tell)
	}
	return tell(Update{Event: e, New: verdict == Applied, Cursor: e.Frame.Cursor})
}

// note keeps what a later hole would have to be filled from.
func (f *Feed) note(frame HubWebSocketFrame, about runRef) {
	switch frame.Type {
	case HubWebSocketFrameTypeMessageNew:
		var m Message
		if json.Unmarshal(frame.Payload, &m) == nil {
			f.heads[m.SessionID] = max(f.heads[m.SessionID], m.SeqID)
			f.typists.forget(m.SessionID, m.SenderID, time.Now())
		}
	case HubWebSocketFrameTypeMessageRecall, HubWebSocketFrameTypeMessagePin, HubWebSocketFrameTypeMessageUnpin,
		HubWebSocketFrameTypeMessageReactionAdded, HubWebSocketFrameTypeMessageReactionRemoved:
		f.noteChange(frame)
	case HubWebSocketFrameTypeTyping:
		if p, err := PayloadOf[TypingPayload](frame); err == nil {
			f.typists.hear(p.SessionID, p.UserID, time.Now())
		}
	case HubWebSocketFrameTypeAgentDispatch, HubWebSocketFrameTypeAgentStream:
		if f.reducer.Outcome(about.Task) == "" {
			f.runs[about.Task] = about
		}
	case HubWebSocketFrameTypeAgentDone, HubWebSocketFrameTypeAgentFailed, HubWebSocketFrameTypeAgentCancel:
		delete(f.runs, about.Task)
	}
}

// add tells a frame that was fetched, if it is new.
func (f *Feed) add(typ HubWebSocketFrameType, payload any, tell func(Update) error) error {
	raw, err := json.Marshal(payload)
	if err != nil {
		return err
	}
	frame := HubWebSocketFrame{Type: typ, Payload: raw}
	if f.reducer.Apply(frame) != Applied {
		return nil
	}
	f.note(frame, refOf(frame))
	return tell(Update{Event: Event{Frame: &frame}, New: true, Asked: true})
}
