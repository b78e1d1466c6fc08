package omnilog

import (
	"slices"

	"github.com/switchyard-dev/switchyard/hub-server/internal/project/omni"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	message "github.com/switchyard-dev/switchyard/shared/omni"
)

// Rules is the number of what the fold tells and remembers. It is raised where a state of an older fold would make other messages of the same facts.
const Rules = 1

// Entry is what one fact is for those who read the conversation.
type Entry struct {
	Place    int64
	Edge     id.Edge // of the run that says so, "" for none
	Messages []message.Message
	Asked    []omni.Ask // permissions that wait for a person since then
	Task     *Task      // how the conversation stands since then, if that has changed
}

func (e Entry) bytes() (n int) {
	for _, m := range e.Messages {
		n += len(m.Bytes())
	}
	return n
}

// Task is how a conversation stands.
type Task struct {
	Active     []omni.Active // runs that have not ended
	Compacting bool          // one of them makes its context smaller
	Steering   []omni.Steer  // said to them and not taken yet
}

func (t Task) equal(other Task) bool {
	return t.Compacting == other.Compacting && slices.Equal(t.Active, other.Active) && slices.Equal(t.Steering, other.Steering)
}

func taskOf(s *omni.State) Task {
	return Task{Active: s.Active(), Compacting: len(s.Compacting()) > 0, Steering: s.Steering()}
}

// fold is a conversation up to a place, and makes entries of what comes next. It belongs to one goroutine at a time.
type fold struct {
	state *omni.State
	task  Task
}

// foldAt goes on from a checkpoint.
func foldAt(cp Checkpoint) (*fold, error) {
	if cp.State == nil {
		return foldFrom(cp.Session, cp.Place), nil
	}
	state, err := omni.Restore(cp.State)
	if err != nil {
		return nil, err
	}
	return &fold{state: state, task: taskOf(state)}, nil
}

// foldFrom knows nothing of what lies up to a place.
func foldFrom(session id.Session, place int64) *fold {
	state := omni.New(session)
	state.Apply(omni.Fact{Place: place})
	return &fold{state: state}
}

// apply returns what a fact is, false if it is nothing for anybody.
func (f *fold) apply(fact Fact) (Entry, bool) {
	e := Entry{Place: fact.Place, Edge: fact.Edge}
	if frequent(fact.Event) {
		e.Messages = f.state.Apply(fact.Fact)
		return e, len(e.Messages) > 0
	}
	var before []omni.Ask
	if fact.Event == event.PromptRequested {
		before = f.state.Asks()
	}
	e.Messages = f.state.Apply(fact.Fact)
	if fact.Event == event.PromptRequested {
		e.Asked = slices.DeleteFunc(f.state.Asks(), func(a omni.Ask) bool {
			return slices.ContainsFunc(before, func(b omni.Ask) bool { return b.Request == a.Request })
		})
	}
	if now := taskOf(f.state); !now.equal(f.task) {
		f.task, e.Task = now, &now
	}
	return e, len(e.Messages) > 0 || len(e.Asked) > 0 || e.Task != nil
}

// frequent says of the pieces of a stream that they leave everything but the stream as it is.
func frequent(t event.Type) bool {
	switch t {
	case event.MessageDelta, event.Thinking, event.ToolInput, event.ToolOutput, event.RunOutputBatch:
		return true
	}
	return false
}

// checkpoint is the fold as it is.
func (f *fold) checkpoint(session id.Session) (Checkpoint, error) {
	state, err := f.state.Encode()
	return Checkpoint{Session: session, Place: f.state.Place(), Rules: Rules, State: state}, err
}

// passed notes that nothing happens up to a place.
func (f *fold) passed(place int64) { f.state.Apply(omni.Fact{Place: place}) }
