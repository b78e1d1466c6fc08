package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"mime"
	"net/http"
	"net/url"
	"time"

	"github.com/switchyard-dev/switchyard/shared/omni"
	"github.com/switchyard-dev/switchyard/shared/supervise"
)

// OmniUpdate is one thing that the stream of a conversation tells: one of its fields, or Cursor beside Message or Link.
type OmniUpdate struct {
	Message  *omni.Message
	Cursor   string        // a place to come back to: all messages up to it have been told, this one among them
	State    *OmniState    // what is at work now
	Approval *OmniApproval // somebody is asked; once on each connection for as long as it waits
	Title    *string       // the conversation's new title
	Link     Link          // a change of the connection; with LinkUp, Cursor is where it begins
	Err      error         // with LinkDown: why
}

// OmniState is what is at work in a conversation. The list of runs was read before the messages that were told until then: of a run that is not in it,
// all has been told.
type OmniState struct {
	State           string      `json:"state"`            // idle, running or compacting
	Runs            []string    `json:"runs"`             // that have not ended
	Queued          int         `json:"queued,omitempty"` // of the runs, that have not begun
	PendingSteering []OmniSteer `json:"pendingSteering,omitempty"`
}

// OmniSteer is what was said to a run whose agent has not taken it.
type OmniSteer struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// OmniApproval is a call of a tool that waits for a person: answer it with Approve.
type OmniApproval struct {
	RequestID string       `json:"requestId"`
	ToolCall  OmniToolCall `json:"toolCall"`
	Cut       bool         `json:"cut,omitempty"`    // the arguments are too many to be told with it: the question has them
	Origin    []string     `json:"origin,omitempty"` // of the sub-agent that wants it
}

// OmniToolCall is the call.
type OmniToolCall struct {
	Name       string `json:"name"`
	Arguments  string `json:"arguments"`
	ToolCallID string `json:"tool_call_id"`
}

// ResyncReason is why a stream cannot go on from a cursor.
type ResyncReason string

// The two reasons.
const (
	ResyncEpoch   ResyncReason = "epoch"   // the hub's store was restored from a backup: places are others now
	ResyncTrimmed ResyncReason = "trimmed" // what follows the cursor is not kept any more
)

// ResyncError ends a stream whose cursor the hub cannot go on from. What was told until then may have a hole behind it: read the conversation anew with
// Messages, show that in place of what you have, and stream from the cursor that its last page has.
type ResyncError struct{ Reason ResyncReason }

func (e *ResyncError) Error() string {
	return fmt.Sprintf("the stream cannot go on from its cursor (%s): read the messages again, and go on from the cursor of the last page", e.Reason)
}

// Stream follows a conversation for as long as the caller iterates: its messages in order, each exactly once over any number of connections, and what is
// said beside them. after is a cursor that an update or a page had, "0" for all that is kept, or "" for what is said from now on. It connects again by
// itself, and goes on behind what it has told. It ends with an error when going on is no use: a *ResyncError, a *ProblemError (not_found: it is not
// your conversation), ErrLoggedOut, or the end of ctx. Runs are not touched by it: Abort stops them.
func (s *OmniSession) Stream(ctx context.Context, after string) iter.Seq2[OmniUpdate, error] {
	return func(yield func(OmniUpdate, error) bool) {
		l := &omniLink{session: s, after: after, yield: yield}
		for backoff := firstBackoff; ; backoff = min(backoff*2, lastBackoff) {
			err := l.once(ctx)
			if l.stopped {
				return
			}
			if ctx.Err() != nil {
				err = ctx.Err()
			}
			if endsOmni(ctx, err) {
				yield(OmniUpdate{}, err)
				return
			}
			if l.fruitful || !l.up.IsZero() && time.Since(l.up) >= lastBackoff {
				backoff = firstBackoff
			}
			if !l.emit(OmniUpdate{Link: LinkDown, Err: err}) {
				return
			}
			if errors.Is(err, errSlept) {
				continue
			}
			if err := pause(ctx, max(jitter(backoff), later(askedPause(err)))); err != nil {
				yield(OmniUpdate{}, err)
				return
			}
		}
	}
}

// endsOmni says whether connecting again is no use.
func endsOmni(ctx context.Context, err error) bool {
	var resync *ResyncError
	var problem *ProblemError
	switch {
	case ctx.Err() != nil, errors.As(err, &resync), errors.Is(err, ErrLoggedOut), errors.Is(err, ErrKicked):
		return true
	case !errors.As(err, &problem) || problem.Code == ProblemUnexpected:
		return false
	}
	switch problem.Status {
	case http.StatusUnauthorized, http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return false
	}
	return problem.Status < http.StatusInternalServerError
}

// omniLink is one connection after another to a stream. It is used by one goroutine.
type omniLink struct {
	session *OmniSession
	after   string // all up to here has been told
	yield   func(OmniUpdate, error) bool
	stopped bool // the caller has left the loop

	up       time.Time      // of the present connection; zero until its first block
	fruitful bool           // it has brought messages
	held     []omni.Message // of the event that is not whole yet
}

func (l *omniLink) emit(u OmniUpdate) bool {
	l.stopped = !l.yield(u, nil)
	return !l.stopped
}

// once connects and tells what comes until the connection ends; the error says why.
func (l *omniLink) once(ctx context.Context) error {
	l.up, l.fruitful, l.held = time.Time{}, false, nil
	awake, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silent := time.AfterFunc(silence, func() { cancel(errSilent) })
	defer silent.Stop()
	resp, err := l.connect(awake)
	if err != nil {
		if cause := context.Cause(awake); cause != nil && ctx.Err() == nil {
			return fmt.Errorf("connection given up: %w", cause)
		}
		return err
	}
	defer resp.Body.Close()
	blocks, parts := newAhead[sseBlock](), supervise.NewGroup(awake)
	parts.Go(func(ctx context.Context) error {
		if noticeSleep(ctx, l.session.client.now) {
			cancel(errSlept)
		}
		return nil
	})
	read := newSSEReader(resp.Body, func() { silent.Reset(silence) })
	parts.Go(func(ctx context.Context) error {
		blocks.fill(ctx, func(ctx context.Context) (sseBlock, int, error) {
			silent.Reset(silence)
			b, size, err := read.next()
			silent.Stop() // while nobody reads, nobody listens
			if cause := context.Cause(ctx); err != nil && cause != nil {
				err = fmt.Errorf("connection given up: %w", cause)
			}
			return b, size, err
		})
		return nil
	})
	err = l.follow(ctx, blocks)
	cancel(nil)
	return errors.Join(err, parts.Wait())
}

func (l *omniLink) connect(ctx context.Context) (*http.Response, error) {
	path := "/stream"
	if l.after != "" {
		path += "?after=" + url.QueryEscape(l.after)
	}
	resp, err := l.session.send(ctx, http.MethodGet, path, http.Header{"Accept": {"text/event-stream"}}, nil)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", unreachable(err))
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")) //nolint:errcheck // then it is none of ours
	if resp.StatusCode == http.StatusOK && kind == "text/event-stream" {
		return resp, nil
	}
	if resp.StatusCode == http.StatusOK {
		resp.Body.Close()
		return nil, fmt.Errorf("connect: %w", &ProblemError{Problem: Problem{Code: ProblemUnexpected, Status: resp.StatusCode, Detail: unexpected(resp)}})
	}
	_, err = Decode[Nothing](resp, nil)
	return nil, fmt.Errorf("connect: %w", err)
}

func (l *omniLink) follow(ctx context.Context, blocks *ahead[sseBlock]) error {
	for {
		got, err := blocks.next(ctx)
		if err != nil {
			return err
		}
		if err := l.take(ctx, got.frame); err != nil || l.stopped {
			return err
		}
	}
}

// take tells what a block says. Messages are held until their event is whole, which an id says: what a connection leaves of one comes again.
func (l *omniLink) take(ctx context.Context, b sseBlock) error {
	if l.up.IsZero() {
		l.up = time.Now()
		l.session.client.tokens.settle(ctx)
		if b.hasID && !b.said {
			l.after = b.id
		}
		if !l.emit(OmniUpdate{Link: LinkUp, Cursor: l.after}) {
			return nil
		}
	}
	switch {
	case b.name == "server_event":
		return l.beside(b.data)
	case b.name != "":
		return nil // of a later version
	case b.said:
		m, err := omni.Decode(b.data)
		if err != nil {
			return fmt.Errorf("unreadable message: %w", err)
		}
		l.held = append(l.held, m)
	}
	if b.hasID {
		l.tell(b.id)
	}
	return nil
}

// tell hands on the messages of an event, the last with the cursor behind it. A place that brings none is a cursor all the same.
func (l *omniLink) tell(cursor string) {
	held := l.held
	l.held, l.after = nil, cursor
	l.fruitful = l.fruitful || len(held) > 0
	for i := range held {
		u := OmniUpdate{Message: &held[i]}
		if i == len(held)-1 {
			u.Cursor = cursor
		}
		if !l.emit(u) {
			return
		}
	}
}

// beside tells a server_event.
func (l *omniLink) beside(data []byte) error {
	var said struct {
		Type   string       `json:"type"`
		Title  string       `json:"title"`
		Reason ResyncReason `json:"reason"`
		OmniState
		OmniApproval
	}
	if err := json.Unmarshal(data, &said); err != nil {
		return fmt.Errorf("unreadable server_event: %w", err)
	}
	switch said.Type {
	case "task_state":
		l.emit(OmniUpdate{State: &said.OmniState})
	case "approval_request":
		l.emit(OmniUpdate{Approval: &said.OmniApproval})
	case "session_title":
		l.emit(OmniUpdate{Title: &said.Title})
	case "resync_required":
		return &ResyncError{said.Reason}
	}
	return nil
}
