package run

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// scope is what one agent of the run is saying: the run's own, or one of its sub-agents. Their messages never mix, and only the run's own agent
// speaks its answer.
type scope struct {
	agent event.SubAgent // "" for the run's own
	open  id.Message     // message being written, "" when none
	text  strings.Builder
}

// mainAgent is S0's word for the run's own agent; the log leaves it out.
const mainAgent event.SubAgent = "main"

// ScopeID returns a sub-agent's id as the log has it: "" for the run's own agent, a digest of one that is too long.
func ScopeID(agent event.SubAgent) event.SubAgent {
	if agent == mainAgent {
		return ""
	}
	return event.SubAgent(foreignID(string(agent)))
}

// scope returns what the agent is saying. One that says nothing has no place among those that do until it does.
func (n *Normaliser) scope(agent event.SubAgent) *scope {
	if agent == "" {
		return &n.own
	}
	for _, s := range n.subs {
		if s.agent == agent {
			return s
		}
	}
	return &scope{agent: agent}
}

// begin opens a message of s.
func (n *Normaliser) begin(s *scope, message id.Message) {
	if s.open == "" && s.agent != "" {
		n.subs = append(n.subs, s)
	}
	s.open = message
}

// finish forgets the message of s.
func (n *Normaliser) finish(s *scope) {
	s.open = ""
	s.text.Reset()
	n.subs = slices.DeleteFunc(n.subs, func(other *scope) bool { return other == s })
}

// crowded returns a sub-agent's message that has to end for others to go on; nil while there is room. All of them together may hold as much as
// one message of the run's own agent.
func (n *Normaliser) crowded() *scope {
	total, longest := 0, (*scope)(nil)
	for _, s := range n.subs {
		total += s.text.Len()
		if longest == nil || s.text.Len() > longest.text.Len() {
			longest = s
		}
	}
	switch {
	case total >= maxMessage:
		return longest
	case len(n.subs) > maxScopes:
		return n.subs[0]
	}
	return nil
}

// EndOf returns the sub-agent that a fact says has ended: whatever it left open ends before.
func EndOf(f Fact) (event.SubAgent, bool) {
	if f.Type != event.SubAgentStatus {
		return "", false
	}
	p, ok := read[event.SubAgentStatusPayload](f.Payload)
	agent := ScopeID(p.AgentID)
	return agent, ok && agent != "" && p.Status.Ended()
}

// leave ends what a sub-agent has open, which the end that the payload tells has cut off unless it is a good one.
func (n *Normaliser) leave(agent event.SubAgent, payload json.RawMessage) []Candidate {
	var out []Candidate
	if s := n.scope(agent); s.open != "" {
		var cut event.RequestStatus
		switch p, _ := read[event.SubAgentStatusPayload](payload); p.Status {
		case event.WorkFailed:
			cut = event.RequestFailed
		case event.WorkCancelled, event.WorkSkipped:
			cut = event.RequestAborted
		}
		out = append(out, n.cutOff(s, cut))
	}
	for _, c := range n.tools.of(agent) {
		n.tools.end(c)
		out = append(out, unfinished(c, "The sub-agent ended before this tool returned."))
	}
	return out
}
