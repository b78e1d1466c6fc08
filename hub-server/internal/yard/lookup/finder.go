package lookup

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/id"
)

const (
	pageSize = 200
	maxPages = 20 // of runs and conversations; what is older is named by its whole id
	lastRuns = 20 // whose artifacts are looked through
)

// Finder finds things on a hub.
type Finder struct {
	api client.ClientInterface
}

// New returns a finder.
func New(api client.ClientInterface) Finder { return Finder{api: api} }

// Session finds a conversation.
func (f Finder) Session(ctx context.Context, ref string) (client.Session, error) {
	if _, err := id.ParseSession(ref); err == nil {
		return client.Decode[client.Session](f.api.GetSession(ctx, ref))
	}
	named, err := client.Decode[client.SessionList](f.api.ListSessions(ctx, &client.ListSessionsParams{Name: &ref}))
	if err != nil {
		return client.Session{}, fmt.Errorf("find conversation: %w", err)
	}
	all := named.Items
	if len(all) == 0 {
		if all, err = f.Sessions(ctx, pageSize*maxPages); err != nil {
			return client.Session{}, err
		}
	}
	return choose(kind{"conversation", "yard sessions"}, ref, all, func(s client.Session) thing { return thing{s.ID, s.Name} })
}

// Sessions lists up to limit conversations, the most recently changed first.
func (f Finder) Sessions(ctx context.Context, limit int) ([]client.Session, error) {
	return pages(limit, func(size int, after *string) ([]client.Session, string, error) {
		list, err := client.Decode[client.SessionList](f.api.ListSessions(ctx, &client.ListSessionsParams{Limit: &size, After: after}))
		return list.Items, list.Next, err
	})
}

// Runs lists up to limit runs, the newest first.
func (f Finder) Runs(ctx context.Context, limit int, which client.ListAgentTasksParams) ([]client.AgentTask, error) {
	return pages(limit, func(size int, after *string) ([]client.AgentTask, string, error) {
		which.Limit, which.After = &size, after
		list, err := client.Decode[client.AgentTaskList](f.api.ListAgentTasks(ctx, &which))
		return list.Items, list.Next, err
	})
}

// pages collects up to limit items from a paged list.
func pages[T any](limit int, get func(size int, after *string) ([]T, string, error)) ([]T, error) {
	all := []T{}
	var after *string
	for len(all) < limit {
		items, next, err := get(min(pageSize, limit-len(all)), after)
		if err != nil {
			return nil, err
		}
		all = append(all, items...)
		if next == "" {
			break
		}
		after = &next
	}
	return all[:min(limit, len(all))], nil
}

// Run finds a run.
func (f Finder) Run(ctx context.Context, ref string) (client.AgentTask, error) {
	if _, err := id.ParseRun(ref); err == nil {
		return client.Decode[client.AgentTask](f.api.GetAgentTask(ctx, ref))
	}
	all, err := f.Runs(ctx, pageSize*maxPages, client.ListAgentTasksParams{})
	if err != nil {
		return client.AgentTask{}, fmt.Errorf("find run: %w", err)
	}
	return choose(kind{"run", "yard runs"}, ref, all, func(t client.AgentTask) thing { return thing{t.ID, ""} })
}

// Prompts lists up to limit questions that the caller may answer, the oldest first.
func (f Finder) Prompts(ctx context.Context, limit int, state client.PromptState) ([]client.Prompt, error) {
	return pages(limit, func(size int, after *string) ([]client.Prompt, string, error) {
		list, err := client.Decode[client.PromptList](f.api.ListPrompts(ctx, &client.ListPromptsParams{State: &state, Limit: &size, After: after}))
		return list.Items, list.Next, err
	})
}

// Prompt finds a question that waits for an answer; one that does not any more only by its whole id.
func (f Finder) Prompt(ctx context.Context, ref string) (client.Prompt, error) {
	k := kind{"request", "yard prompts"}
	as := func(p client.Prompt) thing { return thing{p.RequestID, ""} }
	states := []client.PromptState{client.PromptStatePending}
	if _, err := id.ParseRequest(ref); err == nil {
		states = append(states, client.PromptStateAnswered, client.PromptStateCancelled)
	}
	var missing error
	for _, state := range states {
		all, err := f.Prompts(ctx, pageSize*maxPages, state)
		if err != nil {
			return client.Prompt{}, fmt.Errorf("find request: %w", err)
		}
		found, err := choose(k, ref, all, as)
		if !errors.Is(err, ErrNone) {
			return found, err
		}
		missing = err
	}
	return client.Prompt{}, missing
}

// Agent finds an agent; its name may have an @ before it. Of several with one name, the one that the caller may operate is meant.
func (f Finder) Agent(ctx context.Context, ref string) (client.Agent, error) {
	list, err := client.Decode[client.AgentList](f.api.ListAgents(ctx))
	if err != nil {
		return client.Agent{}, fmt.Errorf("find agent: %w", err)
	}
	return AgentNamed(list.Items, ref)
}

// AgentNamed finds an agent among agents; see Finder.Agent.
func AgentNamed(agents []client.Agent, ref string) (client.Agent, error) {
	ref = strings.TrimPrefix(ref, "@")
	var mine []client.Agent
	for _, a := range agents {
		if a.Name == ref && a.CanOperate {
			mine = append(mine, a)
		}
	}
	if len(mine) == 1 {
		return mine[0], nil
	}
	return choose(kind{"agent", "yard agents"}, ref, agents, func(a client.Agent) thing { return thing{a.ID, a.Name} })
}

// Edge finds an edge.
func (f Finder) Edge(ctx context.Context, ref string) (client.Edge, error) {
	list, err := client.Decode[client.EdgeList](f.api.ListEdges(ctx))
	if err != nil {
		return client.Edge{}, fmt.Errorf("find edge: %w", err)
	}
	return choose(kind{"edge", "yard edges"}, ref, list.Items, func(e client.Edge) thing { return thing{e.ID, e.Name} })
}

// Device finds a device of the caller.
func (f Finder) Device(ctx context.Context, ref string) (client.Device, error) {
	list, err := client.Decode[client.DeviceList](f.api.ListDevices(ctx))
	if err != nil {
		return client.Device{}, fmt.Errorf("find device: %w", err)
	}
	return choose(kind{"device", "yard devices"}, ref, list.Items, func(d client.Device) thing { return thing{d.ID, d.Name} })
}

// Artifact finds an artifact: by its whole id anywhere, by the beginning of the id or the file name among the newest runs.
func (f Finder) Artifact(ctx context.Context, ref string) (client.Artifact, error) {
	if _, err := id.ParseArtifact(ref); err == nil {
		return client.Decode[client.Artifact](f.api.GetArtifact(ctx, ref))
	}
	runs, err := f.Runs(ctx, lastRuns, client.ListAgentTasksParams{})
	if err != nil {
		return client.Artifact{}, fmt.Errorf("find artifact: %w", err)
	}
	var all []client.Artifact
	for _, run := range runs {
		list, err := client.Decode[client.ArtifactList](f.api.ListAgentTaskArtifacts(ctx, run.ID))
		if err != nil {
			return client.Artifact{}, fmt.Errorf("find artifact: %w", err)
		}
		all = append(all, list.Items...)
	}
	return choose(kind{"artifact", "yard artifacts RUN"}, ref, all, func(a client.Artifact) thing { return thing{a.ID, a.Filename} })
}

func choose[T any](k kind, ref string, items []T, as func(T) thing) (T, error) {
	things := make([]thing, len(items))
	for i, item := range items {
		things[i] = as(item)
	}
	i, err := pick(k, ref, things)
	if err != nil {
		var none T
		return none, err
	}
	return items[i], nil
}
