package agentline

import (
	"bufio"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/switchyard-dev/switchyard/shared/id"
)

// Ear is what an agent hears while it works: the lines of its stdin behind the turn. The zero value hears nothing yet. Safe for concurrent use:
// Listen runs beside the work, which takes what was heard when it suits it.
type Ear struct {
	mu      sync.Mutex
	steers  []Control
	compact bool
	hurry   context.CancelCauseFunc // ends the wait; nil while the agent does not wait
}

// errHurry is the cause of a context that ended because nobody wants to wait.
var errHurry = errors.New("the agent was told not to wait")

// Listen hears until stdin ends. Lines that tell nothing are left out.
func (e *Ear) Listen(stdin *bufio.Reader) {
	for {
		line, err := stdin.ReadBytes('\n')
		if c, bad := ParseControl(line); bad == nil {
			e.hear(c)
		}
		if err != nil {
			return
		}
	}
}

func (e *Ear) hear(c Control) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch c.Type {
	case Steer:
		known := func(s Control) bool { return s.SteerID == c.SteerID && c.SteerID != id.Steer("") }
		if !slices.ContainsFunc(e.steers, known) {
			e.steers = append(e.steers, c)
		}
	case Compact:
		e.compact = true
	case RetryNow:
		if e.hurry != nil {
			e.hurry(errHurry)
		}
	}
}

// Steers takes what was said to the agent since it was asked last, the oldest first. The agent states event.SteerTaken for each that it gives to
// its model.
func (e *Ear) Steers() []Control {
	e.mu.Lock()
	defer e.mu.Unlock()
	taken := e.steers
	e.steers = nil
	return taken
}

// Compact says, once, whether the agent was told to make its context shorter.
func (e *Ear) Compact() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	told := e.compact
	e.compact = false
	return told
}

// Wait runs wait with a context that also ends when the agent is told not to wait: that is no error. To be told so at another time means nothing.
func (e *Ear) Wait(ctx context.Context, wait func(context.Context) error) error {
	waiting, hurry := context.WithCancelCause(ctx)
	e.expect(hurry)
	err := wait(waiting)
	e.expect(nil)
	hurried := errors.Is(context.Cause(waiting), errHurry)
	hurry(nil)
	if hurried && ctx.Err() == nil {
		return nil
	}
	return err
}

func (e *Ear) expect(hurry context.CancelCauseFunc) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.hurry = hurry
}
