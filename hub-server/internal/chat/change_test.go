package chat

import (
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

func TestWhoMayTakeAMessageBack(t *testing.T) {
	const ada, bob, carl = id.User("user_a"), id.User("user_b"), id.User("user_c")
	scout, sent := OfAgent("agent_a"), time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, c := range map[string]struct {
		by, owner id.User
		kind      SessionType
		sender    MemberID
		after     time.Duration
		code      fault.Code
	}{
		"a sender in time":              {bob, ada, Group, OfUser(bob), 5 * time.Minute, ""},
		"a sender too late":             {bob, ada, Group, OfUser(bob), 5*time.Minute + 1, fault.RecallTimeout},
		"somebody else":                 {carl, ada, Group, OfUser(bob), 0, fault.Forbidden},
		"somebody else, an agent's":     {carl, ada, Group, scout, 0, fault.Forbidden},
		"the owner, late":               {ada, ada, Group, OfUser(ada), 1000 * time.Hour, ""},
		"the owner, another's":          {ada, ada, Group, OfUser(bob), 1000 * time.Hour, ""},
		"the owner, an agent's":         {ada, ada, Group, scout, 1000 * time.Hour, ""},
		"of two, the owner's own, late": {ada, ada, Private, OfUser(ada), 1000 * time.Hour, ""},
		"of two, the other's own":       {bob, ada, Private, OfUser(bob), time.Minute, ""},
		"of two, the other's, late":     {bob, ada, Private, OfUser(bob), time.Hour, fault.RecallTimeout},
		"of two, by the owner":          {ada, ada, Private, OfUser(bob), 0, fault.Forbidden},
		"of two, an agent's":            {ada, ada, Private, scout, time.Hour, ""},
	} {
		s := Standing{Message: Message{Sender: c.sender, CreatedAt: sent}, Type: c.kind, Owner: c.owner}
		if err := s.mayRecall(c.by, sent.Add(c.after), 5*time.Minute); fault.CodeOf(err) != c.code {
			t.Errorf("%s: %v, want %q", name, err, c.code)
		}
	}
}

func TestWhoMayEditAMessage(t *testing.T) {
	const ada, bob = id.User("user_a"), id.User("user_b")
	sent := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, c := range map[string]struct {
		by     id.User
		sender MemberID
		taken  bool
		after  time.Duration
		code   fault.Code
	}{
		"its sender":            {bob, OfUser(bob), false, 15 * time.Minute, ""},
		"its sender, too late":  {bob, OfUser(bob), false, 15*time.Minute + 1, fault.EditTimeout},
		"the owner":             {ada, OfUser(bob), false, 0, fault.Forbidden},
		"the owner, an agent's": {ada, OfAgent("agent_a"), false, 0, fault.Forbidden},
		"one that is gone":      {bob, OfUser(bob), true, 0, fault.Conflict},
	} {
		s := Standing{Message: Message{Sender: c.sender, CreatedAt: sent, Recalled: c.taken}, Type: Group, Owner: ada}
		if err := s.mayEdit(c.by, sent.Add(c.after), 15*time.Minute); fault.CodeOf(err) != c.code {
			t.Errorf("%s: %v, want %q", name, err, c.code)
		}
	}
}
