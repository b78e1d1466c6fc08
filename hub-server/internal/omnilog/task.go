package omnilog

import (
	"context"
	"slices"

	"github.com/switchyard-dev/switchyard/hub-server/internal/project/omni"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Active is a run that has not ended.
type Active struct {
	Run   id.Run
	Begun bool
}

// Task is how a conversation stands. Which runs are active was read before the facts were that it is told with: of one that is not among them,
// everything has been told.
type Task struct {
	Active     []Active
	Compacting bool         // one of them makes its context smaller
	Steering   []omni.Steer // said to them and not taken yet
}

func (t Task) equal(other Task) bool {
	return t.Compacting == other.Compacting && slices.Equal(t.Active, other.Active) && slices.Equal(t.Steering, other.Steering)
}

// standing is a task with the place at which it holds. The version changes whenever the task does.
type standing struct {
	Task
	version int
	place   int64
}

// stand notes how the conversation stands at its end, and has the readers look if that has changed.
func (n *line) stand() {
	s := n.fold.state
	now := Task{Active: n.active, Compacting: len(s.Compacting()) > 0, Steering: s.Steering()}
	n.logs.mu.Lock()
	defer n.logs.mu.Unlock()
	if n.task.version == 0 || !now.equal(n.task.Task) {
		n.task.Task = now
		n.task.version++
		n.signal()
	}
	n.task.place = s.Place()
}

// Task is how the conversation stands, with a number that changes when that does; false for a reader who has not come to where it holds.
func (r *Reader) Task() (now Task, version int, ok bool) {
	l := r.line.logs
	l.mu.Lock()
	defer l.mu.Unlock()
	t := r.line.task
	return t.Task, t.version, r.after >= t.place
}

// look reads which runs are active, if that may have changed. It comes before the reading of facts.
func (n *line) look(ctx context.Context) error {
	if !n.moved.Swap(false) {
		return nil
	}
	active, err := n.logs.store.Active(ctx, n.session)
	if err != nil {
		n.moved.Store(true)
		return err
	}
	n.active = active
	return nil
}

// moves says of a fact that another run may be active behind it, or one less.
func moves(f omni.Fact) bool {
	return f.Event == event.RunQueued || f.Event == event.RunStarted || f.Event.Terminal()
}
