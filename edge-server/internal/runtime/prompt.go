package runtime

import (
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// stage is how far a prompt for a person has come.
type stage uint8

const (
	waiting stage = iota // nobody has answered
	taken                // a person has
	sent                 // the answer is on its way to the agent
	written              // the agent has it
	settled              // and went on with it, or its time was over
)

// prompt is a request that a person has to answer, or a call that a client has to carry out.
type prompt struct {
	request  id.Request
	kind     event.PromptKind
	ask      string // the agent's own id of it
	digest   string
	call     *Ask // of a client's tool; nil for a person's prompt
	stage    stage
	decision event.Decision
}
