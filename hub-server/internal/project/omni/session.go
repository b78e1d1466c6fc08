package omni

import (
	"cmp"
	"slices"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/omni"
)

// session is what is known of one session: the conversation's own, that of a run beside it, or that of a sub-agent.
type session struct {
	Chain     []string    `json:"chain,omitempty"` // its origin
	Source    omni.Source `json:"source,omitempty"`
	Model     string      `json:"model,omitempty"`
	Context   context     `json:"context"`
	Workspace string      `json:"workspace,omitempty"`
	Edge      id.Edge     `json:"edge,omitempty"`   // of whose machine the workspace is, and what the context says
	Agent     id.Agent    `json:"agent,omitempty"`  // that has said the context
	Meta      bool        `json:"meta,omitempty"`   // of this context has been said
	Tasked    bool        `json:"tasked,omitempty"` // of a sub-agent: it is at a task

	Open    *fragment        `json:"open,omitempty"`
	Message id.Message       `json:"message,omitempty"` // that the agent is at
	Told    told             `json:"told"`              // of its text
	Request request          `json:"request"`
	Turns   omni.Count       `json:"turns,omitempty"` // requests that went well
	Used    omni.TokenCounts `json:"used"`
	Spent   omni.TokenCounts `json:"spent"` // by the run at hand, not yet told

	Compacting *compacting `json:"compacting,omitempty"`
	Carried    string      `json:"carried,omitempty"` // the summary with which the next context begins
	Opening    string      `json:"opening,omitempty"` // what the agent was told in place of a message, until there is a context

	Written []*written `json:"written,omitempty"` // calls while the model writes them

	Calls []*call  `json:"calls,omitempty"` // of the run at hand
	Names []string `json:"names,omitempty"` // under which calls were told, the newest last
	Tasks int      `json:"tasks,omitempty"` // of a sub-agent: that have ended and had calls, of which the names are forgotten
}

// thread is a run that has not ended, or that has runs below it which have not.
type thread struct {
	Run        id.Run                      `json:"run"`
	Parent     id.Run                      `json:"parent,omitempty"`
	Own        *session                    `json:"own,omitempty"` // nil for the one that speaks in the main session
	Subs       map[event.SubAgent]*session `json:"subs,omitempty"`
	Order      []event.SubAgent            `json:"order,omitempty"`     // in which they began
	Asked      []asked                     `json:"asked,omitempty"`     // and not answered, the oldest first
	Decided    []decided                   `json:"decisions,omitempty"` // the oldest first
	Cancelling bool                        `json:"cancelling,omitempty"`
	Why        string                      `json:"why,omitempty"`    // somebody stops it
	Queued     bool                        `json:"queued,omitempty"` // it has not begun: nobody speaks for it
	Ended      bool                        `json:"ended,omitempty"`
}

// of returns what is remembered of a run, which begins here unless it has.
func (s *State) of(r Run) *thread {
	t := s.thread(r.ID)
	if t != nil && !t.Queued {
		return t
	}
	if t == nil {
		t = s.queued(r)
	}
	t.Queued = false
	if r.Parent == "" && s.kept.Holder == "" {
		s.kept.Holder = r.ID
		return t
	}
	above := s.kept.Main
	t.Own = &session{}
	if r.Parent != "" {
		t.Own.Source = omni.FromSubagent
		if parent := s.thread(r.Parent); parent != nil {
			above = s.main(parent)
		}
	}
	s.descend(above, t.Own, string(r.ID))
	return t
}

// queued remembers a run that has not begun.
func (s *State) queued(r Run) *thread {
	t := &thread{Run: r.ID, Parent: r.Parent, Queued: true}
	s.kept.Runs = append(s.kept.Runs, t)
	return t
}

// descend puts a session below another, which points at it.
func (s *State) descend(above, below *session, name string) {
	below.Chain = append(slices.Clone(above.Chain), name)
	s.tell(above, omni.Subagent(name))
}

func (s *State) thread(run id.Run) *thread {
	i := slices.IndexFunc(s.kept.Runs, func(t *thread) bool { return t.Run == run })
	if i < 0 {
		return nil
	}
	return s.kept.Runs[i]
}

// main is the session of the run's own agent.
func (s *State) main(t *thread) *session {
	if t.Own == nil {
		return s.kept.Main
	}
	return t.Own
}

// Sub-agents that a run has beyond mostSubs speak in one session, which others names.
const (
	mostSubs = 1024
	others   = event.SubAgent("others")
)

// in is the session of an agent of a run. A sub-agent that nobody has announced is below the run's own agent.
func (s *State) in(t *thread, who event.SubAgent) *session {
	return s.below(t, who, "")
}

func (s *State) below(t *thread, who, parent event.SubAgent) *session {
	if who == "" {
		return s.main(t)
	}
	if sub := t.Subs[who]; sub != nil {
		return sub
	}
	if len(t.Order) >= mostSubs {
		if who, parent = others, ""; t.Subs[who] != nil {
			return t.Subs[who]
		}
	}
	above := s.main(t)
	if t.Subs[parent] != nil {
		above = t.Subs[parent]
	}
	main := s.main(t)
	sub := &session{Source: omni.FromSubagent, Workspace: main.Workspace, Edge: main.Edge, Agent: main.Agent}
	if t.Subs == nil {
		t.Subs = map[event.SubAgent]*session{}
	}
	t.Subs[who], t.Order = sub, append(t.Order, who)
	s.descend(above, sub, subName(t.Run, who))
	return sub
}

// subName is what the session of a sub-agent is called.
func subName(run id.Run, who event.SubAgent) string { return string(run) + "/" + string(who) }

func (s *State) runStarted(f Fact) {
	in := s.main(s.of(f.Run))
	in.workAt(f.Run)
	if p, ok := read[event.RunStartedPayload](f); ok {
		in.Workspace = p.WorkDir
	}
	if in.Opening = f.Run.Told; in.Meta {
		s.tellOpening(in)
	}
}

// workAt notes who works in a session from now on, and where. What another agent has said of its model, or one at another machine, does not hold
// for it.
func (in *session) workAt(r Run) {
	if in.Edge == r.Edge && in.Agent == r.Agent {
		return
	}
	in.Edge, in.Agent = r.Edge, r.Agent
	in.Model, in.Context, in.Workspace = "", context{}, ""
}

func (s *State) sessionInit(f Fact) {
	t := s.of(f.Run)
	p, ok := read[event.SessionInitPayload](f)
	if !ok {
		return
	}
	in := s.main(t)
	in.workAt(f.Run)
	in.Model = cmp.Or(p.Model, in.Model)
	if said := contextOf(f, p); !said.isZero() {
		in.Context = said
	}
}

func (s *State) runCancelling(f Fact) {
	t := s.thread(f.Run.ID)
	if t == nil {
		t = s.queued(f.Run)
	}
	t.Cancelling = true
	if p, ok := read[event.RunCancellingPayload](f); ok && t.Why == "" {
		t.Why = p.Reason
	}
}

func (s *State) taskStarted(f Fact) {
	p, ok := read[event.TaskStartedPayload](f)
	if !ok || p.AgentID == "" {
		return
	}
	t := s.of(f.Run)
	sub := s.below(t, p.AgentID, p.ParentAgentID)
	if !sub.Tasked && p.TaskPrompt != "" {
		s.tell(sub, omni.UserText(p.TaskPrompt))
	}
	sub.Tasked = sub != t.Subs[others] // each of them has a task of its own
}

func (s *State) subAgentStatus(f Fact) {
	p, ok := read[event.SubAgentStatusPayload](f)
	if !ok || p.AgentID == "" || !p.Status.Ended() {
		return
	}
	t := s.of(f.Run)
	sub := s.in(t, p.AgentID)
	if sub == t.Subs[others] { // the end of one is not that of the others
		return
	}
	sub.spend(p.Usage)
	s.finish(sub, endOfWork(p.Status, p.Error))
	if sub.Tasked = false; len(sub.Names) > 0 { // under the same name another task may begin
		sub.Names = nil
		sub.Tasks++
	}
}

// dismiss forgets runs that have ended, and of which all the runs below have.
func (s *State) dismiss() {
	for before := -1; before != len(s.kept.Runs); {
		before = len(s.kept.Runs)
		s.kept.Runs = slices.DeleteFunc(s.kept.Runs, func(t *thread) bool {
			return t.Ended && !slices.ContainsFunc(s.kept.Runs, func(c *thread) bool { return c != nil && c.Parent == t.Run })
		})
	}
}
