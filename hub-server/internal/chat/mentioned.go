package chat

import (
	"context"
	"fmt"
	"slices"

	"github.com/switchyard-dev/switchyard/hub-server/internal/notice"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// PeopleStore finds people of a conversation. Safe for concurrent use.
type PeopleStore interface {
	// Named returns the people of the conversation who have one of the login names.
	Named(ctx context.Context, s id.Session, names []string) ([]id.User, error)
	// PeopleIn returns those of the people who are in the conversation.
	PeopleIn(ctx context.Context, s id.Session, people []id.User) ([]id.User, error)
}

// listed parts what a sender lists as mentioned into agents and people.
func listed(mentions []MemberID) (agents []id.Agent, people []id.User) {
	for _, m := range mentions {
		if agent, ok := m.Agent(); ok {
			agents = append(agents, agent)
		} else if user, ok := m.User(); ok {
			people = append(people, user)
		}
	}
	return agents, people
}

// agentsIn fails unless the agents are all in the conversation.
func (s Session) agentsIn(agents []id.Agent) error {
	for _, agent := range agents {
		if _, ok := s.member(OfAgent(agent)); !ok {
			return fault.New(fault.AgentUnknown, "The agent %s is not in this conversation. Add it first.", agent)
		}
	}
	return nil
}

// peopleMentioned returns the people that a message mentions: those whom its sender lists, then those whom its text names. Whoever is listed must be in
// the conversation: NotFound, the same for somebody else and for nobody.
func peopleMentioned(ctx context.Context, store PeopleStore, s id.Session, list []id.User, text string) ([]id.User, error) {
	if len(list) > 0 {
		in, err := store.PeopleIn(ctx, s, list)
		if err != nil {
			return nil, fmt.Errorf("look for people who are mentioned: %w", err)
		}
		for _, user := range list {
			if !slices.Contains(in, user) {
				return nil, fault.New(fault.NotFound, "Somebody whom the message mentions is not in this conversation.")
			}
		}
	}
	named, err := peopleNamed(ctx, store, s, text)
	if err != nil {
		return nil, err
	}
	people := slices.Clone(list)
	for _, user := range named {
		if !slices.Contains(people, user) && len(people) < MaxPeople {
			people = append(people, user)
		}
	}
	return people, nil
}

// peopleNamed returns the people of a conversation whom a text names, at most MaxPeople names of it.
func peopleNamed(ctx context.Context, store PeopleStore, s id.Session, text string) ([]id.User, error) {
	names := mentionedNames(text)
	if len(names) == 0 {
		return nil, nil
	}
	people, err := store.Named(ctx, s, names[:min(len(names), MaxPeople)])
	if err != nil {
		return nil, fmt.Errorf("look for people who are named: %w", err)
	}
	return people, nil
}

// mentioned tells people that a message mentions them. Nobody is told of their own words.
func (m Message) mentioned() (told []notice.Notice, err error) {
	by, _ := m.Sender.User()
	_, people := listed(m.Mentions)
	for _, user := range people {
		if user == by {
			continue
		}
		n, err := notice.Mentioned(user, m.Session, m.ID, by)
		if err != nil {
			return nil, err
		}
		told = append(told, n)
	}
	return told, nil
}

// members are ids of agents and people as ids of members, agents first.
func members(agents []id.Agent, people []id.User) (all []MemberID) {
	for _, agent := range agents {
		all = append(all, OfAgent(agent))
	}
	for _, user := range people {
		all = append(all, OfUser(user))
	}
	return all
}
