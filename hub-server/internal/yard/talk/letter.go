// Package talk sends a message as a person means it: to a conversation that may not exist yet, with the agents that the text mentions.
package talk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/lookup"
	"github.com/switchyard-dev/switchyard/shared/id"
)

const (
	againAfter = 500 * time.Millisecond
	patience   = 30 * time.Second // how long a message is offered to a hub that does not answer
)

// Letter is a message with what has to be done for it. Prepare makes it, Deliver sends it.
type Letter struct {
	Session  client.Session // without an id it has to be made
	Agents   []client.Agent // who are mentioned
	ReplyTo  client.MessageID
	people   []client.UserID // who are mentioned besides those that the text names
	text     string
	attached []client.Attachment
	missing  []client.Agent     // mentioned, and no members yet
	ID       client.ClientMsgID // by which the hub stores it once, however often it is delivered
}

// Talker sends letters.
type Talker struct {
	api  client.ClientInterface
	find lookup.Finder
}

// New returns a talker.
func New(api client.ClientInterface) Talker { return Talker{api: api, find: lookup.New(api)} }

// Prepare finds out what a message needs, and changes nothing. In plain text an @ means nothing to this client; the hub still looks for
// members that it names.
func (t Talker) Prepare(ctx context.Context, session, text string, attached []client.Attachment, plain bool) (Letter, error) {
	if strings.TrimSpace(text) == "" && len(attached) == 0 {
		return Letter{}, errors.New("there is nothing to send: put a text behind the command, in quotes")
	}
	l := Letter{text: text, attached: attached, ID: newID()}
	var err error
	l.Session, err = t.find.Session(ctx, session)
	switch {
	case errors.Is(err, lookup.ErrNone) && !strings.HasPrefix(session, "sess_"):
		l.Session = client.Session{Name: session}
	case err != nil:
		return Letter{}, err
	}
	if plain {
		return l, nil
	}
	agents, err := client.Decode[client.AgentList](t.api.ListAgents(ctx))
	if err != nil {
		return Letter{}, fmt.Errorf("find agents: %w", err)
	}
	if l.Agents, err = addressed(text, agents.Items, l.Session.Members); err != nil {
		return Letter{}, err
	}
	l.lack()
	return l, nil
}

// lack notes which agents have to be let in.
func (l *Letter) lack() {
	l.missing = nil
	for _, a := range l.Agents {
		if !slices.ContainsFunc(l.Session.Members, func(m client.SessionMember) bool { return m.MemberID == a.ID }) {
			l.missing = append(l.missing, a)
		}
	}
}

// Deliver makes the conversation if it does not exist, lets the mentioned agents in, and sends the message. A hub that does not answer
// is asked again for a while; the message's own id keeps it from being stored twice.
func (t Talker) Deliver(ctx context.Context, l *Letter) (client.MessageReceipt, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := t.open(ctx, l); err != nil {
		return client.MessageReceipt{}, err
	}
	content, err := json.Marshal(map[string]string{"text": l.text})
	if err != nil {
		return client.MessageReceipt{}, fmt.Errorf("encode message: %w", err)
	}
	in := client.MessageInput{ClientMsgID: l.ID, Content: content, Attachments: l.attached, ReplyToMessageID: l.ReplyTo}
	for _, a := range l.Agents {
		in.Mentions = append(in.Mentions, a.ID)
	}
	in.Mentions = append(in.Mentions, l.people...)
	return insist(ctx, func() (client.MessageReceipt, error) {
		return client.Decode[client.MessageReceipt](t.api.SendMessage(ctx, l.Session.ID, in))
	})
}

// Regenerate starts a new run for the message of an earlier one. Like Deliver it insists, and starts one run however often it has to ask.
func (t Talker) Regenerate(ctx context.Context, run client.RunID) (client.RunReceipt, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	key := &client.RegenerateAgentTaskParams{IdempotencyKey: Key()}
	return insist(ctx, func() (client.RunReceipt, error) {
		return client.Decode[client.RunReceipt](t.api.RegenerateAgentTask(ctx, run, key))
	})
}

func (t Talker) open(ctx context.Context, l *Letter) error {
	if l.Session.ID == "" {
		in := client.GroupSessionInput{Name: l.Session.Name}
		for _, a := range l.missing {
			in.MemberIds = append(in.MemberIds, a.ID)
		}
		key := &client.CreateGroupSessionParams{IdempotencyKey: Key()}
		made, err := insist(ctx, func() (client.Session, error) {
			return client.Decode[client.Session](t.api.CreateGroupSession(ctx, key, in))
		})
		if err != nil {
			return fmt.Errorf("make conversation %s: %w", l.Session.Name, err)
		}
		l.Session, l.missing = made, nil
		return nil
	}
	for _, a := range l.missing {
		key := &client.AddMemberParams{IdempotencyKey: Key()}
		_, err := insist(ctx, func() (client.SessionMember, error) {
			return client.Decode[client.SessionMember](t.api.AddMember(ctx, l.Session.ID, key, client.MemberInput{MemberID: a.ID}))
		})
		if err != nil {
			return fmt.Errorf("let %s into the conversation: %w", a.Name, err)
		}
	}
	l.missing = nil
	return nil
}

// Key makes an Idempotency-Key for one request and its repetitions.
func Key() string { return "yard-" + strings.TrimPrefix(string(id.NewMessage()), "msg_") }

// insist repeats a call that is safe to repeat until the hub answers, or ctx ends: then with the last error.
func insist[T any](ctx context.Context, call func() (T, error)) (T, error) {
	for {
		answer, err := call()
		if !passing(err) {
			return answer, err
		}
		wait := time.NewTimer(againAfter)
		select {
		case <-wait.C:
		case <-ctx.Done():
			wait.Stop()
			return answer, err
		}
	}
}

// passing says whether an error may go away by itself.
func passing(err error) bool {
	var p *client.ProblemError
	if errors.As(err, &p) {
		return p.Status == http.StatusServiceUnavailable || p.Status == http.StatusBadGateway || p.Status == http.StatusGatewayTimeout
	}
	return errors.Is(err, client.ErrUnreachable)
}
