package outgoing

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/push"
	"github.com/switchyard-dev/switchyard/hub-server/internal/push/webpush"
)

const (
	padTo    = 1024           // all pushes to browsers are equally long: their length tells nothing
	keepFor  = 24 * time.Hour // how long a push service keeps what a device does not fetch
	highNtfy = 4              // priority of what somebody waits for
)

// Sender sends pushes: push.Sender. Safe for concurrent use.
type Sender struct {
	Client *Client
	Keys   *webpush.Sender
	Now    func() time.Time
}

var _ push.Sender = (*Sender)(nil)

// Send implements push.Sender.
func (s *Sender) Send(ctx context.Context, t push.Target, m push.Message) push.Result {
	var request *http.Request
	var err error
	switch t.Channel {
	case push.Ntfy:
		request, err = ntfyRequest(ctx, t.Address, m)
	case push.WebPush:
		request, err = s.webPushRequest(ctx, t.Address, m)
	default:
		err = fmt.Errorf("channel %q", t.Channel)
	}
	if err != nil {
		return push.Result{Code: push.CodeRefused}
	}
	answer, err := s.Client.Do(request)
	if err != nil {
		return failure(err)
	}
	return judge(answer, m, s.Now())
}

// failure says what an exchange that did not come about means.
func failure(err error) push.Result {
	var slow net.Error
	switch {
	case errors.Is(err, ErrForbidden):
		return push.Result{Code: push.CodeForbidden}
	case errors.As(err, &slow) && slow.Timeout(), errors.Is(err, context.DeadlineExceeded):
		return push.Result{Code: push.CodeTimeout, Later: true}
	}
	return push.Result{Code: push.CodeUnreachable, Later: true}
}

func judge(a Answer, m push.Message, now time.Time) push.Result {
	r := push.Result{Status: a.Status}
	switch {
	case a.Status >= 200 && a.Status < 300:
	case a.Status >= 300 && a.Status < 400:
		r.Code = push.CodeRedirected
	case (a.Status == http.StatusNotFound || a.Status == http.StatusGone) && !m.Clear:
		r.Code = push.CodeGone
	case a.Status == http.StatusTooManyRequests || a.Status == http.StatusRequestTimeout || a.Status >= 500:
		r.Code, r.Later, r.After = push.CodeUnavailable, true, retryAfter(a.Header.Get("Retry-After"), now)
	default:
		r.Code = push.CodeRefused
	}
	return r
}

// retryAfter reads seconds or a date; nonsense is no wish.
func retryAfter(value string, now time.Time) time.Duration {
	if seconds, err := strconv.Atoi(value); err == nil {
		return time.Duration(max(0, min(seconds, int(keepFor.Seconds())))) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// ntfyMessage is what ntfy takes at its root. Those of one sequence_id replace each other (ntfy 2.16; older servers show each).
type ntfyMessage struct {
	Topic    string   `json:"topic"`
	Title    string   `json:"title"`
	Message  string   `json:"message"`
	Priority int      `json:"priority,omitempty"`
	Tags     []string `json:"tags,omitempty"`
	Click    string   `json:"click,omitempty"`
	Sequence string   `json:"sequence_id"`
}

func ntfyRequest(ctx context.Context, a push.Address, m push.Message) (*http.Request, error) {
	u, err := url.Parse(a.URL)
	if err != nil {
		return nil, errors.New("the address is no URL")
	}
	method, body := http.MethodPut, []byte(nil)
	slash := strings.LastIndexByte(u.Path, '/')
	if m.Clear {
		u.Path += "/" + push.Topic(m.ID) + "/clear"
	} else {
		method = http.MethodPost
		message := ntfyMessage{Topic: u.Path[slash+1:], Title: m.Title, Message: m.Body, Click: m.Link, Tags: []string{m.Type}, Sequence: push.Topic(m.ID)}
		if urgent(m) {
			message.Priority = highNtfy
		}
		if body, err = json.Marshal(message); err != nil {
			return nil, fmt.Errorf("encode message: %w", err)
		}
		u.Path = u.Path[:slash+1]
	}
	r, err := Request(ctx, method, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if !m.Clear {
		r.Header.Set("Content-Type", "application/json")
	}
	if a.Token != "" {
		r.Header.Set("Authorization", "Bearer "+a.Token)
	}
	return r, nil
}

// browserMessage is what a service worker gets.
type browserMessage struct {
	Version      int    `json:"version"`
	Kind         string `json:"kind"` // notification, or clear: take the one of that tag back
	ID           string `json:"id"`
	Tag          string `json:"tag"` // the same for all about one notification: a later one takes its place
	Type         string `json:"type"`
	Title        string `json:"title,omitempty"`
	Body         string `json:"body,omitempty"`
	Link         string `json:"link,omitempty"`
	SessionID    string `json:"session_id,omitempty"`
	MessageID    string `json:"message_id,omitempty"`
	TaskID       string `json:"task_id,omitempty"`
	NotifiedDate string `json:"created_at,omitempty"`
}

func (s *Sender) webPushRequest(ctx context.Context, a push.Address, m push.Message) (*http.Request, error) {
	reader, err := webpush.NewReader(a.Key, a.Auth)
	if err != nil {
		return nil, err
	}
	message := browserMessage{
		Version: 1, Kind: "notification", ID: m.ID, Tag: push.Topic(m.ID), Type: m.Type, Title: m.Title, Body: m.Body, Link: m.Link,
		SessionID: string(m.Session), MessageID: string(m.Message), TaskID: string(m.Run),
	}
	if m.Clear {
		message.Kind = "clear"
	}
	if !m.CreatedAt.IsZero() {
		message.NotifiedDate = m.CreatedAt.UTC().Format(time.RFC3339)
	}
	text, err := json.Marshal(message)
	if err != nil {
		return nil, fmt.Errorf("encode message: %w", err)
	}
	sealed, err := reader.Seal(text, padTo)
	if err != nil {
		return nil, err
	}
	vouched, err := s.Keys.Authorization(a.URL, s.Now())
	if err != nil {
		return nil, err
	}
	r, err := Request(ctx, http.MethodPost, a.URL, bytes.NewReader(sealed))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", vouched)
	r.Header.Set("Content-Encoding", "aes128gcm")
	r.Header.Set("Content-Type", "application/octet-stream")
	r.Header.Set("TTL", strconv.Itoa(int(keepFor.Seconds())))
	r.Header.Set("Topic", push.Topic(m.ID)) // what still waits at the service under it is replaced
	r.Header.Set("Urgency", urgency(m))
	return r, nil
}

// urgent says whether somebody waits.
func urgent(m push.Message) bool { return m.Type == "prompt" || m.Type == "mention" }

func urgency(m push.Message) string {
	if urgent(m) && !m.Clear {
		return "high"
	}
	return "normal"
}
