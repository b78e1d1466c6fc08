package httpapi

import (
	"bytes"

	"github.com/switchyard-dev/switchyard/hub-server/internal/omnilog"
	fold "github.com/switchyard-dev/switchyard/hub-server/internal/project/omni"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/omni"
)

// serverEvent is what a stream of a conversation tells beside its messages (facts 1.8). It has no id: a client that comes back gets it anew.
type serverEvent struct {
	Type string `json:"type"`
}

// resync is why a client has to read the history again.
type resync string

const (
	lostEpoch   resync = "epoch"   // its cursor is of another life of the store
	lostTrimmed resync = "trimmed" // what comes behind its cursor is not kept any more
)

type resyncEvent struct {
	serverEvent
	Reason resync `json:"reason"`
}

type titleEvent struct {
	serverEvent
	Title string `json:"title"`
}

// taskState is how far the conversation is with its runs.
type taskState string

const (
	taskIdle       taskState = "idle"
	taskRunning    taskState = "running"
	taskCompacting taskState = "compacting"
)

type taskEvent struct {
	serverEvent
	State    taskState    `json:"state"`
	Runs     []id.Run     `json:"runs"`             // that have not ended: of one that is not among them, the end has been told
	Queued   int          `json:"queued,omitempty"` // of them, that have not begun
	Steering []steerWaits `json:"pendingSteering,omitempty"`
}

type steerWaits struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

type approvalEvent struct {
	serverEvent
	ToolCall  toolCallAsked `json:"toolCall"`
	Cut       bool          `json:"cut,omitempty"` // the arguments are not here
	Origin    []string      `json:"origin,omitempty"`
	RequestID id.Request    `json:"requestId"`
}

// toolCallAsked is the payload of a tool_call, which may not have come.
type toolCallAsked struct {
	Type       omni.PayloadType `json:"type"`
	Role       omni.Role        `json:"role"`
	Name       string           `json:"name"`
	Arguments  string           `json:"arguments"`
	ToolCallID string           `json:"tool_call_id"`
}

func taskOf(t omnilog.Task) taskEvent {
	e := taskEvent{serverEvent: serverEvent{"task_state"}, State: taskIdle, Runs: []id.Run{}}
	for _, a := range t.Active {
		e.Runs = append(e.Runs, a.Run)
		if !a.Begun {
			e.Queued++
		}
	}
	switch {
	case t.Compacting:
		e.State = taskCompacting
	case len(e.Runs) > 0:
		e.State = taskRunning
	}
	for _, s := range t.Steering {
		e.Steering = append(e.Steering, steerWaits{string(s.ID), s.Text})
	}
	return e
}

func approvalOf(a fold.Ask) approvalEvent {
	return approvalEvent{
		serverEvent: serverEvent{"approval_request"}, Cut: a.Cut, Origin: a.Origin, RequestID: a.Request,
		ToolCall: toolCallAsked{Type: omni.TypeToolCall, Role: omni.Assistant, Name: a.Tool, Arguments: a.Input, ToolCallID: a.ToolCallID},
	}
}

// snapshot says how the conversation stands.
func (s *omniStream) snapshot(v omnilog.View) {
	s.event(taskOf(v.Task))
	s.told = v.Version
	for _, a := range v.Asks {
		s.event(approvalOf(a))
	}
}

// stands says how the conversation stands where the client is now, if that has changed.
func (s *omniStream) stands() {
	if now, version, here := s.reader.Task(); here && version != s.told {
		s.told = version
		s.event(taskOf(now))
	}
}

// lose says that the client has to read the history again.
func (s *omniStream) lose(why resync) {
	s.event(resyncEvent{serverEvent{"resync_required"}, why})
}

func (s *omniStream) event(v any) {
	line, err := plain(v)
	if err != nil { // texts and numbers always have a form
		s.Log.ErrorContext(s.ctx, "event of a conversation left out", "session", s.session, "error", err)
		return
	}
	s.buf = append(s.buf, "event: server_event\ndata: "...)
	s.buf = append(s.buf, bytes.TrimSpace(line)...)
	s.buf = append(s.buf, "\n\n"...)
}
