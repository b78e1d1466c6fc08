package omni

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/omni"
)

// call is a tool call of the run at hand that has no output yet.
type call struct {
	ID      string `json:"id"`               // in the log
	Name    string `json:"name"`             // its tool_call_id in the stream
	Denied  string `json:"denied,omitempty"` // by whom, as a sentence; "" for one that was not
	Request int    `json:"request"`          // in which the model made it
	Wrote   string `json:"wrote,omitempty"`  // the mark of its arguments, of one that was told as the model wrote it and has not begun

	Begun  *time.Time `json:"begun,omitempty"`  // when its output began to show
	Output string     `json:"output,omitempty"` // as far as it shows
	Full   bool       `json:"full,omitempty"`   // no more of it shows before it returns

	Kept *kept `json:"kept,omitempty"` // how it ended with its process, while a person is asked about it
}

// kept is an output that is told behind the decision about its call.
type kept struct {
	Output string          `json:"output,omitempty"`
	Reason omni.StopReason `json:"reason"`
}

// keep keeps the output of a call that has ended with its process while a person is asked about it: the decision is told before it. It reports whether
// it did; without room for it, it does not.
func (s *State) keep(t *thread, who event.SubAgent, id string, r returning) bool {
	in, c := s.callOf(t, who, id)
	if c == nil || !s.asksAbout(t, c) || in.shown()+len(r.output) > maxOpen {
		return false
	}
	c.Kept = &kept{r.output, r.reason}
	return true
}

// asksAbout says whether a person is asked about a call of a run.
func (s *State) asksAbout(t *thread, c *call) bool {
	return slices.ContainsFunc(t.Asked, func(a asked) bool {
		_, about := t.callIn(s.willBeIn(t, a.Agent), a.Agent, a.Call)
		return a.Person && a.Call != "" && about == c
	})
}

// release tells the output that was kept until nobody is asked about its call any more.
func (s *State) release(t *thread, in *session, c *call) {
	if c.Kept == nil || s.asksAbout(t, c) {
		return
	}
	s.commit(in, c)
	s.answer(in, c, returning{output: c.Kept.Output, reason: c.Kept.Reason})
}

// mostNames is how many tool_call_ids a session remembers, to give each call one of its own.
const mostNames = 1024

// callOf finds an open call of a run and its session. Ids are an agent's own: only where nobody is named as its agent it may be that of any sub-agent.
func (s *State) callOf(t *thread, who event.SubAgent, id string) (*session, *call) {
	return t.callIn(s.in(t, who), who, id)
}

// callIn is callOf for the session of who.
func (t *thread) callIn(in *session, who event.SubAgent, id string) (*session, *call) {
	if c := in.find(id); c != nil || who != "" {
		return in, c
	}
	for _, name := range t.Order {
		if c := t.Subs[name].find(id); c != nil {
			return t.Subs[name], c
		}
	}
	return in, nil
}

func (in *session) find(call string) *call {
	for _, c := range in.Calls {
		if c.ID == call {
			return c
		}
	}
	return nil
}

// nameFor is a tool_call_id that no call of the session has: one that is there twice gets a number (facts 1.4). Of a sub-agent that has been at another task all
// calls have the number of the task: which names it had before is not remembered.
func (in *session) nameFor(call string) string {
	if in.Tasks > 0 {
		call = fmt.Sprintf("%s@%d", call, in.Tasks+1)
	}
	name := call
	for n := 0; slices.Contains(in.Names, name); n++ {
		n = max(n, in.numbered(call), 1)
		name = fmt.Sprintf("%s#%d", call, n+1)
	}
	return name
}

// numbered is the number of the newest call with an id that has one, 0 for none.
func (in *session) numbered(call string) int {
	for _, name := range slices.Backward(in.Names) {
		if number, is := strings.CutPrefix(name, call+"#"); is {
			if n, err := strconv.Atoi(number); err == nil && n > 0 && n < math.MaxInt32 {
				return n
			}
		}
	}
	return 0
}

// rename gives a call a tool_call_id of its own.
func (in *session) rename(call string) string {
	name := in.nameFor(call)
	in.Names = append(in.Names, name)
	in.Names = slices.Delete(in.Names, 0, max(0, len(in.Names)-mostNames))
	return name
}

// mostCalls is how many calls of a run are open at once. Of more, the oldest of the session that has most of them has failed.
const mostCalls = 1024

// bound makes room for one more open call of a run.
func (s *State) bound(t *thread) {
	for {
		most := s.main(t)
		open := len(most.Calls)
		for _, name := range t.Order {
			in := t.Subs[name]
			if open += len(in.Calls); len(in.Calls) > len(most.Calls) {
				most = in
			}
		}
		if open < mostCalls {
			return
		}
		oldest := most.Calls[0]
		s.commit(most, oldest)
		s.answer(most, oldest, returning{reason: omni.Failed})
	}
}
