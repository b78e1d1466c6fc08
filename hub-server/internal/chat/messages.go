package chat

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
	"github.com/switchyard-dev/switchyard/hub-server/internal/notice"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Posting is a message with the runs that it starts: all of it is stored, or nothing.
type Posting struct {
	By      id.User
	Message Message // without a number
	Runs    []runlog.NewRun
	Notices []notice.Notice // for people whom it names
}

// Mark moves a read mark.
type Mark struct {
	Session id.Session
	User    id.User
	To      Seq
}

// MessageStore keeps messages. Each write is one transaction with its outbox rows; safe for concurrent use.
type MessageStore interface {
	// Sent returns the message with that client_msg_id in the conversation; false when there is none.
	Sent(ctx context.Context, s id.Session, client ClientMsgID) (Message, bool, error)
	// Post gives the message its number and stores it with its runs. When a message with that client_msg_id is there, nothing is stored
	// and that one is returned with true. Membership and the right to operate are checked once more: NotFound, AgentUnknown,
	// AgentOperateRequired. NotFound, too, when ReplyTo is not a message of the conversation; ErrMoved when the sender has chosen another
	// approval mode since the runs were prepared, and TaskInProgress when one of them would not be alone that must be.
	Post(ctx context.Context, p Posting) (Message, bool, error)
	// PostOnce is Post with a claim; *account.Repeated when the attempt was answered before.
	PostOnce(ctx context.Context, p Posting, claim account.Claim) error
	// StartOnce stores a run for a message that is there already, with the same checks.
	StartOnce(ctx context.Context, by id.User, run runlog.NewRun, claim account.Claim) error
	// Start is StartOnce for a run that needs no claim.
	Start(ctx context.Context, by id.User, run runlog.NewRun) error
	PeopleStore
	// MessageIn returns a message of the conversation; NotFound.
	MessageIn(ctx context.Context, s id.Session, m id.Message) (Message, error)
	// Before returns at most limit messages with a smaller number, ascending; before 0 means the newest.
	Before(ctx context.Context, s id.Session, before Seq, limit int) ([]Message, error)
	// After returns at most limit messages with a greater number, ascending.
	After(ctx context.Context, s id.Session, after Seq, limit int) ([]Message, error)
	// ChangedAfter returns at most limit messages whose last change has a greater number, in the order of these numbers.
	ChangedAfter(ctx context.Context, s id.Session, after ChangeSeq, limit int) ([]Message, error)
	// MarkRead moves the mark forward, settles what the user was told of what lies before it, and returns where it stands; NotFound unless the
	// user is a member.
	MarkRead(ctx context.Context, m Mark) (Reading, error)
}

// Dispatcher prepares runs; see runlog.Dispatcher.
type Dispatcher interface {
	Prepare(ctx context.Context, req runlog.Request) (runlog.NewRun, error)
}

// Messages sends and reads messages. Safe for concurrent use.
type Messages struct {
	Store      MessageStore
	Sessions   *Sessions
	Files      *Attachments
	Dispatcher Dispatcher
	Now        account.Clock
}

// Receipt says that a message is stored.
type Receipt struct {
	Message      id.Message
	Seq          Seq
	CreatedAt    time.Time
	Tasks        []id.Run
	Deduplicated bool // it was stored before; this is the first answer again
}

// Post stores a message and starts the runs that it asks for, in one transaction. The same client_msg_id of the same sender gets the
// first answer again, whatever the rest of the draft says.
func (m *Messages) Post(ctx context.Context, by account.Principal, d Draft) (Receipt, error) {
	d, text, err := d.check()
	if err != nil {
		return Receipt{}, err
	}
	session, err := m.Sessions.Store.WithAgents(ctx, d.Session, by.User)
	if err != nil {
		return Receipt{}, err
	}
	var again bool
	stored, err := settled(func() (stored Message, err error) {
		stored, again, err = m.store(ctx, by, session, d, text)
		return stored, err
	})
	if err != nil {
		return Receipt{}, err
	}
	if stored.Sender != OfUser(by.User) {
		return Receipt{}, fault.New(fault.Conflict, "Somebody else has used this client_msg_id here. Make a new UUID for each message.")
	}
	return Receipt{Message: stored.ID, Seq: stored.Seq, CreatedAt: stored.CreatedAt, Tasks: stored.Tasks, Deduplicated: again}, nil
}

// store stores a message that is new. An earlier one may have asked for agents that are gone now: it has its first answer again all the same.
func (m *Messages) store(ctx context.Context, by account.Principal, s Session, d Draft, text string) (Message, bool, error) {
	posting, err := m.prepare(ctx, by, s, d, text, func(r runlog.Request) runlog.Request { return r })
	if err == nil {
		return m.Store.Post(ctx, posting)
	}
	stored, again, lookup := m.Store.Sent(ctx, d.Session, d.ClientMsgID)
	switch {
	case lookup != nil:
		return Message{}, false, fmt.Errorf("look for earlier answer: %w", lookup)
	case !again:
		return Message{}, false, err
	}
	return stored, true, nil
}

// prepare finds the agents that the draft asks for, checks the sender's right over each, and prepares their runs as asked for.
func (m *Messages) prepare(
	ctx context.Context, by account.Principal, s Session, d Draft, text string, asked func(runlog.Request) runlog.Request,
) (Posting, error) {
	if s.ReadOnly {
		return Posting{}, ReadOnlyError()
	}
	agents, err := m.addressees(ctx, by.User, s, d, text)
	if err != nil {
		return Posting{}, err
	}
	_, some := listed(d.Mentions)
	people, err := peopleMentioned(ctx, m.Store, s.ID, some, text)
	if err != nil {
		return Posting{}, err
	}
	attached, err := m.Files.labelled(ctx, by.User, d.Attachments)
	if err != nil {
		return Posting{}, err
	}
	var given []wire.Attachment
	if len(agents) > 0 {
		if given, err = m.Files.forAgent(ctx, by.User, attached); err != nil {
			return Posting{}, err
		}
	}
	p := Posting{By: by.User, Message: Message{
		ID: id.NewMessage(), Session: s.ID, ClientMsgID: d.ClientMsgID, Sender: OfUser(by.User), ContentType: d.ContentType,
		Content: d.Content, Attachments: attached, ReplyTo: d.ReplyTo, CreatedAt: m.Now.Moment(),
	}}
	for _, agent := range agents {
		run, err := m.Dispatcher.Prepare(ctx, asked(runlog.Request{
			Session: s.ID, SessionName: s.Name, Agent: agent, Prompt: promptOf(text, s.Members), Attachments: given, Manner: p.Message.manner(),
			Trigger: p.Message.ID, RequestedBy: by.User, TraceID: d.TraceID,
		}))
		if err != nil {
			return Posting{}, err
		}
		p.Runs = append(p.Runs, run)
		p.Message.Mentions = append(p.Message.Mentions, OfAgent(agent.ID))
		p.Message.Tasks = append(p.Message.Tasks, run.ID)
	}
	p.Message.Mentions = append(p.Message.Mentions, members(nil, people)...)
	p.Notices, err = p.Message.mentioned()
	return p, err
}

// addressees returns the agents that must answer the draft. The sender must have the right to operate each of them.
func (m *Messages) addressees(ctx context.Context, user id.User, s Session, d Draft, text string) ([]fleet.Agent, error) {
	asked, _ := listed(d.Mentions)
	if err := s.agentsIn(asked); err != nil {
		return nil, err
	}
	named := agentsNamed(text, s.Members)
	if sole, ok := s.soleAgent(); ok && len(asked) == 0 && len(named) == 0 && d.ContentType == Text {
		asked = append(asked, sole)
	}
	only, err := m.addressed(ctx, user, s, d)
	if err != nil {
		return nil, err
	}
	if len(asked) == 0 && len(named) == 0 {
		asked = only
	}
	views, err := m.Sessions.Agents.ViewsOf(ctx, user, append(slices.Clone(asked), named...))
	if err != nil {
		return nil, err
	}
	return choose(asked, named, views)
}

// addressed returns whom a draft asks without a mention: the only agent of the conversation, and none that the sender may not operate.
func (m *Messages) addressed(ctx context.Context, user id.User, s Session, d Draft) ([]id.Agent, error) {
	if !d.Addressed || d.ContentType != Text {
		return nil, nil
	}
	only := s.agents()
	if len(only) != 1 {
		return nil, nil
	}
	views, err := m.Sessions.Agents.ViewsOf(ctx, user, only)
	if err != nil || len(views) == 0 || !views[0].CanOperate {
		return nil, err
	}
	return only, nil
}

// choose keeps the order of asking. Two agents of one name are told apart by whom the sender may operate.
func choose(asked, named []id.Agent, views []fleet.AgentView) ([]fleet.Agent, error) {
	byID := map[id.Agent]fleet.AgentView{}
	operable := map[string]bool{} // names of which the sender may operate at least one
	for _, v := range views {
		byID[v.ID] = v
		operable[v.Name] = operable[v.Name] || v.CanOperate
	}
	var chosen []fleet.Agent
	for i, agent := range append(slices.Clone(asked), named...) {
		view, known := byID[agent]
		byName := i >= len(asked)
		switch {
		case !known || slices.ContainsFunc(chosen, func(a fleet.Agent) bool { return a.ID == agent }):
			continue
		case byName && !view.CanOperate && operable[view.Name]:
			continue // a namesake is meant
		case !view.CanOperate:
			return nil, fleet.OperateRequired(view.Name)
		}
		chosen = append(chosen, view.Agent)
	}
	if len(chosen) > MaxMentions {
		return nil, tooManyMentions()
	}
	return chosen, nil
}
