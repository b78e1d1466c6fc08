package cards

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/cardlog"
	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
	"github.com/switchyard-dev/switchyard/hub-server/internal/gate/cards/talk"
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// enter opens the conversation that the address names, or the trace of a resume.
func (c *conn) enter(ctx context.Context, a talk.Enter) (talk.Act, error) {
	found, err := c.known(ctx, a.Named)
	if fault.CodeOf(err) == fault.NotFound {
		c.tell(func(t *talk.Talk) { t.NotEntered(time.Now()) })
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return c.open(ctx, found)
}

// known returns a conversation that the person is in; NotFound for what is none, or not theirs (SEC11).
func (c *conn) known(ctx context.Context, named string) (chat.Session, error) {
	session, err := id.ParseSession(named)
	if err != nil {
		return chat.Session{}, fault.New(fault.NotFound, "There is no such conversation.")
	}
	return c.server.Sessions.Get(ctx, c.who.User, session)
}

// create opens a conversation: the one that is wanted, if the person is in it; their private one with their default agent for any other id; and a new
// one with that agent where none is named (R33).
func (c *conn) create(ctx context.Context, a talk.Create) (talk.Act, error) {
	if a.Wanted != "" {
		found, err := c.known(ctx, a.Wanted)
		if err == nil {
			return c.openWith(ctx, found, a.Tools)
		}
		if fault.CodeOf(err) != fault.NotFound {
			return nil, err
		}
	}
	agent, err := c.chosen(ctx, a.Agent)
	if err != nil {
		return nil, err
	}
	if a.First != nil {
		if err := c.sayable(ctx, *a.First); err != nil {
			return nil, err
		}
	}
	made, err := c.make(ctx, a, chat.OfAgent(agent.ID), agent.Name)
	if err != nil {
		return nil, err
	}
	return c.openWith(ctx, made, a.Tools)
}

// openWith opens a conversation in which the client declares tools.
func (c *conn) openWith(ctx context.Context, s chat.Session, tools []card.ClientTool) (talk.Act, error) {
	if err := c.offer(ctx, s.ID, tools); err != nil {
		return nil, err
	}
	return c.open(ctx, s)
}

// chosen is the agent that a client names, or else the person's default agent.
func (c *conn) chosen(ctx context.Context, named string) (fleet.AgentView, error) {
	if named == "" {
		return c.server.Agents.Default(ctx, c.who.User)
	}
	agent, err := id.ParseAgent(named)
	if err != nil {
		return fleet.AgentView{}, fault.New(fault.AgentUnknown, "There is no such agent.")
	}
	return c.server.Agents.Get(ctx, c.who.User, agent)
}

func (c *conn) make(ctx context.Context, a talk.Create, agent chat.MemberID, name string) (chat.Session, error) {
	if a.Wanted != "" {
		return c.server.Sessions.OpenPrivate(ctx, c.who, chat.NewPrivate{Member: agent}, c.attempt(a))
	}
	// Two people, or a person and an agent, have one private conversation for ever: another one is a group.
	return c.server.Sessions.OpenGroup(ctx, c.who, chat.NewGroup{Name: name, Members: []chat.MemberID{agent}}, c.attempt(a))
}

// attempt names what the client asks for: the same event_id opens the same conversation.
func (c *conn) attempt(a talk.Create) account.Attempt {
	key := a.Key
	if key == "" {
		key = string(id.NewEvent())
	}
	sum := sha256.Sum256([]byte(key))
	return account.Attempt{
		User: c.who.User, Route: "GET /v1/ws", Key: hex.EncodeToString(sum[:]), Request: sha256.Sum256([]byte("session.create\n" + a.Wanted + "\n" + a.Agent)),
	}
}

// open begins to follow a conversation. It is watched before its trace is read, so that nothing is missed in between.
func (c *conn) open(ctx context.Context, s chat.Session) (next talk.Act, err error) {
	watcher := c.server.Traces.Watch(s.ID)
	entry, err := c.entry(ctx, s, watcher)
	if err != nil {
		watcher.Close()
		return nil, err
	}
	c.server.roll.about(c, s.ID)
	c.tell(func(t *talk.Talk) {
		c.watcher = watcher
		next = t.Entered(time.Now(), entry)
	})
	c.again.Store(true) // what has changed since it was read
	c.wakeUp()
	return next, nil
}

func (c *conn) entry(ctx context.Context, s chat.Session, w *cardlog.Watcher) (talk.Entry, error) {
	trace, err := c.server.Traces.Open(ctx, s.ID)
	if err != nil {
		return talk.Entry{}, err
	}
	pending, err := c.server.Traces.Pending(ctx, s.ID)
	return talk.Entry{
		At: card.Opening{Session: s.ID, Trace: trace.ID}, About: c.subject(s, w), Head: trace.Head, Pending: pending,
	}, err
}

// subject is what is told of a conversation. A private one is called by whom it is with.
func (c *conn) subject(s chat.Session, w *cardlog.Watcher) talk.Subject {
	about := talk.Subject{Title: s.Name, Model: w.Model()}
	for _, m := range s.Members {
		about.Members = append(about.Members, m.Name)
		if about.Title == "" && s.Type == chat.Private && m.ID != chat.OfUser(c.who.User) {
			about.Title = m.Name
		}
	}
	return about
}

// lookAgain tells what of the conversation has become otherwise, or that the person is not in it any more.
func (c *conn) lookAgain() error {
	c.mu.Lock()
	session, watcher := c.talk.Session(), c.watcher
	c.mu.Unlock()
	if session == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(c.ctx, readWithin)
	defer cancel()
	now, err := c.server.Sessions.Get(ctx, c.who.User, session)
	switch {
	case fault.CodeOf(err) == fault.NotFound:
		c.tell(func(t *talk.Talk) { t.Left(time.Now()) })
		return nil
	case err != nil:
		return errors.Join(errStore, err)
	}
	c.tell(func(t *talk.Talk) { t.Changed(time.Now(), c.subject(now, watcher)) })
	return nil
}

// find looks whose the trace of a resume is. One of a conversation that the person is not in is as unknown as one that never was (SEC11).
func (c *conn) find(ctx context.Context, h talk.Heard, a talk.Find) (next talk.Act, err error) {
	trace, err := c.server.Traces.Trace(ctx, id.Trace(a.Resume.TraceID))
	in := false
	if err == nil {
		in, err = c.server.Sessions.IsMember(ctx, c.who.User, trace.Session)
	}
	switch {
	case errors.Is(err, cardlog.ErrUnknown), err == nil && !in:
		c.tell(func(t *talk.Talk) { t.NotResumed(time.Now(), a.Resume, card.UnknownTrace) })
		return nil, nil
	case err != nil:
		return nil, err
	}
	c.tell(func(t *talk.Talk) { next = t.Found(time.Now(), h, trace.Session) })
	return next, nil
}

// look goes on where the client was.
func (c *conn) look(ctx context.Context, h talk.Heard, a talk.Look) error {
	in, err := c.server.Sessions.IsMember(ctx, c.who.User, a.Session)
	if err != nil {
		return err
	}
	if !in {
		c.tell(func(t *talk.Talk) { t.NotResumed(time.Now(), a.Resume, card.SessionNotFound) })
		return nil
	}
	trace, err := c.server.Traces.Open(ctx, a.Session)
	if err != nil {
		return err
	}
	c.tell(func(t *talk.Talk) {
		if trace.ID != t.At().Trace { // the record is another one since a restore
			t.NotResumed(time.Now(), a.Resume, card.UnknownTrace)
			return
		}
		t.Resumed(time.Now(), h, a.Resume, trace.Floor, trace.Head)
	})
	return nil
}
