package runtime

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/switchyard-dev/switchyard/edge-server/internal/admission"
	"github.com/switchyard-dev/switchyard/edge-server/internal/process"
	"github.com/switchyard-dev/switchyard/edge-server/internal/runtime/redact"
	"github.com/switchyard-dev/switchyard/shared/run"
)

// errTurnLimit is the cause of a context that ended at the limit of a turn.
var errTurnLimit = errors.New("the turn took longer than its profile allows")

// running is a started agent: an admission.Process.
type running struct {
	proc     *process.Process
	dir      string
	dialogue Dialogue
	limit    time.Duration // 0 is none
	secrets  *redact.Redactor
	log      *slog.Logger
	metrics  *metrics
}

func (r *running) PID() int { return r.proc.PID() }

func (r *running) WorkDir() string { return r.dir }

// Follow plays the turn. See admission.Process.
func (r *running) Follow(ctx context.Context, emit func(run.AgentEvent) error) admission.Exit {
	ctx, cancel := r.withLimit(ctx)
	defer cancel()
	t := talk{
		dialogue: r.dialogue, input: process.NewInput(), out: newOutlet(r.secrets, emit), log: r.log, metrics: r.metrics,
	}
	t.begin()
	exit := r.proc.Follow(ctx, t.input, t.line)
	end := End{Code: exit.Code, Gone: exit.Gone, Stderr: exit.Stderr}
	if exit.Stopped {
		end.TimedOut = errors.Is(context.Cause(ctx), errTurnLimit)
		end.Cancelled = !end.TimedOut
	}
	r.metrics.exits.With(how(end)).Inc()
	r.log.Info("agent process ended", "code", end.Code, "timed_out", end.TimedOut, "cancelled", end.Cancelled, "gone", end.Gone)
	return admission.Exit{Outcome: t.end(end, exit.StderrCut), Gone: exit.Gone}
}

func (r *running) withLimit(ctx context.Context) (context.Context, context.CancelFunc) {
	if r.limit <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, r.limit, errTurnLimit)
}

// talk connects a dialogue with a process on one side and the log on the other. Its methods are called one after the other.
type talk struct {
	dialogue Dialogue
	input    *process.Input
	out      *outlet
	raw      rawOutput
	log      *slog.Logger
	metrics  *metrics
}

func (t *talk) begin() { t.react(t.dialogue.Begin()) }

func (t *talk) line(l process.Line) {
	if l.Cut > 0 {
		// A cut line is not what the agent said, whatever it looks like.
		t.ignore(l.String(), "too_long")
		return
	}
	if len(l.Text) == 0 {
		return
	}
	reaction := t.dialogue.Line(l.Text)
	if reaction.Ignored != "" {
		t.ignore(l.String(), reaction.Ignored)
	}
	for _, warning := range reaction.Warnings {
		t.metrics.ignored.With(warning).Inc()
	}
	t.react(reaction)
}

func (t *talk) ignore(line, reason string) {
	t.metrics.ignored.With(reason).Inc()
	t.emit(t.raw.add(line))
}

func (t *talk) react(r Reaction) {
	if len(r.Events) > 0 {
		t.emit(t.raw.flush())
		t.emit(r.Events)
	}
	if len(r.Reply) > 0 {
		if err := t.input.Send(r.Reply); err != nil {
			t.log.Warn("cannot answer the agent", "error", err)
		}
	}
	if r.CloseInput {
		t.input.Close()
	}
}

func (t *talk) emit(events []run.AgentEvent) {
	for _, e := range events {
		t.out.emit(e)
	}
}

// end says the last words: raw output first, since the terminal ends the log.
func (t *talk) end(end End, stderrCut int64) run.Outcome {
	events, outcome := t.dialogue.End(end)
	t.emit(t.raw.flush())
	t.emit(stderrOutput(end.Stderr, stderrCut))
	t.emit(events)
	t.out.flush()
	return outcome
}
