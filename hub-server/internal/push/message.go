package push

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"
)

// Message is what goes out.
type Message struct {
	ID    string
	Type  string
	Clear bool // takes an earlier message of the same ID back
	Title string
	Body  string
	Link  string // "" if the hub does not know by which address people reach it
	Delivery
}

// Result is what a service made of a message.
type Result struct {
	Code   Code // "": it took it
	Status int
	Later  bool          // another try may help
	After  time.Duration // … not before
}

// Sender sends a message to a target within bounded time. It does not fail: what becomes of it is the result. Safe for concurrent use.
type Sender interface {
	Send(ctx context.Context, t Target, m Message) Result
}

const (
	maxTitle = 100 // letters
	maxBody  = 200
)

// compose says what there is to tell. Without a quote it names nobody and repeats nothing, because it passes third parties.
func compose(d Delivery, public string, q Quote) Message {
	m := Message{ID: d.Notification, Type: d.Type, Title: "Switchyard", Body: plain(d.Type), Link: link(d, public), Delivery: d}
	if q.From != "" {
		m.Title = shorten(q.From, maxTitle)
	}
	if q.Text != "" {
		m.Body = shorten(q.Text, maxBody)
	}
	return m
}

func plain(kind string) string {
	switch kind {
	case "prompt":
		return "An agent asks you something."
	case "mention":
		return "You were mentioned."
	case "friend_request":
		return "Somebody wants to be your friend."
	case "group_invite":
		return "You were added to a conversation."
	case "agent_done":
		return "An agent has finished."
	}
	return "There is news for you."
}

// link leads to what there is to see, in the hub's own pages.
func link(d Delivery, public string) string {
	if public == "" {
		return ""
	}
	base := strings.TrimSuffix(public, "/")
	switch {
	case d.Type == "prompt":
		return base + "/sessions/" + string(d.Session) + "/prompts/" + d.Notification
	case d.Message != "":
		return base + "/sessions/" + string(d.Session) + "/messages/" + string(d.Message)
	case d.Run != "":
		return base + "/sessions/" + string(d.Session) + "/tasks/" + string(d.Run)
	case d.Session != "":
		return base + "/sessions/" + string(d.Session)
	}
	return base + "/notifications/" + d.Notification
}

// shorten also takes line breaks out: a notification has one line.
func shorten(s string, most int) string {
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most-1]) + "…"
}
