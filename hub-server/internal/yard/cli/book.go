package cli

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/switchyard-dev/switchyard/hub-server/client"
)

// book knows what people call things. It asks the hub once for each that it does not know. Not safe for concurrent use.
type book struct {
	api      client.ClientInterface
	sessions map[client.SessionID]string
	members  map[client.MemberID]string
	asked    map[string]bool // in vain
}

func newBook(api client.ClientInterface) *book {
	return &book{api: api, sessions: map[client.SessionID]string{}, members: map[client.MemberID]string{}, asked: map[string]bool{}}
}

// Session is the name of a conversation.
func (b *book) Session(id client.SessionID) string { return named(b.sessions, id) }

// Member is the name of a user or an agent.
func (b *book) Member(id client.MemberID) string { return named(b.members, id) }

func named(names map[string]string, id string) string {
	if name := names[id]; name != "" {
		return name
	}
	const enough = 13 // the kind and some digits
	if len(id) > enough {
		return id[:enough] + "…"
	}
	return id
}

// learn makes sure that what a frame speaks of has a name, as far as the hub tells.
func (b *book) learn(ctx context.Context, f client.HubWebSocketFrame) {
	var about struct {
		Session   client.SessionID       `json:"session_id"`
		Sender    client.MemberID        `json:"sender_id"`
		Agent     client.AgentID         `json:"agent_instance_id"`
		AgentName string                 `json:"display_name"`
		Member    client.MemberID        `json:"member_id"`
		Name      string                 `json:"name"`
		Members   []client.SessionMember `json:"members"`
	}
	if json.Unmarshal(f.Payload, &about) != nil {
		return
	}
	if f.Type == client.HubWebSocketFrameTypeSessionCreated {
		b.session(client.Session{ID: about.Session, Name: about.Name, Members: about.Members})
	}
	if f.Type == client.HubWebSocketFrameTypeAgentDispatch && about.AgentName != "" {
		b.members[about.Agent] = about.AgentName
	}
	unknown := b.sessions[about.Session] == ""
	for _, id := range []client.MemberID{about.Sender, about.Agent, about.Member} {
		unknown = unknown || (id != "" && b.members[id] == "" && !b.asked[about.Session+id])
		b.asked[about.Session+id] = true
	}
	if about.Session != "" && unknown {
		b.ask(ctx, about.Session)
	}
}

// know makes sure that the conversation of a message has a name.
func (b *book) know(ctx context.Context, m client.Message) {
	if b.sessions[m.SessionID] == "" {
		b.ask(ctx, m.SessionID)
	}
}

func (b *book) ask(ctx context.Context, id client.SessionID) {
	s, err := client.Decode[client.Session](b.api.GetSession(ctx, id))
	if err != nil {
		s = client.Session{ID: id} // the short form has to do
	}
	b.session(s)
}

// session learns a conversation and its members. One without a name is called after them.
func (b *book) session(s client.Session) {
	var others []string
	for _, m := range s.Members {
		b.members[m.MemberID] = m.Name
		others = append(others, m.Name)
	}
	b.sessions[s.ID] = s.Name
	if s.Name == "" {
		b.sessions[s.ID] = strings.Join(others, "+")
	}
	if b.sessions[s.ID] == "" {
		b.sessions[s.ID] = named(nil, s.ID)
	}
}
