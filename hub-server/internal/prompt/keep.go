package prompt

import (
	"slices"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Keep returns a run's list of questions, oldest first, after its log has grown by g at a time of the hub's clock. It is the rule by which a store
// keeps its rows: a question leaves Pending once, whatever comes; what an answer says never changes; and only an answer is ever delivered. It
// is pure, and a store that has no statements of its own may use it as it is.
func Keep(list []Prompt, g *runlog.Growth, at time.Time) []Prompt {
	list = slices.Clone(list)
	for _, q := range g.Prompts.Asked {
		list = ask(list, g, q, at)
	}
	for i := range list {
		list[i].move(g, at)
	}
	return list
}

// ask keeps the first question of an id that is taken.
func ask(list []Prompt, g *runlog.Growth, q runlog.Question, at time.Time) []Prompt {
	if slices.ContainsFunc(list, func(p Prompt) bool { return p.ID == q.ID }) {
		return list
	}
	p := Prompt{
		ID: q.ID, Run: g.Run, Session: g.Session, Agent: g.Agent, Edge: g.Edge, Kind: q.Kind, Payload: q.Payload, Digest: q.Digest, Seq: q.Seq,
		AskedAt: at, State: Pending, ByHub: q.ByHub, Outlived: q.Outlived,
	}
	if q.Limit > 0 {
		p.ExpiresAt = at.Add(q.Limit)
	}
	return append(list, p)
}

// move applies what the growth says about one question: answer, expiry, delivery, the end of the process, the end of the run.
func (p *Prompt) move(g *runlog.Growth, at time.Time) {
	for _, a := range g.Prompts.Answered {
		if a.RequestID == p.ID && p.State == Pending {
			p.State, p.Answer = Answered, &Answer{
				Decision: a.Decision, By: a.By, User: a.UserID, Device: a.DeviceID, Reason: a.Reason, UpdatedInput: a.UpdatedInput,
				Response: a.Response, At: at,
			}
		}
	}
	if slices.Contains(g.Prompts.Expired, p.ID) && p.State == Pending {
		p.State = Expired
	}
	for _, d := range g.Prompts.Delivered {
		p.deliver(d)
	}
	if slices.Contains(g.Prompts.Outlived, p.ID) && !p.ByHub && !p.ByClient() {
		p.Outlived = true
	}
	if (g.State.Ended() || slices.Contains(g.Prompts.Dropped, p.ID)) && p.State == Pending {
		p.State = Cancelled
	}
}

// deliver keeps the first delivery. The answer is made anew: others may hold the old one.
func (p *Prompt) deliver(d runlog.Delivery) {
	if d.Request == p.ID && p.State == Answered && p.Answer.DeliveredAt.IsZero() {
		answer := *p.Answer
		answer.DeliveredAt = d.At
		p.Answer = &answer
	}
}

// Waits says whether the question has an answer that no process has had, or none at all.
func (p Prompt) Waits() bool { return p.State == Pending || p.Outlived }

// Find returns a question of a list.
func Find(list []Prompt, request id.Request) (Prompt, bool) {
	i := slices.IndexFunc(list, func(p Prompt) bool { return p.ID == request })
	if i < 0 {
		return Prompt{}, false
	}
	return list[i], true
}
