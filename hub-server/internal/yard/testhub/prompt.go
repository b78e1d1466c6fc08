package testhub

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
)

func (h *Hub) listPrompts(r *http.Request) any {
	list := client.PromptList{Items: []client.Prompt{}}
	for _, p := range h.Prompts {
		if state := r.FormValue("state"); state == "" || state == string(p.State) {
			list.Items = append(list.Items, p)
		}
	}
	return list
}

// serveAnswer records the first answer and refuses another one.
func (h *Hub) serveAnswer(w http.ResponseWriter, r *http.Request) {
	in := read[client.PromptAnswerInput](r)
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range h.Prompts {
		p := &h.Prompts[i]
		if p.RequestID != r.PathValue("request") || p.TaskID != r.PathValue("id") {
			continue
		}
		if p.State == client.PromptStateAnswered && p.Answer.Decision != in.Decision {
			problem(w, http.StatusConflict, client.ProblemCodeAlreadyAnswered, "The request was answered before: "+string(p.Answer.Decision)+".")
			return
		}
		p.State = client.PromptStateAnswered
		p.Answer = client.PromptAnswer{
			Decision: in.Decision, By: client.PromptAnswerByPerson, UserID: h.User.ID, Reason: in.Reason, UpdatedInput: in.UpdatedInput,
			Response:   in.Response,
			AnsweredAt: time.Now(),
		}
		answer(w, http.StatusOK, *p)
		return
	}
	problem(w, http.StatusNotFound, client.ProblemCodeNotFound, "There is no such request.")
}

// Succeed plays a run that is stopped at its turn limit while it asks, and goes on in another one.
func Succeed(h *Hub, task client.AgentTask) {
	h.Append(task, "run.started", "run.started", `{"started_at":"2026-01-02T03:04:05Z"}`)
	h.Ask(task, "Bash", `{"command":"ls"}`)
	h.Append(task, "run.process_ended", "run.process_ended", `{"reason":"turn_limit","code":"timeout","pending":[]}`)
	next := task
	next.ID, next.ContinuesRunID = client.RunID(id.NewRun()), task.ID
	h.Change(func() {
		h.End(task.ID, client.RunStateFailed)
		for i := range h.Tasks {
			if h.Tasks[i].ID == task.ID {
				h.Tasks[i].ContinuedByRunID = next.ID
			}
		}
		h.Tasks = append([]client.AgentTask{next}, h.Tasks...)
	})
	h.Append(task, "run.failed", "run.failed", `{"error":{"code":"timeout","message":"It goes on.","retryable":false}}`)
	h.Publish(client.HubWebSocketFrameTypeAgentFailed, client.AgentFailedPayload{TaskID: task.ID, AgentInstanceID: task.AgentID,
		SessionID: task.SessionID, Error: client.RunError{Code: "timeout", Message: "It goes on."}})
	Complete(h, next)
}

// Ask lets a run ask whether it may use a tool, and returns the id of the request.
func (h *Hub) Ask(task client.AgentTask, tool, input string) client.RequestID {
	return h.ask(task, event.PromptPermission, fmt.Sprintf(`"tool_name":%q,"input":%s`, tool, input))
}

// Inquire lets a run ask something of another kind, and returns the id of the request.
func (h *Hub) Inquire(task client.AgentTask, kind event.PromptKind, inner string) client.RequestID {
	return h.ask(task, kind, `"inner":`+inner)
}

func (h *Hub) ask(task client.AgentTask, kind event.PromptKind, what string) client.RequestID {
	request := client.RequestID(id.NewRequest())
	payload := fmt.Sprintf(`{"request_id":%q,"kind":%q,%s,"agent_request_id":"1","digest":%q,"asks":"person"}`,
		request, kind, what, strings.Repeat("a", 64))
	h.Append(task, string(event.PromptRequested), string(event.WireOf(event.PromptRequested, []byte(payload))), payload)
	h.Change(func() {
		h.Prompts = append(h.Prompts, client.Prompt{
			RequestID: request, TaskID: task.ID, SessionID: task.SessionID, AgentID: task.AgentID, Kind: string(kind),
			State: client.PromptStatePending, Payload: json.RawMessage(payload), Digest: strings.Repeat("a", 64), EventSeq: 1, AskedAt: time.Now(),
		})
	})
	return request
}
