package talk

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/lookup"
)

// ErrNobody is wrapped by the error of a text that mentions a name which nobody has.
var ErrNobody = errors.New("nobody is called")

const nameChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

// mentions returns what stands behind each @ of the text, in order. An @ inside a word is no mention (`a@b.c`).
func mentions(text string) []string {
	var names []string
	for rest := text; ; {
		before, after, found := strings.Cut(rest, "@")
		if !found {
			return names
		}
		rest = after
		if before != "" && strings.ContainsRune(nameChars, rune(before[len(before)-1])) {
			continue
		}
		name := after
		if end := strings.IndexFunc(after, func(r rune) bool { return !strings.ContainsRune(nameChars, r) }); end >= 0 {
			name = after[:end]
		}
		if strings.Trim(name, "._-") != "" {
			names = append(names, name)
		}
	}
}

// addressed returns the agents that the text mentions, each once. Punctuation at a name's end may belong to the sentence. A name that is
// neither an agent's nor that of somebody in the conversation is an error: a message that nobody answers is worse than one not sent.
func addressed(text string, agents []client.Agent, members []client.SessionMember) ([]client.Agent, error) {
	var found []client.Agent
	for _, name := range mentions(text) {
		agent, err := named(name, agents, members)
		if err != nil {
			return nil, err
		}
		if agent.ID != "" && !slices.ContainsFunc(found, func(a client.Agent) bool { return a.ID == agent.ID }) {
			found = append(found, agent)
		}
	}
	return found, nil
}

// named returns the agent of that name; none without an error if it is the name of a person in the conversation.
func named(name string, agents []client.Agent, members []client.SessionMember) (client.Agent, error) {
	for _, reading := range []string{name, strings.TrimRight(name, "._-")} {
		if i := slices.IndexFunc(members, func(m client.SessionMember) bool { return m.Name == reading }); i >= 0 {
			return member(members[i], agents), nil
		}
		if slices.ContainsFunc(agents, func(a client.Agent) bool { return a.Name == reading }) {
			return lookup.AgentNamed(agents, reading)
		}
	}
	return client.Agent{}, fmt.Errorf("%w %q; agents here: %s", ErrNobody, name, list(agents))
}

func member(m client.SessionMember, agents []client.Agent) client.Agent {
	if i := slices.IndexFunc(agents, func(a client.Agent) bool { return a.ID == m.MemberID }); i >= 0 {
		return agents[i]
	}
	return client.Agent{}
}

func list(agents []client.Agent) string {
	if len(agents) == 0 {
		return "none yet, an edge brings them"
	}
	var names []string
	for _, a := range agents {
		names = append(names, a.Name)
	}
	return strings.Join(slices.Compact(slices.Sorted(slices.Values(names))), ", ")
}

// Mention adds agents, and people of the conversation, to a letter, by name or id. It changes nothing on the hub.
func (t Talker) Mention(ctx context.Context, l *Letter, refs ...string) error {
	if len(refs) == 0 {
		return nil
	}
	agents, err := client.Decode[client.AgentList](t.api.ListAgents(ctx))
	if err != nil {
		return fmt.Errorf("find agents: %w", err)
	}
	for _, ref := range refs {
		if err := l.mention(strings.TrimPrefix(ref, "@"), agents.Items); err != nil {
			return err
		}
	}
	l.lack()
	return nil
}

func (l *Letter) mention(ref string, agents []client.Agent) error {
	i := slices.IndexFunc(l.Session.Members, func(m client.SessionMember) bool { return m.Name == ref || m.MemberID == ref })
	if i >= 0 && l.Session.Members[i].MemberType == client.MemberTypeUser {
		if who := l.Session.Members[i].MemberID; !slices.Contains(l.people, who) {
			l.people = append(l.people, who)
		}
		return nil
	}
	agent, err := lookup.AgentNamed(agents, ref)
	if i >= 0 {
		agent, err = member(l.Session.Members[i], agents), nil
	}
	if err != nil || agent.ID == "" {
		return fmt.Errorf("%w %q in %s; agents here: %s", ErrNobody, ref, l.Session.Name, list(agents))
	}
	if !slices.ContainsFunc(l.Agents, func(a client.Agent) bool { return a.ID == agent.ID }) {
		l.Agents = append(l.Agents, agent)
	}
	return nil
}
