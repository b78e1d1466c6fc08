package simulator

import (
	"slices"

	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// sabotage is a rule that is broken on purpose, to see that the checks of this package notice.
type sabotage string

const (
	honest         sabotage = ""
	noWatermark    sabotage = "rows are applied whatever the watermark says"
	noFence        sabotage = "a hub commits rows though another one has taken the lane"
	noTerminalGate sabotage = "a run takes outcomes after its first"
	answersTwice   sabotage = "an answer is applied though the question is settled"
	continuesTwice sabotage = "a run whose process ended is continued though it was already"
	startsTwice    sabotage = "an edge forgets which commands it has taken"
	losesAnswers   sabotage = "an edge says that an answer was delivered when it has it, not when the agent goes on"
	skipsOnResume  sabotage = "a resume begins one row behind its cursor"
	trustsHearsay  sabotage = "a hub takes an edge for absent of which it hears nothing, wherever the store has it"
	trustsTrimmed  sabotage = "a resume from a trimmed position is no reset"
)

// lane is what a commit takes the lane for.
func (b sabotage) lane(now runlog.LaneNow, f runlog.LaneFrame) runlog.LaneNow {
	switch b {
	case noFence:
		now.Held = true
	case noWatermark:
		now.Watermark = f.Lane.Watermark
	}
	return now
}

// held is whether an edge is taken to be at another hub.
func (b sabotage) held(elsewhere bool) bool { return elsewhere && b != trustsHearsay }

// prepared is what a hub takes its lane for when a frame comes.
func (b sabotage) prepared(l runlog.LaneState, first wire.ProducerSeq) runlog.LaneState {
	if b == noWatermark {
		l.Watermark = min(l.Watermark, first-1)
	}
	return l
}

// head is what a growing log takes its run for.
func (b sabotage) head(h runlog.Head) runlog.Head {
	if b == noTerminalGate && h.State.Ended() {
		h.State = run.StateRunning
	}
	return h
}

func (b sabotage) pending(h runlog.Head, request id.Request) runlog.Head {
	if b == answersTwice && !slices.Contains(h.Pending, request) {
		h.Pending = append(h.Pending, request)
	}
	return h
}

// successor is what a succession is taken for.
func (b sabotage) successor(h runlog.Head, s runlog.Succession) (runlog.Head, runlog.Succession) {
	if b == continuesTwice {
		s.Run.LastEventSeq, h.Pending = h.Last, nil
	}
	return h, s
}

// plan is what a resume becomes.
func (b sabotage) plan(p delivery.Plan, head delivery.Position) delivery.Plan {
	switch {
	case b == skipsOnResume && p.Outcome == delivery.Replayed && p.From < head:
		p.From++
	case b == trustsTrimmed && p.Reason == delivery.Trimmed:
		p.Outcome, p.Reason = delivery.Replayed, delivery.NoReason
	}
	return p
}
