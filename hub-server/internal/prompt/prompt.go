// Package prompt holds the rules of questions that agents ask people (architecture 9): a question is on disk before anybody sees it and is
// the same on every device; the first answer counts and everybody else learns of it; and an answer whose asker has gone is taken back to
// the agent by another run (R21).
package prompt

import (
	"context"
	"encoding/json"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/hub-server/internal/timer"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Prompt is a question of a run to people, or a call that a client is to carry out (kind client_tool). Of a call no person is told.
type Prompt struct {
	ID      id.Request
	Run     id.Run
	Session id.Session
	Agent   id.Agent
	Edge    id.Edge

	Kind    event.PromptKind
	Payload json.RawMessage // of run.prompt.requested, as it is stored
	Digest  string          // of what is shown; see event.PromptDigest
	Seq     runlog.EventSeq // of run.prompt.requested
	AskedAt time.Time
	// ExpiresAt is the end of a time limit of its own; zero for none.
	ExpiresAt time.Time

	State    State
	ByHub    bool    // no process at an edge waits for the answer
	Answer   *Answer // of an answered one
	Outlived bool    // the process that asked was ended before it had an answer
}

// ByClient says whether a client answers, and no person.
func (p Prompt) ByClient() bool { return p.Kind == event.PromptClientTool }

// SubAgent is who asks; "" for the run's own agent.
func (p Prompt) SubAgent() event.SubAgent {
	var asked struct {
		AgentID event.SubAgent `json:"agent_id"`
	}
	if json.Unmarshal(p.Payload, &asked) != nil {
		return ""
	}
	return asked.AgentID
}

// Due is a question whose timer is due.
type Due struct {
	Prompt
	Timer timer.Timer
}

// State is where a question stands.
type State string

// States of a question. All but the first are final.
const (
	Pending   State = "pending"
	Answered  State = "answered"
	Expired   State = "expired"   // nobody answered in time
	Cancelled State = "cancelled" // the run is over: nobody waits for an answer
)

// Answer is what was recorded.
type Answer struct {
	Decision     event.Decision
	By           event.Decider
	User         id.User   // of a person …
	Device       id.Device // … and where they sat
	Reason       string
	UpdatedInput json.RawMessage // what the tool gets instead of what the agent proposed; nil for no change
	Response     json.RawMessage // to a question of another kind than permission: what came beside the decision; nil for nothing
	At           time.Time

	DeliveredAt time.Time  // when the agent went on with it, by the edge's clock; zero until then, or for ever
	Refused     fault.Code // why the edge did not take it; "" unless it said so
	ContinuedBy id.Run     // the run that takes it back to the agent; "" if none has to
}

// MaxPage bounds a page of questions.
const MaxPage = 200

// Query selects questions, the oldest first. Zero fields select nothing away.
type Query struct {
	User  id.User // who may answer them
	Run   id.Run
	State State
	After id.Request // the last of the page before; "" for the first page
	Limit int
}

// Store keeps questions. Safe for concurrent use; a write returns after it is on disk.
type Store interface {
	// Prompt returns a question of the run; fault.NotFound.
	Prompt(ctx context.Context, run id.Run, request id.Request) (Prompt, error)
	// Asked returns a question of whichever run of the conversation; fault.NotFound.
	Asked(ctx context.Context, session id.Session, request id.Request) (Prompt, error)
	// Settled returns the two newest questions to people of the conversation about calls of that id, which is the agents' own, that wait no more.
	Settled(ctx context.Context, session id.Session, call string) ([]Prompt, error)
	// Called returns the call of a client's tool that the user's runs have made in the conversation, and runs that these began: by the id of its card, or
	// by the agent's own id of it. Of several it is that of the card, then one that waits, then the newest; fault.NotFound.
	Called(ctx context.Context, session id.Session, user id.User, named string) (Prompt, error)
	// Prompts returns a page of questions to people.
	Prompts(ctx context.Context, q Query) ([]Prompt, error)
	// Unheard returns those questions of a run to people whose answer no process has had or will have, in the order in which they were asked: all that
	// are pending, and those that have outlived their process.
	Unheard(ctx context.Context, run id.Run) ([]Prompt, error)
	// Due returns up to limit questions whose timers are due at now, in that order, and then in the order in which they were asked.
	Due(ctx context.Context, now time.Time, limit int) ([]Due, error)
	// ArmAll gives each pending question a timer that has none: a hub of an older version has stored it.
	ArmAll(ctx context.Context) error
	// Answer applies r, and takes the timer in it, and says whether the question was still pending and the run still where r was prepared for. The rights of the
	// person, if one answers, are checked once more: NotFound, AgentOperateRequired; timer.ErrTaken.
	Answer(ctx context.Context, r runlog.Reply) (bool, error)
	// Succeed applies s, and says whether the run was still where s was prepared for. AgentUnknown, AgentOperateRequired,
	// SessionDissolved.
	Succeed(ctx context.Context, s runlog.Succession) (bool, error)
}
