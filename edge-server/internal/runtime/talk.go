package runtime

import (
	"errors"
	"log/slog"
	"sync"

	"github.com/switchyard-dev/switchyard/edge-server/internal/process"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/run"
)

// talk connects a dialogue with a process on one side and the log on the other. begin, line and end are called one after the other; visit and
// bring may come in between, from elsewhere.
type talk struct {
	dialogue Dialogue
	input    *process.Input
	desk     *desk
	out      *outlet
	large    func() (done func()) // see process.Process.Large
	raw      rawOutput
	log      *slog.Logger
	metrics  *metrics

	calls *calls
	mu    sync.Mutex // guards what is said, and what follows
	names callNames
}

// begin tells the agent its turn. Without an open stdin it can still call tools of clients, otherwise than in lines.
func (t *talk) begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	first := t.dialogue.Begin()
	t.send(first.Reply)
	t.desk.begin()
	if first.CloseInput {
		t.input.Close()
	}
}

func (t *talk) line(l process.Line) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l.Cut > 0 {
		// A cut line is not what the agent said, whatever it looks like.
		t.ignore(l, "too_long")
		return
	}
	if len(l.Text) == 0 {
		return
	}
	reaction := t.dialogue.Line(l.Text)
	if reaction.Ignored != "" {
		t.ignore(l, reaction.Ignored)
	} else {
		t.say(t.desk.moved())
	}
	for _, warning := range reaction.Warnings {
		t.metrics.ignored.With(warning).Inc()
	}
	t.react(reaction)
}

func (t *talk) ignore(line process.Line, reason string) {
	t.metrics.ignored.With(reason).Inc()
	t.emit(t.raw.add(line))
}

func (t *talk) send(reply []byte) {
	if len(reply) == 0 {
		return
	}
	if err := t.input.Send(reply); err != nil {
		t.log.Warn("cannot answer the agent", "error", err)
	}
}

func (t *talk) react(r Reaction) {
	t.say(r.Events)
	for _, ask := range r.Asks {
		if ask.Kind == event.PromptClientTool {
			t.call(ask)
		} else {
			t.ask(ask)
		}
	}
	t.send(r.Reply)
	if r.CloseInput {
		t.desk.close()
		t.input.Close()
	}
}

// ask records a request, and the answer if a rule gave it, before the agent hears anything of it. Without a record there is no permission.
func (t *talk) ask(a Ask) {
	o, err := t.desk.open(a)
	if errors.Is(err, errMoot) {
		t.metrics.ignored.With("permission_after_end").Inc()
		return
	}
	if err == nil {
		t.say([]run.AgentEvent{run.Asked{PromptRequestedPayload: o.asked}})
	}
	if o.answered != nil {
		t.say([]run.AgentEvent{run.Decided{PromptAnsweredPayload: *o.answered}})
	}
	switch {
	case err != nil || t.out.failed:
		t.desk.reply(Answer{ID: a.ID, Kind: a.Kind, Decision: no(a.Kind), Message: "The edge could not record the request."}, func() {})
	case o.answered != nil:
		t.metrics.prompts.With(string(o.answered.By)).Inc()
		t.desk.reply(Answer{
			ID: a.ID, Kind: a.Kind, Decision: o.answered.Decision, UpdatedInput: o.answered.UpdatedInput, Response: o.answered.Response,
			Message: o.answered.Reason,
		}, func() {})
	default:
		t.metrics.prompts.With(string(event.Person)).Inc()
	}
}

// say emits events behind the raw output that came before them.
func (t *talk) say(events []run.AgentEvent) {
	if len(events) > 0 {
		t.emit(t.raw.flush())
		t.emit(events)
	}
}

func (t *talk) emit(events []run.AgentEvent) {
	for _, e := range events {
		t.names.note(e)
		t.out.emit(e)
	}
}

// end says the last words: raw output first, since the terminal ends the log.
func (t *talk) end(end End, stderrCut int64) run.Outcome {
	t.mu.Lock()
	defer t.mu.Unlock()
	events, outcome := t.dialogue.End(end)
	if hasLarge(events) {
		defer t.large()()
	}
	t.emit(t.raw.flush())
	t.emit(stderrOutput(end.Stderr, stderrCut))
	if end.Code == 0 {
		t.emit(t.desk.moved()) // it had its answers and went on to a good end
	}
	t.emit(events)
	t.out.flush()
	return t.out.outcome(events, outcome)
}

// largeText is how much text is said alone: as much as makes a line large.
const largeText = 1 << 20

func hasLarge(events []run.AgentEvent) bool {
	for _, e := range events {
		switch e := e.(type) {
		case run.Done:
			if len(e.Answer) > largeText {
				return true
			}
		case run.Delta:
			if len(e.Text) > largeText {
				return true
			}
		}
	}
	return false
}
