package conformance

import (
	"cmp"
	"encoding/json"

	"github.com/switchyard-dev/switchyard/shared/agentline"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/run"
)

// fact checks the payload of a fact. Its sub-agent is named inside: what stands beside the payload is read by nobody.
func (e *eventsEar) fact(line agentline.Line, f fields) {
	l := e.ledger
	payload := f["payload"]
	if payload == nil {
		payload = json.RawMessage(`{}`)
	}
	if !isObject(payload) {
		l.breach(factPayload, "payload of %s is %s", line.Type, payload)
		return
	}
	err := event.CheckFact(event.Type(line.Type), payload)
	l.check(factPayload, err == nil, "payload of %s: %v", line.Type, err)
	if !line.Streamed() && line.AgentID != "" {
		l.breach(factPayload, "agent_id of %s stands beside the payload", line.Type)
	}
	e.pair(event.Type(line.Type), payload)
	e.heard(event.Type(line.Type), payload)
	e.compaction(event.Type(line.Type), payload)
}

// pair checks that a request of the model begins once and ends once.
func (e *eventsEar) pair(t event.Type, payload json.RawMessage) {
	var p struct {
		RequestID string `json:"request_id"`
	}
	if t != event.RequestBegin && t != event.RequestEnd || json.Unmarshal(payload, &p) != nil {
		return
	}
	over, begun := e.requests[p.RequestID]
	if t == event.RequestBegin {
		e.ledger.check(requestPairs, !begun, "%.80q begins twice", p.RequestID)
	} else {
		e.ledger.check(requestPairs, begun && !over, "%.80q ends, and is no request that goes on", p.RequestID)
	}
	e.requests[p.RequestID] = t == event.RequestEnd
}

// scope checks that the sub-agent in which a line happens is one that works.
func (e *eventsEar) scope(line agentline.Line) {
	agent, ended := e.scopeOf(line)
	if agent == "" {
		return
	}
	over, known := e.subs[agent]
	if event.Type(line.Type) == event.TaskStarted {
		e.ledger.check(agentKnown, !known || over, "%.80q is made known twice", agent)
		e.subs[agent] = false
		return
	}
	e.ledger.check(agentKnown, known, "%.80q is named by a %s, but no task was given to it", agent, line.Type)
	e.ledger.check(agentKnown, !over, "%.80q is named by a %s after its end", agent, line.Type)
	if known && ended {
		e.subs[agent] = true
	}
}

// scopeOf returns the sub-agent that a line names, and whether it says that it has ended.
func (e *eventsEar) scopeOf(line agentline.Line) (agent event.SubAgent, ended bool) {
	var p struct {
		AgentID event.SubAgent   `json:"agent_id"`
		Status  event.WorkStatus `json:"status"`
	}
	if line.Fact() && len(line.Payload) > 0 && json.Unmarshal(line.Payload, &p) != nil {
		return "", false
	}
	return run.ScopeID(cmp.Or(line.AgentID, p.AgentID)), event.Type(line.Type) == event.SubAgentStatus && p.Status.Ended()
}
