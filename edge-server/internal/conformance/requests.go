package conformance

import (
	"github.com/switchyard-dev/switchyard/edge-server/internal/runtime"
	"github.com/switchyard-dev/switchyard/shared/agentline"
	"github.com/switchyard-dev/switchyard/shared/bridge"
	"github.com/switchyard-dev/switchyard/shared/event"
)

// requests holds what an agent asks to the rules. Permissions are asked in the same words in both runtimes, prompts in the events runtime alone.
type requests struct {
	ledger *ledger
	may    bool // the turn has permission
	asked  map[string]bool
}

func newRequests(l *ledger, may bool) requests {
	return requests{ledger: l, may: may, asked: map[string]bool{}}
}

func (q requests) permission(r bridge.PermissionRequest) {
	if !q.named(r.RequestID, r.ToolName) {
		return
	}
	q.ledger.check(permissionTool, r.ToolName != "", "tool_name is missing or no text")
	q.ledger.check(permissionInput, isObject(r.Input), "input is %s", orNothing(r.Input))
}

func (q requests) prompt(line agentline.Line) {
	if !q.named(line.RequestID, string(line.Kind)) {
		return
	}
	err := line.CheckPrompt()
	q.ledger.check(promptFits, err == nil, "%v", err)
}

// named takes any request with an id that can be used; false if there may be none.
func (q requests) named(id, what string) bool {
	if !q.may {
		q.ledger.breach(permissionOff, "it asks for %.80q", what)
		return false
	}
	q.ledger.keep(permissionID)
	q.ledger.check(permissionUnique, !q.asked[id], "request_id %.80q comes twice", id)
	q.asked[id] = true
	return true
}

func (q requests) end() {
	if !q.may {
		q.ledger.keep(permissionOff)
	}
}

// request is something that the agent waits for an answer to. What the edge turns down by itself has that as its answer.
type request struct {
	runtime.Ask
	refusal []byte
}

// answer is the line that the agent gets; nil for none.
func (r request) answer(how answering) []byte {
	if r.refusal != nil {
		return r.refusal
	}
	if r.Kind == event.PromptClientTool {
		return r.called(carriedOut(how))
	}
	a := runtime.Answer{ID: r.ID, Kind: r.Kind, Decision: event.Allow}
	if how == denying {
		a.Decision, a.Message = event.Deny, "The check says no."
	}
	var line []byte
	var err error
	if r.Kind == "" {
		if how == updating {
			a.UpdatedInput = updated(r.Input)
		}
		line, err = a.ToPermission().Encode()
	} else {
		line, err = r.settle(a).Encode()
	}
	if err != nil {
		return nil
	}
	return line
}
