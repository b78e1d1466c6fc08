// Package testhub is as much of a hub as the terminal client's tests need, in memory and under their control: frames are published by
// hand, sockets can be cut, a cursor can be refused.
package testhub

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/omni"
)

// Password is what Login takes, for every user.
const Password = "correct horse"

// Hub is a hub. Its fields may be changed before the first request, later only inside Change.
type Hub struct {
	URL       string
	User      client.User
	Agents    []client.Agent
	WaitsFor  string // why runs of an agent that is not online wait; "": for it to come
	Edges     []client.Edge
	Sessions  []client.Session
	Messages  map[client.SessionID][]client.Message
	Tasks     []client.AgentTask // newest first
	Events    map[client.RunID][]client.RunEvent
	Artifacts map[client.RunID][]client.Artifact
	Content   map[client.ArtifactID]string
	Devices   []client.Device
	Prompts   []client.Prompt // oldest first
	People    []client.Person // besides the user
	Contacts  []client.Contact

	Omni  map[client.SessionID][]omni.Message // fragments and sub-agents' included
	Floor string                              // where the history of conversations begins, "" for their beginning

	Modes  map[client.SessionID]client.ApprovalMode
	Steers []Steered
	Waits  bool // an agent at work waits before it tries again

	Notifications []client.NotificationPayload // newest first

	// Run is called, without the lock, for every run that a message starts. It plays the edge.
	Run func(h *Hub, task client.AgentTask)
	// Tools are those that a client has declared last.
	Tools []card.ClientTool
	// Reset makes the hub refuse every cursor.
	Reset bool

	server  *httptest.Server
	mu      sync.Mutex
	frames  []client.HubWebSocketFrame // all that were published; cursor n means that the first n were seen
	changed chan struct{}              // closed and made anew with every frame
	cut     chan struct{}              // closed and made anew to cut all sockets
	sockets int                        // that are open
	work    sync.WaitGroup
	keys    map[string]any
	cards   map[client.SessionID]*cardLog
}

// New returns a running hub with one user and the agent scout on one edge.
func New(t testing.TB) *Hub {
	t.Helper()
	h := Bare()
	h.server = httptest.NewServer(h.Handler())
	h.URL = h.server.URL
	t.Cleanup(h.stop)
	return h
}

// Bare returns a hub that nobody serves yet: see Handler.
func Bare() *Hub {
	h := &Hub{
		User:     client.User{ID: client.UserID(id.NewUser()), Username: "ada"},
		Messages: map[client.SessionID][]client.Message{}, Omni: map[client.SessionID][]omni.Message{}, Events: map[client.RunID][]client.RunEvent{},
		Modes: map[client.SessionID]client.ApprovalMode{}, Artifacts: map[client.RunID][]client.Artifact{}, Content: map[client.ArtifactID]string{},
		Contacts: []client.Contact{}, changed: make(chan struct{}), cut: make(chan struct{}), keys: map[string]any{},
		cards: map[client.SessionID]*cardLog{},
		Run:   Complete,
	}
	edge := client.Edge{ID: client.EdgeID(id.NewEdge()), Name: "laptop", OwnerID: h.User.ID, State: client.EdgeStateOnline, Version: "1.0", CreatedAt: time.Now(),
		Profiles: []client.EdgeProfile{{Name: "scout", Runtime: "events"}}}
	h.Edges = []client.Edge{edge}
	h.Agents = []client.Agent{{ID: client.AgentID(id.NewAgent()), Name: "scout", OwnerID: h.User.ID, Profile: "scout", Runtime: "events",
		PermissionMode: "default", Online: true, CanOperate: true, CreatedAt: time.Now()}}
	return h
}

func (h *Hub) stop() {
	h.Cut()
	h.server.CloseClientConnections()
	h.server.Close()
	h.work.Wait()
}

// Change runs fn while no request is being answered.
func (h *Hub) Change(fn func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	fn()
}

// Publish sends a frame to everybody, now and to those who come back for it.
func (h *Hub) Publish(typ client.HubWebSocketFrameType, payload any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.publish(typ, payload)
}

func (h *Hub) publish(typ client.HubWebSocketFrameType, payload any) {
	raw, err := json.Marshal(payload)
	if err != nil {
		panic(err)
	}
	h.frames = append(h.frames, client.HubWebSocketFrame{Type: typ, Payload: raw, Cursor: fmt.Sprintf("c%d", len(h.frames)+1)})
	close(h.changed)
	h.changed = make(chan struct{})
}

// Connected says whether a socket is open.
func (h *Hub) Connected() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.sockets > 0
}

// Head is the cursor of the newest frame.
func (h *Hub) Head() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return fmt.Sprintf("c%d", len(h.frames))
}

// Cut ends all sockets.
func (h *Hub) Cut() {
	h.mu.Lock()
	defer h.mu.Unlock()
	close(h.cut)
	h.cut = make(chan struct{})
}

// Append adds an event to a run's log and publishes its frame.
func (h *Hub) Append(task client.AgentTask, stored, wire, payload string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.publish(client.HubWebSocketFrameTypeAgentStream, h.Record(task, stored, wire, payload))
}

// Record adds an event to a run's log alone, as if its frame had been lost. Call it inside Change.
func (h *Hub) Record(task client.AgentTask, stored, wire, payload string) client.AgentStreamPayload {
	e := client.RunEvent{
		ID: client.EventID(id.NewEvent()), RunID: task.ID, EventSeq: int64(len(h.Events[task.ID]) + 1), EventType: stored, WireType: wire,
		OccurredAt: time.Now(), RecordedAt: time.Now(), Payload: json.RawMessage(payload), TraceID: task.TraceID,
	}
	h.Events[task.ID] = append(h.Events[task.ID], e)
	return client.AgentStreamPayload{
		ID: e.ID, TaskID: task.ID, SessionID: task.SessionID, AgentInstanceID: task.AgentID, EventSeq: e.EventSeq, EventType: wire,
		Payload: payload, CreatedAt: e.RecordedAt, TraceID: "trace_" + task.TraceID,
	}
}

// End changes a run's state without a frame. Call it inside Change.
func (h *Hub) End(task client.RunID, state client.RunState) {
	for i := range h.Tasks {
		if h.Tasks[i].ID == task {
			h.Tasks[i].State = state
		}
	}
}

// Complete plays a run that says something, calls a tool and ends well.
func Complete(h *Hub, task client.AgentTask) {
	h.Append(task, "run.started", "run.started", `{"started_at":"2026-01-02T03:04:05Z"}`)
	h.Append(task, "tool.call.started", "run.agent.tool_call", `{"tool_call_id":"t1","tool_name":"git_log","arguments":{"limit":20}}`)
	h.Append(task, "tool.call.completed", "run.agent.tool_result", `{"tool_call_id":"t1","result":1,"result_checksum":"x"}`)
	h.Append(task, "message.delta", "run.agent.text_delta", `{"message_id":"m1","content_index":0,"delta":"All is well."}`)
	h.Append(task, "message.completed", "run.agent.text_block", `{"message_id":"m1","content":"All is well.","content_checksum":"x"}`)
	h.Append(task, "run.completed", "run.finished", `{"message_id":"m1"}`)
	h.Change(func() { h.End(task.ID, client.RunStateCompleted) })
	h.Publish(client.HubWebSocketFrameTypeAgentDone, client.AgentDonePayload{TaskID: task.ID, AgentInstanceID: task.AgentID, SessionID: task.SessionID})
}

// Fail plays a run that ends badly.
func Fail(h *Hub, task client.AgentTask) {
	h.Append(task, "run.started", "run.started", `{"started_at":"2026-01-02T03:04:05Z"}`)
	h.Append(task, "run.failed", "run.failed", `{"error":{"code":"agent_exit","message":"the agent ended with code 3","retryable":false}}`)
	h.Change(func() { h.End(task.ID, client.RunStateFailed) })
	h.Publish(client.HubWebSocketFrameTypeAgentFailed, client.AgentFailedPayload{TaskID: task.ID, AgentInstanceID: task.AgentID,
		SessionID: task.SessionID, Error: client.RunError{Code: "agent_exit", Message: "the agent ended with code 3"}})
}

func problem(w http.ResponseWriter, status int, code client.ProblemCode, detail string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	write(w, client.Problem{Code: code, Detail: detail, Status: status, TraceID: "4bf92f3577b34da6a3ce929d0e0e4736"})
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	write(w, body)
}

func write(w io.Writer, body any) {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false) // stored bytes stay as they are
	if err := enc.Encode(body); err != nil {
		panic(http.ErrAbortHandler)
	}
}

// read reads the body of a request.
func read[T any](r *http.Request) T {
	var in T
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		panic(http.ErrAbortHandler)
	}
	return in
}
