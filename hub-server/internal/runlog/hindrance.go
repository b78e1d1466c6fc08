package runlog

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// trouble is why a run makes no progress, in the words of a notice.
type trouble struct {
	run    id.Run
	notice event.NoticePayload
}

// troubles returns what keeps runs from going on, one run for each conversation and topic.
func (h *Herald) troubles(ctx context.Context) (map[Told]trouble, error) {
	found := map[Told]trouble{}
	if err := h.ofOpen(ctx, found); err != nil {
		return nil, err
	}
	return found, h.ofWaiting(ctx, found)
}

// add keeps the first run of each conversation and topic.
func add(found map[Told]trouble, r Run, notice event.NoticePayload) {
	t := Told{r.Session, notice.Topic}
	if _, known := found[t]; !known {
		found[t] = trouble{r.ID, notice}
	}
}

// ofOpen looks at runs that an edge has: it may be away, or the hub may take nothing from it.
func (h *Herald) ofOpen(ctx context.Context, found map[Told]trouble) error {
	open, err := h.runs.store.OpenRuns(ctx, "")
	if err != nil {
		return err
	}
	away, err := h.runs.away(ctx, open)
	if err != nil {
		return err
	}
	refused := map[id.Edge]bool{}
	for _, r := range open {
		if away[r.Edge] {
			add(found, r, event.NoticePayload{
				Topic: event.TopicEdgeOffline, Summary: fmt.Sprintf("The machine on which %s works is not connected.", r.AgentName),
				ActionHint: "Start edge-server there. What it does meanwhile is not lost.",
			})
			continue
		}
		if _, read := refused[r.Edge]; !read {
			e, err := h.runs.dispatcher.edges.Edge(ctx, r.Edge)
			if err != nil {
				return fmt.Errorf("read edge %s: %w", r.Edge, err)
			}
			refused[r.Edge] = e.Refused != ""
		}
		if refused[r.Edge] {
			add(found, r, event.NoticePayload{
				Topic: event.TopicRuntimeDegraded, Summary: fmt.Sprintf("The hub takes nothing from the machine on which %s works.", r.AgentName),
				ActionHint: "`yard edges` shows why.",
			})
		}
	}
	return nil
}

// ofWaiting looks at runs that no edge has: none that may is here, or none can.
func (h *Herald) ofWaiting(ctx context.Context, found map[Told]trouble) error {
	edges := map[id.User][]fleet.Edge{}
	for after := id.Run(""); ; {
		waiting, err := h.runs.commands.WaitingRuns(ctx, after, waitingPage)
		if err != nil || len(waiting) == 0 {
			return err
		}
		after = waiting[len(waiting)-1].ID
		for _, n := range waiting {
			owned, known := edges[n.Placement.Owner]
			if !known {
				if owned, err = h.runs.dispatcher.edges.EdgesOf(ctx, n.Placement.Owner); err != nil {
					return fmt.Errorf("read edges: %w", err)
				}
				edges[n.Placement.Owner] = owned
			}
			if notice, ok := h.hindrance(n, owned); ok {
				add(found, n.Run, notice)
			}
		}
	}
}

// hindrance is why a run waits for an edge; false if one that is here will have it.
func (h *Herald) hindrance(n NewRun, owned []fleet.Edge) (event.NoticePayload, bool) {
	if why := n.Placement.obstacle(n.AgentName, owned); why != "" {
		summary, hint, more := strings.Cut(why, ". ")
		if more {
			summary += "."
		}
		return event.NoticePayload{Topic: event.TopicRuntimeDegraded, Summary: summary, ActionHint: hint}, true
	}
	if slices.ContainsFunc(owned, func(e fleet.Edge) bool { return n.Placement.Fits(e) && h.runs.presence.Online(e.ID) }) {
		return event.NoticePayload{}, false
	}
	return event.NoticePayload{
		Topic: event.TopicEdgeOffline, Summary: fmt.Sprintf("No machine that can run %s is connected.", n.AgentName),
		ActionHint: "Start edge-server there: the task begins by itself.",
	}, true
}
