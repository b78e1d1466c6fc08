package simulator

import (
	"context"
	"slices"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// view is the store as one hub process has it: every call takes a while, and so does the answer to a write. Its clock is the hub's.
type view struct {
	*store
	hub *hub
}

var (
	_ runlog.Store = view{}
	_ runlog.Edges = view{}
)

// now is the wall clock of the hub.
func (v view) now() time.Time { return v.world.now.Add(v.hub.skew).UTC() }

// write applies a change between two rests: a process can be killed before it, and after it with nobody having heard.
func (v view) write(ctx context.Context, change func() error) error {
	if err := rest(ctx); err != nil {
		return err
	}
	if err := change(); err != nil {
		return err
	}
	return rest(ctx)
}

// OpenLane implements runlog.LaneStore.
func (v view) OpenLane(ctx context.Context, edge id.Edge, hello wire.Hello) (lane runlog.LaneState, fresh bool, err error) {
	err = v.write(ctx, func() error {
		l := v.lane(edge, hello.Incarnation)
		if l == nil {
			fresh = slices.ContainsFunc(v.lanes, func(l *laneRecord) bool { return l.edge == edge })
			l = &laneRecord{edge: edge, incarnation: hello.Incarnation}
			v.lanes = append(v.lanes, l)
		}
		f := v.fences[edge]
		if f == nil {
			f = &fence{}
			v.fences[edge] = f
		}
		f.number++
		f.lane, f.holder, f.life, f.since = l, v.hub, v.hub.life, v.world.now
		lane = runlog.LaneState{
			Edge: edge, Incarnation: hello.Incarnation, Watermark: l.watermark, Chain: l.chain, Fence: f.number, Epoch: v.epoch,
		}
		v.world.say(v.hub.name, "takes %s, fence %d, watermark %d", name(v.world, edge), f.number, l.watermark)
		return nil
	})
	return lane, fresh, err
}

// Holder implements runlog.LaneStore. The list of hubs is kept here as it should be.
func (v view) Holder(ctx context.Context, edge id.Edge) (runlog.Holder, error) {
	if err := rest(ctx); err != nil {
		return runlog.Holder{}, err
	}
	f := v.fences[edge]
	if f == nil {
		return runlog.Holder{}, nil
	}
	elsewhere := f.holder != v.hub && f.holder.up && f.holder.life == f.life
	return runlog.Holder{Fence: f.number, Elsewhere: v.world.broken.held(elsewhere)}, nil
}

// RecordGap implements runlog.LaneStore. Journals here keep everything.
func (v view) RecordGap(context.Context, runlog.LaneState, runlog.Gap) error {
	return fault.New(fault.Internal, "no journal of this world has a gap")
}

// CommitFrame implements runlog.LaneStore.
func (v view) CommitFrame(ctx context.Context, f runlog.LaneFrame) (res runlog.LaneResult, err error) {
	err = v.write(ctx, func() error {
		l, now := v.laneNow(f.Lane)
		held := now.Held
		var ok bool
		if res, ok = f.Meets(v.world.broken.lane(now, f)); !ok {
			return nil
		}
		if !held {
			v.world.fail("%s committed rows of %s without holding its lane", v.hub.name, name(v.world, f.Lane.Edge))
		}
		heads := map[id.Run]runlog.Head{}
		for _, runID := range f.Runs() {
			if r, known := v.byRun[runID]; known {
				heads[runID] = v.world.broken.head(r.head())
			}
		}
		grown, refused := f.Apply(heads)
		for _, row := range refused {
			v.world.fail("row %d of %s went to quarantine: %s", row.Seq, name(v.world, f.Lane.Edge), row.Code)
		}
		for _, row := range f.Rows {
			seq := laneSeq{f.Lane.Incarnation, row.Seq}
			if v.applied[seq]++; v.applied[seq] > 1 {
				v.world.fail("row %d of %s was applied again", row.Seq, name(v.world, f.Lane.Edge))
			}
		}
		for _, g := range grown {
			v.save(v.byRun[g.Run], g, v.now())
		}
		l.watermark, l.chain = f.Last(), f.Chain
		v.world.say(v.hub.name, "commits %s up to %d", name(v.world, f.Lane.Edge), l.watermark)
		return nil
	})
	return res, err
}

// KnownEvents implements runlog.LaneStore. No journal here is put back from a copy.
func (v view) KnownEvents(context.Context, runlog.LaneState, id.Run, []id.Event) (map[id.Event]bool, error) {
	return map[id.Event]bool{}, nil
}

// RecreateRun implements runlog.LaneStore. The store here loses no run.
func (v view) RecreateRun(_ context.Context, n runlog.NewRun) (bool, error) {
	v.world.fail("%s asks for %s to be made again", v.hub.name, name(v.world, n.ID))
	return false, nil
}

// RemakeEpoch implements runlog.LaneStore.
func (v view) RemakeEpoch(context.Context) (wire.Epoch, error) {
	v.world.fail("%s takes its store for one that was rolled back", v.hub.name)
	return v.epoch, nil
}

// Run implements runlog.RunStore.
func (v view) Run(ctx context.Context, runID id.Run) (runlog.Run, error) {
	if err := rest(ctx); err != nil {
		return runlog.Run{}, err
	}
	r, err := v.find(runID)
	if err != nil {
		return runlog.Run{}, err
	}
	return v.seen(r), nil
}

// Runs implements runlog.RunStore. Nobody here lists runs.
func (v view) Runs(ctx context.Context, _ runlog.Query) ([]runlog.Run, error) {
	return v.filter(ctx, func(*runRecord) bool { return true })
}

func (v view) filter(ctx context.Context, wanted func(*runRecord) bool) (found []runlog.Run, err error) {
	if err := rest(ctx); err != nil {
		return nil, err
	}
	for _, r := range v.runs {
		if wanted(r) {
			found = append(found, v.seen(r))
		}
	}
	return found, nil
}

// OpenRuns implements runlog.RunStore.
func (v view) OpenRuns(ctx context.Context, edge id.Edge) ([]runlog.Run, error) {
	return v.filter(ctx, func(r *runRecord) bool {
		return !r.State.Ended() && !r.ProcessEnded && r.Edge != "" && (edge == "" || r.Edge == edge)
	})
}

// AbandonedRuns implements runlog.SuccessionStore.
func (v view) AbandonedRuns(ctx context.Context) ([]runlog.Run, error) {
	return v.filter(ctx, func(r *runRecord) bool { return r.ProcessEnded && !r.State.Ended() })
}

// AppendOwn implements runlog.RunStore.
func (v view) AppendOwn(ctx context.Context, runID id.Run, last runlog.EventSeq, entries []runlog.Entry) (done bool, err error) {
	err = v.write(ctx, func() error {
		r, err := v.find(runID)
		if err != nil {
			return err
		}
		var g *runlog.Growth
		if g, done = v.world.broken.head(r.head()).Extend(last, entries); done {
			v.givenUp(r, entries)
			v.save(r, g, v.now())
		}
		return nil
	})
	return done, err
}

// givenUp holds the end of a run for the absence of its edge to where the edge was for all that time.
func (v view) givenUp(r *runRecord, entries []runlog.Entry) {
	f := v.fences[r.Edge]
	if f == nil || f.holder == v.hub || v.world.now.Sub(f.since) < interruptAfter {
		return
	}
	absent := slices.ContainsFunc(entries, func(e runlog.Entry) bool { return e.Type == event.RunInterrupted })
	there := slices.ContainsFunc(f.holder.links, func(l *link) bool { return l.edge.id == r.Edge && l.works() && l.state.Fence == f.number })
	if absent && there {
		v.world.fail("%s gave up %s, whose edge was at %s all the while", v.hub.name, name(v.world, r.ID), f.holder.name)
	}
}

// ClientTools implements runlog.PersonStore. Nobody here offers any.
func (v view) ClientTools(context.Context, id.Session, id.User) ([]wire.ClientTool, error) {
	return nil, nil
}

// Dispatched implements runlog.SuccessionStore.
func (v view) Dispatched(ctx context.Context, runID id.Run) (runlog.NewRun, error) {
	if err := rest(ctx); err != nil {
		return runlog.NewRun{}, err
	}
	r, err := v.find(runID)
	if err != nil {
		return runlog.NewRun{}, err
	}
	return r.NewRun, nil
}

// Events implements runlog.EventStore.
func (v view) Events(ctx context.Context, runID id.Run, after runlog.EventSeq, limit int) ([]runlog.StoredEvent, runlog.EventSeq, error) {
	events, err := v.EventsUpTo(ctx, runID, after, after+runlog.EventSeq(limit)) //nolint:gosec // limits of pages are positive
	if err != nil {
		return nil, 0, err
	}
	r, err := v.find(runID)
	return events, r.LastEventSeq, err
}

// EventsUpTo implements runlog.EventStore.
func (v view) EventsUpTo(ctx context.Context, runID id.Run, after, upTo runlog.EventSeq) ([]runlog.StoredEvent, error) {
	if err := rest(ctx); err != nil {
		return nil, err
	}
	r, err := v.find(runID)
	if err != nil {
		return nil, err
	}
	end := runlog.EventSeq(len(r.events))
	return slices.Clone(r.events[min(after, end):min(upTo, end)]), nil
}

// Edges of the owner.
func (v view) EdgesOf(ctx context.Context, owner id.User) (found []fleet.Edge, err error) {
	if err := rest(ctx); err != nil {
		return nil, err
	}
	for _, e := range v.edges {
		if e.Owner == owner {
			found = append(found, e)
		}
	}
	return found, nil
}

// Edge implements runlog.Edges.
func (v view) Edge(ctx context.Context, edge id.Edge) (fleet.Edge, error) {
	if err := rest(ctx); err != nil {
		return fleet.Edge{}, err
	}
	i := slices.IndexFunc(v.edges, func(e fleet.Edge) bool { return e.ID == edge })
	if i < 0 {
		return fleet.Edge{}, fault.New(fault.NotFound, "There is no such edge.")
	}
	return v.edges[i], nil
}

// WaitingRuns implements runlog.CommandStore.
func (v view) WaitingRuns(ctx context.Context, after id.Run, limit int) (found []runlog.NewRun, err error) {
	if err := rest(ctx); err != nil {
		return nil, err
	}
	from := 1 + slices.IndexFunc(v.runs, func(r *runRecord) bool { return r.ID == after })
	for _, r := range v.runs[from:] {
		if r.State == run.StateWaitingEdge && len(found) < limit {
			found = append(found, r.NewRun)
		}
	}
	return found, nil
}

// ClaimWaiting implements runlog.CommandStore.
func (v view) ClaimWaiting(ctx context.Context, ready []runlog.NewRun) error {
	return v.write(ctx, func() error {
		for _, n := range ready {
			r := v.byRun[n.ID]
			if r.State != run.StateWaitingEdge {
				continue
			}
			r.State, r.Edge, r.Lease, r.Command, r.Frame = run.StateDispatched, n.Edge, n.Lease, n.Command, n.Frame
			v.dispatched(n)
			v.world.say(v.hub.name, "dispatches %s to %s", name(v.world, n.ID), name(v.world, n.Edge))
		}
		return nil
	})
}
