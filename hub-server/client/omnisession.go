package client

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/omni"
)

// OmniSession is a conversation as OmniMessages (S1): give it a task and follow what comes, steer it, answer what it asks for, read what was said.
// Session makes one. It holds nothing: safe for concurrent use.
type OmniSession struct {
	client *Client
	id     SessionID
}

// Session is the conversation with an id, of which the user is a member. Nothing is sent yet.
//
//	for m, err := range c.Session("sess_1").Run(ctx, client.TextTask("List the files.")) { … }
func (c *Client) Session(session SessionID) *OmniSession { return &OmniSession{client: c, id: session} }

// OmniTask is what an agent is asked to do.
type OmniTask struct {
	Input         []OmniPart `json:"input"`
	AgentID       AgentID    `json:"agentId,omitempty"` // "": the conversation's default agent
	ThinkingLevel string     `json:"thinkingLevel,omitempty"`
	QueueIfBusy   bool       `json:"queueIfBusy,omitempty"` // else a task while another is at work is refused with 409 task_in_progress
}

// OmniPart is a part of what is said: TextPart, ImagePart and FilePart make them.
type OmniPart struct {
	Type     string `json:"type"`
	Text     string `json:"text,omitempty"`
	ImageURL string `json:"imageUrl,omitempty"`
	FileName string `json:"fileName,omitempty"`
	DataURL  string `json:"dataUrl,omitempty"`
}

// TextTask is a task in words, for the conversation's default agent.
func TextTask(text string) OmniTask { return OmniTask{Input: []OmniPart{TextPart(text)}} }

// TextPart is words.
func TextPart(text string) OmniPart { return OmniPart{Type: "text", Text: text} }

// ImagePart is an image: a URL of the web or a data URL in base64.
func ImagePart(url string) OmniPart { return OmniPart{Type: "image_url", ImageURL: url} }

// FilePart is a file, as a data URL in base64.
func FilePart(name, dataURL string) OmniPart {
	return OmniPart{Type: "file", FileName: name, DataURL: dataURL}
}

// Task gives the conversation a task. A hub that cannot be reached, or is busy, is asked again until ctx ends; key names the attempt, so that it is
// given once ("": a new one). Refusals are 409: task_in_progress, compacting, unsupported_by_runtime, read_only.
func (s *OmniSession) Task(ctx context.Context, key string, task OmniTask) (OmniTaskReceipt, error) {
	return post[OmniTaskReceipt](ctx, s, "/tasks", orNewKey(key), task)
}

// Steer says something to the run that is at work, for its agent to take before its next request. It returns the name by which Withdraw takes it back
// while the agent has not taken it. Refusals are 409: not_running, unsupported_by_runtime.
func (s *OmniSession) Steer(ctx context.Context, text string) (string, error) {
	answer, err := post[struct {
		SteerID string `json:"steerId"`
	}](ctx, s, "/steer", orNewKey(""), map[string]string{"text": text})
	return answer.SteerID, err
}

// Withdraw takes back what Steer has said. 409 not_pending: the agent has it.
func (s *OmniSession) Withdraw(ctx context.Context, steer string) error {
	_, err := asking(ctx, silently, func() (Nothing, error) {
		return Decode[Nothing](s.send(ctx, http.MethodDelete, "/steer/"+url.PathEscape(steer), nil, nil))
	}, busy)
	return err
}

// Approve answers an approval that waits, named by its request or, as in the stream, by its call: Allow or Deny, with a reason that may be empty.
// 404: nothing waits by this name. 409 already_answered: somebody else was faster, and said another thing.
func (s *OmniSession) Approve(ctx context.Context, request string, decision omni.Decision, reason string) error {
	in := struct {
		Decision omni.Decision `json:"decision"`
		Reason   string        `json:"reason,omitempty"`
	}{decision, reason}
	_, err := asking(ctx, silently, func() (Nothing, error) {
		return Decode[Nothing](s.send(ctx, http.MethodPost, "/approvals/"+url.PathEscape(request), nil, in))
	}, busy)
	return err
}

// Abort stops what is at work, and says whether anything was. The reason, which may be empty, stands in the abort that the stream ends with.
func (s *OmniSession) Abort(ctx context.Context, reason string) (bool, error) {
	status := 0
	in := OmniAbortInput{Reason: reason}
	_, err := asking(ctx, silently, func() (Nothing, error) {
		resp, err := s.send(ctx, http.MethodPost, "/abort", nil, in) //nolint:bodyclose // Decode closes it
		if err == nil {
			status = resp.StatusCode
		}
		return Decode[Nothing](resp, err)
	}, busy)
	return status == http.StatusAccepted, err
}

// RetryNow ends the wait of an agent that would make its request again later, and says whether any waited. Refusals are
// 409: not_running, unsupported_by_runtime.
func (s *OmniSession) RetryNow(ctx context.Context) (bool, error) {
	answer, err := Decode[struct {
		Skipped bool `json:"skipped"`
	}](s.send(ctx, http.MethodPost, "/retry-now", nil, nil)) //nolint:bodyclose // Decode closes it
	return answer.Skipped, err
}

// Compact has the agent make its context smaller, and returns the run that does. Refusals are 409: nothing_to_compact, already_compacted,
// unsupported_by_runtime, task_in_progress.
func (s *OmniSession) Compact(ctx context.Context) (string, error) {
	answer, err := Decode[OmniCompactReceipt](s.send(ctx, http.MethodPost, "/compact", nil, nil))
	return answer.RunID, err
}

func orNewKey(key string) string {
	if key != "" {
		return key
	}
	return strings.TrimPrefix(string(id.NewMessage()), "msg_")
}

func silently(Update) error { return nil }

// post sends what counts once by its key.
func post[T any](ctx context.Context, s *OmniSession, path, key string, in any) (T, error) {
	return asking(ctx, silently, func() (T, error) {
		return Decode[T](s.send(ctx, http.MethodPost, path, http.Header{"Idempotency-Key": {key}}, in))
	}, busy)
}

// send makes a request below the conversation. in is its body, nil for none.
func (s *OmniSession) send(ctx context.Context, method, path string, header http.Header, in any) (*http.Response, error) {
	var body io.Reader
	if in != nil {
		text, err := encode(in)
		if err != nil {
			return nil, fmt.Errorf("encode request: %w", err)
		}
		body = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, s.client.hub+"/api/sessions/"+url.PathEscape(s.id)+path, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json, application/problem+json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for key, values := range header {
		req.Header[key] = values
	}
	for _, edit := range s.client.api.RequestEditors {
		if err := edit(ctx, req); err != nil {
			return nil, err
		}
	}
	return s.client.api.Client.Do(req)
}
