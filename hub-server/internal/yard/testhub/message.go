package testhub

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// serveMessage stores a message and starts a run of every agent that it mentions. A repeated client_msg_id gets the first answer again.
func (h *Hub) serveMessage(w http.ResponseWriter, r *http.Request) {
	in := read[client.MessageInput](r)
	h.mu.Lock()
	defer h.mu.Unlock()
	if before, known := h.keys[in.ClientMsgID].(client.MessageReceipt); known {
		before.Deduplicated = true
		answer(w, http.StatusCreated, before)
		return
	}
	s := h.session(r.PathValue("id"))
	m := h.say(s, h.User.ID, client.SenderTypeUser, in)
	tasks := h.start(s, m, string(in.Content))
	receipt := client.MessageReceipt{MessageID: m.ID, SeqID: m.SeqID, CreatedAt: m.CreatedAt, TaskIds: []client.RunID{}, EventsUrls: []client.EventsURL{}}
	for _, task := range tasks {
		receipt.TaskIds = append(receipt.TaskIds, task.ID)
		receipt.EventsUrls = append(receipt.EventsUrls, "/api/agent-runs/"+task.ID+"/events")
	}
	h.keys[in.ClientMsgID] = receipt
	answer(w, http.StatusCreated, receipt)
	for _, task := range tasks {
		h.work.Go(func() { h.Run(h, task) })
	}
}

// searchMessages finds what contains the words as they are, one on a page so that paging is tried.
func (h *Hub) searchMessages(r *http.Request) any {
	q, list := r.URL.Query(), client.MessagesFound{Items: []client.Message{}}
	var all []client.Message
	for _, messages := range h.Messages {
		for _, m := range messages {
			if strings.Contains(string(m.Content), q.Get("q")) && (q.Get("session_id") == "" || q.Get("session_id") == m.SessionID) {
				all = append(all, m)
			}
		}
	}
	slices.SortFunc(all, func(a, b client.Message) int { return strings.Compare(b.ID, a.ID) })
	if behind := slices.IndexFunc(all, func(m client.Message) bool { return m.ID == q.Get("after") }) + 1; behind < len(all) {
		list.Items = all[behind : behind+1]
		if behind+1 < len(all) {
			list.Next = all[behind].ID
		}
	}
	return list
}

// serveAgain starts a run for the message of an earlier one.
func (h *Hub) serveAgain(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, t := range h.Tasks {
		if t.ID != r.PathValue("id") {
			continue
		}
		if t.State == client.RunStateRunning || t.State == client.RunStateCancelling {
			problem(w, http.StatusConflict, client.ProblemCodeRunActive, "The run is not over yet.")
			return
		}
		for _, task := range h.start(h.session(t.SessionID), client.Message{ID: t.TriggerMessageID}, "@scout") {
			answer(w, http.StatusAccepted, client.RunReceipt{
				MessageID: t.TriggerMessageID, RunID: task.ID, EventsURL: "/api/agent-runs/" + task.ID + "/events", AgentID: task.AgentID, AgentName: "scout",
			})
			h.work.Go(func() { h.Run(h, task) })
		}
		return
	}
	problem(w, http.StatusNotFound, client.ProblemCodeNotFound, "No such run.")
}

// Say stores a message of a user without a frame. Call it inside Change.
func (h *Hub) Say(session client.SessionID, text string) client.Message {
	content, _ := json.Marshal(map[string]string{"text": text})
	return h.store(h.session(session), h.User.ID, client.SenderTypeUser, client.MessageInput{Content: content})
}

func (h *Hub) say(s *client.Session, sender client.MemberID, typ client.SenderType, in client.MessageInput) client.Message {
	m := h.store(s, sender, typ, in)
	h.publish(client.HubWebSocketFrameTypeMessageNew, m)
	return m
}

func (h *Hub) store(s *client.Session, sender client.MemberID, typ client.SenderType, in client.MessageInput) client.Message {
	s.LastSeq++
	s.UpdatedAt = time.Now()
	newID := client.MessageID(id.NewMessage())
	m := client.Message{
		ID: newID, MessageID: newID, SessionID: s.ID, SeqID: s.LastSeq, ClientMsgID: in.ClientMsgID, SenderType: typ, SenderID: sender,
		ContentType: client.ContentTypeText, Content: in.Content, Attachments: in.Attachments, Mentions: in.Mentions, CreatedAt: time.Now(),
	}
	h.Messages[s.ID] = append(h.Messages[s.ID], m)
	return m
}

func (h *Hub) start(s *client.Session, trigger client.Message, text string) []client.AgentTask {
	var tasks []client.AgentTask
	for _, a := range h.Agents {
		if !strings.Contains(text, "@"+a.Name) {
			continue
		}
		task := client.AgentTask{
			ID: client.RunID(id.NewRun()), SessionID: s.ID, AgentID: a.ID, State: client.RunStateDispatched, RequestedBy: h.User.ID,
			TriggerMessageID: trigger.ID, TraceID: strings.Repeat("a", 32), CreatedAt: time.Now(),
		}
		if !a.Online {
			task.State, task.WaitsFor = client.RunStateWaitingEdge, h.WaitsFor
		}
		tasks = append(tasks, task)
		h.Tasks = append([]client.AgentTask{task}, h.Tasks...)
		h.publish(client.HubWebSocketFrameTypeAgentDispatch, client.AgentDispatchPayload{TaskID: task.ID, AgentInstanceID: a.ID, SessionID: s.ID, DisplayName: a.Name})
	}
	return tasks
}
