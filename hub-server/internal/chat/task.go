package chat

import (
	"context"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// NewTask asks for one run of one agent: for a new prompt, or for a message that is already there. Exactly one of the two.
type NewTask struct {
	Session id.Session
	Agent   id.Agent // "" for the one that is meant anyway: see Session.addressee
	Prompt  string
	Trigger id.Message
	TraceID string // 32 hex, of the request

	Regenerates id.Run // the earlier run for the same message, if the new one is asked for in its stead

	Attachments []wire.Attachment // of the prompt

	Thinking wire.ThinkingLevel // "" is the agent's to choose
	Alone    bool               // fault.TaskInProgress while another run of the conversation is not over
}

// asks puts what is asked of the run into its request.
func (n NewTask) asks(r runlog.Request) runlog.Request {
	r.Thinking, r.Alone = n.Thinking, n.Alone
	return r
}

// StartTask starts the run. With a prompt, or attachments alone, that is first stored as the caller's message.
func (m *Messages) StartTask(ctx context.Context, by account.Principal, n NewTask, at account.Attempt) (runlog.Run, error) {
	return StartTaskAs(ctx, m, by, n, at, func(run runlog.Run) runlog.Run { return run })
}

// StartTaskAs is Messages.StartTask with an answer of another form, which is what is kept for a repeat.
func StartTaskAs[T any](
	ctx context.Context, m *Messages, by account.Principal, n NewTask, at account.Attempt, answer func(runlog.Run) T,
) (T, error) {
	if (n.Prompt == "" && len(n.Attachments) == 0) == (n.Trigger == "") {
		return *new(T), fault.New(fault.EmptyPrompt, "Give either a prompt or a trigger_message_id.")
	}
	return account.Once(ctx, m.Sessions.Attempts, at, func(claimed func(T) (account.Claim, error)) (T, error) {
		run, err := m.start(ctx, by, n, func(run runlog.Run) (account.Claim, error) { return claimed(answer(run)) })
		return answer(run), err
	})
}

func (m *Messages) start(ctx context.Context, by account.Principal, n NewTask, claim func(runlog.Run) (account.Claim, error)) (runlog.Run, error) {
	session, err := m.Sessions.Get(ctx, by.User, n.Session)
	if err == nil && session.ReadOnly {
		err = ReadOnlyError()
	}
	if err != nil {
		return runlog.Run{}, err
	}
	return settled(func() (runlog.Run, error) {
		if n.Trigger != "" {
			return m.startForMessage(ctx, by, session, n, claim)
		}
		return m.startForPrompt(ctx, by, session, n, claim)
	})
}

// Compact starts a run in which an agent of the conversation only makes its context smaller. fault.TaskInProgress while another run is not over,
// fault.UnsupportedByRuntime for an agent that cannot.
func (m *Messages) Compact(ctx context.Context, by account.Principal, session id.Session, agent id.Agent, traceID string) (runlog.Run, error) {
	found, err := m.Sessions.Store.WithAgents(ctx, session, by.User)
	if err != nil {
		return runlog.Run{}, err
	}
	may, err := m.operable(ctx, by.User, found, agent)
	if err != nil {
		return runlog.Run{}, err
	}
	return settled(func() (runlog.Run, error) {
		run, err := m.Dispatcher.Prepare(ctx, runlog.Request{
			Session: session, SessionName: found.Name, Agent: may, RequestedBy: by.User, TraceID: traceID, Compact: true, Alone: true,
		})
		if err != nil {
			return runlog.Run{}, err
		}
		return run.Run, m.Store.Start(ctx, by.User, run)
	})
}

// Regenerate starts a new run of the same agent for the message that triggered an earlier one, which stays as it is; fault.RunActive while
// that is not over.
func (m *Messages) Regenerate(
	ctx context.Context, by account.Principal, earlier runlog.Run, traceID string, at account.Attempt,
) (runlog.Run, error) {
	switch {
	case !earlier.State.Ended():
		return runlog.Run{}, fault.New(fault.RunActive, "The run is not over yet (%s). Wait for its end, or cancel it.", earlier.State)
	case earlier.Trigger == "":
		return runlog.Run{}, fault.New(fault.Conflict, "No message triggered this run. Start another one with a prompt.")
	}
	return m.StartTask(ctx, by, NewTask{
		Session: earlier.Session, Agent: earlier.Agent, Trigger: earlier.Trigger, TraceID: traceID, Regenerates: earlier.ID,
	}, at)
}

func (m *Messages) startForPrompt(
	ctx context.Context, by account.Principal, s Session, n NewTask, claim func(runlog.Run) (account.Claim, error),
) (runlog.Run, error) {
	var err error
	if n.Agent, err = s.addressee(n.Agent, n.Prompt); err != nil {
		return runlog.Run{}, err
	}
	content, err := textContent(n.Prompt)
	if err != nil {
		return runlog.Run{}, err
	}
	d, text, err := Draft{
		Session: s.ID, ClientMsgID: newClientMsgID(), Content: content, Attachments: n.Attachments, Mentions: []MemberID{OfAgent(n.Agent)},
		TraceID: n.TraceID,
	}.check()
	if err != nil {
		return runlog.Run{}, err
	}
	s.Members = only(s.Members, OfAgent(n.Agent)) // an @name of another agent in the prompt starts nothing
	posting, err := m.prepare(ctx, by, s, d, text, n.asks)
	if err != nil {
		return runlog.Run{}, err
	}
	if len(posting.Runs) == 0 {
		return runlog.Run{}, agentUnknown()
	}
	run := posting.Runs[0].Run
	c, err := claim(run)
	if err != nil {
		return runlog.Run{}, err
	}
	return run, m.Store.PostOnce(ctx, posting, c)
}

func (m *Messages) startForMessage(
	ctx context.Context, by account.Principal, s Session, n NewTask, claim func(runlog.Run) (account.Claim, error),
) (runlog.Run, error) {
	trigger, err := m.Store.MessageIn(ctx, s.ID, n.Trigger)
	if err != nil {
		return runlog.Run{}, err
	}
	if trigger.Recalled {
		return runlog.Run{}, recalled()
	}
	if n.Agent, err = s.addressee(n.Agent, trigger.text()); err != nil {
		return runlog.Run{}, err
	}
	agent, err := m.operable(ctx, by.User, s, n.Agent)
	if err != nil {
		return runlog.Run{}, err
	}
	given, err := m.Files.forAgent(ctx, by.User, trigger.Attachments)
	if err != nil {
		return runlog.Run{}, err
	}
	run, err := m.Dispatcher.Prepare(ctx, n.asks(runlog.Request{
		Session: s.ID, SessionName: s.Name, Agent: agent, Prompt: promptOf(trigger.text(), s.Members), Attachments: given, Manner: trigger.manner(),
		Trigger: trigger.ID, RequestedBy: by.User, TraceID: n.TraceID, Regenerates: n.Regenerates,
	}))
	if err != nil {
		return runlog.Run{}, err
	}
	c, err := claim(run.Run)
	if err != nil {
		return runlog.Run{}, err
	}
	return run.Run, m.Store.StartOnce(ctx, by.User, run, c)
}

// operable returns an agent of the conversation that the user may operate.
func (m *Messages) operable(ctx context.Context, user id.User, s Session, agent id.Agent) (fleet.Agent, error) {
	if _, ok := s.member(OfAgent(agent)); !ok {
		return fleet.Agent{}, agentUnknown()
	}
	views, err := m.Sessions.Agents.ViewsOf(ctx, user, []id.Agent{agent})
	switch {
	case err != nil:
		return fleet.Agent{}, err
	case len(views) == 0:
		return fleet.Agent{}, agentUnknown()
	case !views[0].CanOperate:
		return fleet.Agent{}, fleet.OperateRequired(views[0].Name)
	}
	return views[0].Agent, nil
}

// addressee is the agent that a task is for when it names none: the one that the text names, else the only one in the conversation (R33).
func (s Session) addressee(asked id.Agent, text string) (id.Agent, error) {
	if asked != "" {
		return asked, nil
	}
	meant := agentsNamed(text, s.Members)
	if len(meant) == 0 {
		meant = s.agents()
	}
	if len(meant) != 1 {
		return "", fault.New(fault.AgentUnknown, "It is not clear which of %d agents is meant. Say which one by its id, or name it in the text.", len(meant))
	}
	return meant[0], nil
}

func only(members []Member, m MemberID) []Member {
	if found, ok := (Session{Members: members}).member(m); ok {
		return []Member{found}
	}
	return nil
}

func agentUnknown() error {
	return fault.New(fault.AgentUnknown, "This agent is not in the conversation. Add it first.")
}
