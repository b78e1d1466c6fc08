package httpapi

import (
	"cmp"
	"context"
	"fmt"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// policy knows who may do what to which resource.
type policy struct {
	sessions *chat.Sessions
	changes  *chat.Changes
	agents   *fleet.Agents
	edges    *fleet.Edges
	runs     *runlog.Runs
	files    *chat.Attachments
}

// check says whether a person may act on the resource that the path names: nil, or NotFound for what is not theirs to know of (SEC11),
// or the code of what they lack.
type check func(ctx context.Context, p *policy, by account.Principal, path func(name string) string) error

func administer(_ context.Context, _ *policy, by account.Principal, _ func(string) string) error {
	if by.Role != account.Admin {
		return fault.New(fault.Forbidden, "Only an administrator of this hub may do that.")
	}
	return nil
}

func readSession(ctx context.Context, p *policy, by account.Principal, path func(string) string) error {
	session, err := pathID(id.ParseSession, path("session_id"))
	if err != nil {
		return err
	}
	return p.member(ctx, by.User, session)
}

// member is the right to read a conversation and everything in it.
func (p *policy) member(ctx context.Context, user id.User, session id.Session) error {
	in, err := p.sessions.IsMember(ctx, user, session)
	if err != nil {
		return fmt.Errorf("check membership: %w", err)
	}
	if !in {
		return notThere()
	}
	return nil
}

// readMessage is the right to read the conversation that a message is in.
func readMessage(ctx context.Context, p *policy, by account.Principal, path func(string) string) error {
	message, err := pathID(id.ParseMessage, path("message_id"))
	if err != nil {
		return err
	}
	_, err = p.changes.Find(ctx, by.User, message)
	return hide(err)
}

func seeAgent(ctx context.Context, p *policy, by account.Principal, path func(string) string) error {
	agent, err := pathID(id.ParseAgent, path("agent_id"))
	if err != nil {
		return err
	}
	_, err = p.agents.Get(ctx, by.User, agent)
	return hide(err)
}

func operateEdge(ctx context.Context, p *policy, by account.Principal, path func(string) string) error {
	_, err := p.edge(ctx, by, path)
	return err
}

func ownEdge(ctx context.Context, p *policy, by account.Principal, path func(string) string) error {
	view, err := p.edge(ctx, by, path)
	if err == nil && view.Owner != by.User {
		err = fault.New(fault.Forbidden, "Only the owner of this edge may do that.")
	}
	return err
}

func (p *policy) edge(ctx context.Context, by account.Principal, path func(string) string) (fleet.View, error) {
	edge, err := pathID(id.ParseEdge, path("edge_id"))
	if err != nil {
		return fleet.View{}, err
	}
	view, err := p.edges.Get(ctx, by.User, edge)
	return view, hide(err)
}

func readRun(ctx context.Context, p *policy, by account.Principal, path func(string) string) error {
	_, err := p.run(ctx, by, path)
	return err
}

// operateRun is the right to steer a run: to be in its conversation, and to operate its agent now.
func operateRun(ctx context.Context, p *policy, by account.Principal, path func(string) string) error {
	run, err := p.run(ctx, by, path)
	if err != nil {
		return err
	}
	views, err := p.agents.ViewsOf(ctx, by.User, []id.Agent{run.Agent})
	if err != nil {
		return err
	}
	if len(views) == 0 || !views[0].CanOperate {
		return fleet.OperateRequired(run.AgentName)
	}
	return nil
}

func (p *policy) run(ctx context.Context, by account.Principal, path func(string) string) (runlog.Run, error) {
	runID, err := pathID(id.ParseRun, cmp.Or(path("run_id"), path("task_id"))) // S2's name and S3's
	if err != nil {
		return runlog.Run{}, err
	}
	run, err := p.runs.Get(ctx, runID)
	if err != nil {
		return runlog.Run{}, hide(err)
	}
	return run, p.member(ctx, by.User, run.Session)
}

func readArtifact(ctx context.Context, p *policy, by account.Principal, path func(string) string) error {
	artifactID, err := pathID(id.ParseArtifact, path("artifact_id"))
	if err != nil {
		return err
	}
	artifact, err := p.runs.Artifact(ctx, artifactID)
	if err != nil {
		return hide(err)
	}
	run, err := p.runs.Get(ctx, artifact.Run)
	if err != nil {
		return hide(err)
	}
	return p.member(ctx, by.User, run.Session)
}

func readFile(ctx context.Context, p *policy, by account.Principal, path func(string) string) error {
	file, err := pathID(id.ParseAttachment, path("attachment_id"))
	if err != nil {
		return err
	}
	_, err = p.files.Get(ctx, by.User, file)
	return hide(err)
}

// pathID reads an id out of a path. One that cannot be an id names nothing, as one that belongs to somebody else.
func pathID[T ~string](parse func(string) (T, error), s string) (T, error) {
	parsed, err := parse(s)
	if err != nil {
		return "", notThere()
	}
	return parsed, nil
}

// hide makes every not-found look alike, whatever its sentence was.
func hide(err error) error {
	if fault.CodeOf(err) == fault.NotFound {
		return notThere()
	}
	return err
}

func notThere() error {
	return fault.New(fault.NotFound, "There is nothing here, or it is not yours to see.")
}
