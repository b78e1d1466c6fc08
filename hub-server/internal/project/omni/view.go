package omni

import (
	"slices"
	"time"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/omni"
)

// Ask is a permission that waits for a person.
type Ask struct {
	Request    id.Request
	Run        id.Run
	ToolCallID string // as the stream has it, or the request's id if it is about no call
	Tool       string
	Input      string   // a JSON object, "" where it is cut
	Cut        bool     // the input is too large to be told with it, or not here: the question has it
	Origin     []string // of the session that asks
}

// Steer is what a person has said to a run at work which its agent has not taken.
type Steer struct {
	ID   id.Steer `json:"id"`
	Run  id.Run   `json:"run"`
	Text string   `json:"text"`
}

// Asks are the permissions that wait for a person, run by run, the oldest first.
func (s *State) Asks() (all []Ask) {
	for _, t := range s.kept.Runs {
		for _, a := range t.Asked {
			if a.Person {
				all = append(all, s.ask(t, a))
			}
		}
	}
	return all
}

func (s *State) ask(t *thread, a asked) Ask {
	in := s.willBeIn(t, a.Agent)
	out := Ask{Request: a.Request, Run: t.Run, ToolCallID: string(a.Request), Tool: a.Tool, Input: a.Input, Cut: a.Cut}
	if a.Call != "" {
		of, c := t.callIn(in, a.Agent, a.Call)
		if in = of; c != nil {
			out.ToolCallID = c.Name
		} else {
			out.ToolCallID = in.nameFor(a.Call)
		}
	}
	out.Origin = slices.Clone(in.Chain)
	return out
}

// willBeIn is the session of an agent of a run, or one such as it will have when it speaks.
func (s *State) willBeIn(t *thread, who event.SubAgent) *session {
	main := s.main(t)
	if who == "" {
		return main
	}
	if t.Subs[who] == nil && len(t.Order) >= mostSubs {
		who = others
	}
	if sub := t.Subs[who]; sub != nil {
		return sub
	}
	return &session{Chain: append(slices.Clone(main.Chain), subName(t.Run, who))}
}

// Waiting are the runs with an agent that waits before it makes a request again.
func (s *State) Waiting() []id.Run {
	return s.with(func(in *session) bool { return in.Request.Waits })
}

// Compacting are the runs with an agent that makes its context smaller right now.
func (s *State) Compacting() []id.Run {
	return s.with(func(in *session) bool { return in.Compacting != nil })
}

func (s *State) with(is func(*session) bool) (runs []id.Run) {
	for _, t := range s.kept.Runs {
		if !t.Ended && slices.ContainsFunc(s.sessions(t), is) {
			runs = append(runs, t.Run)
		}
	}
	return runs
}

// sessions are those in which a run speaks: its own agent's, if it has the floor or one of its own, and its sub-agents'.
func (s *State) sessions(t *thread) (all []*session) {
	if t.Own != nil || s.kept.Holder == t.Run {
		all = append(all, s.main(t))
	}
	for _, name := range t.Order {
		all = append(all, t.Subs[name])
	}
	return all
}

// Steering is what was said to runs at work and not taken yet, the oldest first.
func (s *State) Steering() []Steer { return slices.Clone(s.kept.Steers) }

// Open is what a reader that comes now needs to go on with what is open: of each fragment its start, and one delta in place of those that there were.
func (s *State) Open() (open []omni.Message) {
	tell := func(in *session) { open = append(open, in.opened()...) }
	tell(s.kept.Main)
	for _, t := range s.kept.Runs {
		for _, in := range s.sessions(t) {
			if in != s.kept.Main {
				tell(in)
			}
		}
	}
	return open
}

// opened are the fragments of a session: what the model says, the calls that it writes, and what open calls have put out.
func (in *session) opened() (open []omni.Message) {
	add := func(at time.Time, pieces ...omni.Payload) {
		for _, p := range pieces {
			if m, err := in.message(at, p); err == nil { // as it could be before, in pieces
				open = append(open, m)
			}
		}
	}
	if f := in.Open; f != nil {
		add(f.At, f.piece(omni.Start, "", ""), f.piece(omni.Delta, f.Text, ""))
	}
	for _, w := range in.Written {
		if w.Name != "" {
			add(w.Begun, w.piece(omni.Start, "", ""), w.piece(omni.Delta, w.Text, ""))
		}
	}
	for _, c := range in.Calls {
		if c.Begun != nil {
			add(*c.Begun, c.piece(omni.Start, "", ""), c.piece(omni.Delta, c.Output, ""))
		}
	}
	return open
}

// Revise puts what a message at a place says now in place of what it said, nothing for one that was taken back: as far as it has not been told.
func (s *State) Revise(place int64, m Message) {
	s.kept.Held = slices.DeleteFunc(s.kept.Held, func(h held) bool { return h.Place == place && m.empty() })
	for i := range s.kept.Held {
		if s.kept.Held[i].Place == place {
			s.kept.Held[i].Text, s.kept.Held[i].Files = m.Text, m.Files
		}
	}
}
