package omnilog

import (
	"fmt"
	"slices"

	"github.com/switchyard-dev/switchyard/hub-server/internal/project/omni"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	message "github.com/switchyard-dev/switchyard/shared/omni"
)

// Rules is the number of what the fold tells and remembers. It is raised where a state of an older fold would make other messages of the same facts.
const Rules = 3

// Entry is what one fact is for those who read the conversation.
type Entry struct {
	Place    int64
	Messages []message.Message
	Edges    map[int]id.Edge // of the session_metas among them, by their index: whose machine has the paths in it
	Asked    []omni.Ask      // permissions that wait for a person since then
}

func (e Entry) bytes() (n int) {
	for _, m := range e.Messages {
		n += len(m.Bytes())
	}
	return n
}

// fold is a conversation up to a place, and makes entries of what comes next. It belongs to one goroutine at a time.
type fold struct {
	state   *omni.State
	changes int64 // done to messages before their words were read on which the state depends
}

// foldAt goes on from a checkpoint.
func foldAt(begin Begin) (*fold, error) {
	if begin.State == nil {
		return foldFrom(begin.Session, begin.Place, begin.Changes), nil
	}
	state, err := omni.Restore(begin.State)
	if err != nil {
		return nil, fmt.Errorf("go on from place %d: %w", begin.Place, err)
	}
	return &fold{state, begin.Changes}, nil
}

// foldFrom knows nothing of what lies up to a place.
func foldFrom(session id.Session, place, changes int64) *fold {
	state := omni.New(session)
	state.Apply(omni.Fact{Place: place})
	return &fold{state, changes}
}

// loose says whether the state depends on words that somebody may change yet.
func (f *fold) loose() bool {
	_, to := f.state.Loose()
	return to > 0
}

// apply returns what a fact is, false if it is nothing for anybody.
func (f *fold) apply(fact omni.Fact) (Entry, bool) {
	e := Entry{Place: fact.Place}
	if fact.Event != event.PromptRequested {
		e.Messages, e.Edges = f.state.Apply(fact), f.state.Edges()
		return e, len(e.Messages) > 0
	}
	before := f.state.Asks()
	e.Messages, e.Edges = f.state.Apply(fact), f.state.Edges()
	e.Asked = slices.DeleteFunc(f.state.Asks(), func(a omni.Ask) bool {
		return slices.ContainsFunc(before, func(b omni.Ask) bool { return b.Request == a.Request })
	})
	return e, len(e.Messages) > 0 || len(e.Asked) > 0
}

// checkpoint is the fold as it is.
func (f *fold) checkpoint(session id.Session) (Checkpoint, error) {
	state, err := f.state.Encode()
	from, to := f.state.Loose()
	return Checkpoint{Session: session, Place: f.state.Place(), Rules: Rules, State: state, LooseFrom: from, LooseTo: to}, err
}

// passed notes that nothing happens up to a place.
func (f *fold) passed(place int64) { f.state.Apply(omni.Fact{Place: place}) }
