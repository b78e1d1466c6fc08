// Package live follows everything that a user may see, without holes: it joins the socket's frames with what has to be fetched by REST,
// when the hub could not resume a device or a run was under way before the device came.
package live

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/client"
)

// Update is one thing that happened.
type Update struct {
	client.Event
	New   bool // Frame is a fact that was not told before
	Asked bool // Frame was fetched by REST, in place of a frame of the socket
}

// Options narrow a feed.
type Options struct {
	Session client.SessionID // only this conversation; "" for all
	Since   time.Time        // begin with the messages that are younger; zero for none
}

// Feed follows one hub as one device. Not safe for concurrent use.
type Feed struct {
	client  *client.Client
	api     client.ClientInterface
	at      client.Position
	options Options
	reducer *client.Reducer
	runs    map[client.RunID]run              // seen and not ended
	heads   map[client.SessionID]client.SeqID // newest message told of each conversation
	before  bool                              // a connection stood before
	resumed bool                              // the hub continued an earlier process of this device
	lost    time.Time                         // when the last link broke
}

// run is what the frames of a run have in common.
type run struct {
	Task    client.RunID     `json:"task_id"`
	Agent   client.AgentID   `json:"agent_instance_id"`
	Session client.SessionID `json:"session_id"`
}

// New returns a feed. Nothing is sent yet.
func New(c *client.Client, at client.Position, options Options) *Feed {
	return &Feed{
		client: c, api: c.API(), at: at, options: options, reducer: client.NewReducer(),
		runs: map[client.RunID]run{}, heads: map[client.SessionID]client.SeqID{},
	}
}

// Outcome is how a run ended, by what was told so far; "" if it has not.
func (f *Feed) Outcome(task client.RunID) client.HubWebSocketFrameType {
	return f.reducer.Outcome(task)
}

// Track makes sure that the end of a run is told, even if none of its frames reaches this device.
func (f *Feed) Track(task client.RunID, session client.SessionID) {
	if _, known := f.runs[task]; !known && f.reducer.Outcome(task) == "" {
		f.runs[task] = run{Task: task, Session: session}
	}
}

// errLeft says that the caller has left the loop.
var errLeft = errors.New("the caller has left")

// Follow tells updates for as long as the caller iterates. It ends like client.Stream, with an error that says why going on is no use.
func (f *Feed) Follow(ctx context.Context) iter.Seq2[Update, error] {
	return func(yield func(Update, error) bool) {
		tell := func(u Update) error {
			if !yield(u, nil) {
				return errLeft
			}
			return nil
		}
		for e, err := range f.client.Stream(ctx, f.at) {
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

func (f *Feed) take(ctx context.Context, e client.Event, tell func(Update) error) error {
	switch e.Link {
	case client.LinkDown:
		if f.lost.IsZero() {
			f.lost = time.Now()
		}
		return tell(Update{Event: e})
	case client.LinkUp:
		return f.connected(ctx, e, tell)
	}
	return f.frame(ctx, e, tell)
}

// connected fills the hole that a new connection leaves, if the hub has not continued the one before.
func (f *Feed) connected(ctx context.Context, e client.Event, tell func(Update) error) error {
	if err := tell(Update{Event: e}); err != nil {
		return err
	}
	continued := e.Resume.Resume == client.AuthOKPayloadResumeReplayed
	first, since := !f.before, f.lost
	f.before, f.lost = true, time.Time{}
	if first {
		f.resumed, since = continued, f.options.Since
		if since.IsZero() {
			return nil
		}
	} else if continued {
		return nil
	}
	return f.snapshot(ctx, since, tell)
}

func (f *Feed) frame(ctx context.Context, e client.Event, tell func(Update) error) error {
	about := runOf(*e.Frame)
	if f.options.Session != "" && about.Session != f.options.Session {
		return nil
	}
	verdict := f.reducer.Apply(*e.Frame)
	if verdict == client.Missed {
		if err := f.fill(ctx, about, *e.Frame, tell); err != nil {
			return err
		}
		verdict = f.reducer.Apply(*e.Frame)
	}
	f.note(*e.Frame, about)
	return tell(Update{Event: e, New: verdict == client.Applied})
}

// note keeps what a later hole would have to be filled from.
func (f *Feed) note(frame client.HubWebSocketFrame, about run) {
	switch frame.Type {
	case client.HubWebSocketFrameTypeMessageNew:
		var m client.Message
		if json.Unmarshal(frame.Payload, &m) == nil {
			f.heads[m.SessionID] = max(f.heads[m.SessionID], m.SeqID)
		}
	case client.HubWebSocketFrameTypeAgentDispatch, client.HubWebSocketFrameTypeAgentStream:
		if f.reducer.Outcome(about.Task) == "" {
			f.runs[about.Task] = about
		}
	case client.HubWebSocketFrameTypeAgentDone, client.HubWebSocketFrameTypeAgentFailed, client.HubWebSocketFrameTypeAgentCancel:
		delete(f.runs, about.Task)
	}
}

// runOf reads what a frame is about; fields that it lacks are empty.
func runOf(frame client.HubWebSocketFrame) run {
	var about run
	if json.Unmarshal(frame.Payload, &about) != nil {
		return run{}
	}
	return about
}

// add tells a frame that was fetched, if it is new.
func (f *Feed) add(typ client.HubWebSocketFrameType, payload any, tell func(Update) error) error {
	raw, err := json.Marshal(payload)
	if err != nil {
		return err
	}
	frame := client.HubWebSocketFrame{Type: typ, Payload: raw}
	if f.reducer.Apply(frame) != client.Applied {
		return nil
	}
	f.note(frame, runOf(frame))
	return tell(Update{Event: client.Event{Frame: &frame}, New: true, Asked: true})
}
