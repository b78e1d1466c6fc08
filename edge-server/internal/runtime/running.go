package runtime

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/switchyard-dev/switchyard/edge-server/internal/admission"
	"github.com/switchyard-dev/switchyard/edge-server/internal/process"
	"github.com/switchyard-dev/switchyard/edge-server/internal/runtime/redact"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// killed is below the codes of processes that a signal ended. Such an agent has not chosen to wait no longer.
const killed = 128

// errTurnLimit is the cause of a context that ended at the limit of a turn.
var errTurnLimit = errors.New("the turn took longer than its profile allows")

// running is a started agent: an admission.Process.
type running struct {
	proc     *process.Process
	dir      string
	dialogue Dialogue // safe for concurrent use
	input    *process.Input
	desk     *desk
	calls    *calls
	takes    func(control string) bool // what the agent can be told while it works
	limit    time.Duration             // 0 is none
	login    *login
	secrets  *redact.Redactor
	log      *slog.Logger
	metrics  *metrics
}

func (r *running) PID() int { return r.proc.PID() }

func (r *running) WorkDir() string { return r.dir }

// Answer takes a person's or a client's answer. See admission.Process.
func (r *running) Answer(a wire.Answer) (func(), error) {
	p, err := r.desk.take(a)
	if err != nil {
		return nil, err
	}
	if p.call != nil {
		return func() { r.calls.later(func() { r.calls.talk.bring(p, a) }) }, nil
	}
	return func() { r.desk.bring(p, a) }, nil
}

// Follow plays the turn. See admission.Process.
func (r *running) Follow(ctx context.Context, emit func(run.AgentEvent) error) admission.Exit {
	ctx, lifted := r.withLimit(ctx)
	defer r.login.end()
	say := emit
	emit = func(e run.AgentEvent) error { r.login.hear(e); return say(e) }
	t := &talk{
		dialogue: r.dialogue, input: r.input, desk: r.desk, out: newOutlet(r.secrets, emit), large: r.proc.Large, log: r.log, metrics: r.metrics,
		calls: r.calls,
	}
	t.begin()
	r.calls.play(t)
	exit := r.proc.Follow(ctx, r.input, t.line)
	r.calls.end()
	unheard := r.desk.close()
	end := End{Code: exit.Code, Gone: exit.Gone, Stderr: exit.Stderr}
	overdue := lifted()
	if exit.Stopped || len(overdue) > 0 {
		end.TimedOut = errors.Is(context.Cause(ctx), errTurnLimit)
		end.Cancelled = !end.TimedOut
	}
	switch {
	case end.TimedOut:
		end.Pending, end.Why = overdue, event.EndedAtTurnLimit
	case !end.Cancelled && exit.Code > killed:
		end.Pending, end.Why = unheard, event.EndedUnseen
	}
	r.metrics.exits.With(how(end)).Inc()
	r.log.Info("agent process ended", "code", end.Code, "timed_out", end.TimedOut, "cancelled", end.Cancelled, "gone", end.Gone)
	return admission.Exit{Outcome: t.end(end, exit.StderrCut), Gone: exit.Gone}
}

// withLimit returns a context that ends at the turn limit, and what lifts the limit: that returns the prompts which had no answer when it was
// reached. An agent that is told so and ends by itself has reached it too.
func (r *running) withLimit(ctx context.Context) (limited context.Context, lift func() []id.Request) {
	ctx, cancel := context.WithCancelCause(ctx)
	if r.limit <= 0 {
		return ctx, func() []id.Request { cancel(nil); return nil }
	}
	var overdue []id.Request
	reached := make(chan struct{})
	timer := time.AfterFunc(r.limit, func() {
		defer close(reached)
		overdue = r.desk.expire()
		cancel(errTurnLimit)
	})
	return ctx, func() []id.Request {
		if !timer.Stop() {
			<-reached
		}
		cancel(nil)
		return overdue
	}
}
