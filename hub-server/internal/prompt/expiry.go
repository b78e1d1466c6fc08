package prompt

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/timer"
	"github.com/switchyard-dev/switchyard/shared/event"
)

const (
	sweepEvery = time.Second // a limit in milliseconds may be short
	sweepPage  = 64
	// lookAgain is how far ahead a timer is set at most: a setting that was changed holds for all questions after that time.
	lookAgain = time.Hour
)

// Expiry ends the waiting for answers whose time is over: the question's own limit, or the age that a hub lets any question reach. Every hub of
// a store may have one: a question expires once.
type Expiry struct {
	Prompts *Prompts
	Timers  timer.Store
	TTL     time.Duration // HUB_PROMPT_TTL
	Log     *slog.Logger
}

// Run sweeps until ctx ends. Trouble with the store is logged and tried again at the next sweep.
func (x *Expiry) Run(ctx context.Context) error {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for armed := false; ; {
		var err error
		if !armed {
			err = x.Prompts.Store.ArmAll(ctx)
			armed = err == nil
		}
		if err = errors.Join(err, x.Sweep(ctx, time.Now())); err != nil && ctx.Err() == nil {
			x.Log.Error("expire questions failed", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Sweep sees to every timer of a question that is due at now.
func (x *Expiry) Sweep(ctx context.Context, now time.Time) error {
	for {
		due, err := x.Prompts.Store.Due(ctx, now, sweepPage)
		if err != nil {
			return err
		}
		for _, d := range due {
			if err := x.see(ctx, d, now); err != nil && !errors.Is(err, timer.ErrTaken) {
				return fmt.Errorf("see to %s: %w", d.ID, err)
			}
		}
		if len(due) < sweepPage {
			return nil
		}
	}
}

// see expires a question whose time is over, and sets the timer of any other anew.
func (x *Expiry) see(ctx context.Context, d Due, now time.Time) error {
	if d.State != Pending {
		return x.Timers.Drop(ctx, d.Timer)
	}
	end, reason := d.AskedAt.Add(x.TTL), event.ExpiredByAge
	if !d.ExpiresAt.IsZero() && d.ExpiresAt.Before(end) {
		end, reason = d.ExpiresAt, event.ExpiredByLimit
	}
	if end.After(now) {
		return x.Timers.Move(ctx, d.Timer, earlier(end, now.Add(lookAgain)))
	}
	if err := x.Prompts.expire(ctx, d, reason); err != nil {
		return err
	}
	x.Log.Info("question expired", "request", d.ID, "run", d.Run, "reason", reason)
	return nil
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// expire settles a question without an answer, unless it has been settled meanwhile. An agent whose process is gone is not begun again for it.
func (p *Prompts) expire(ctx context.Context, due Due, reason event.ExpiryReason) error {
	asked := due.Prompt
	for range raceRetries {
		found, err := p.Runs.Get(ctx, asked.Run)
		if err != nil || found.State.Ended() {
			return err
		}
		expired := event.PromptExpiredPayload{RequestID: asked.ID, Kind: asked.Kind.Named(), Reason: reason}
		reply, err := p.Runs.Expire(found, expired, asked.asker())
		if err != nil {
			return err
		}
		reply.Timer = &due.Timer
		if done, err := p.Store.Answer(ctx, reply); err != nil || done {
			return err
		}
		if asked, err = p.Store.Prompt(ctx, asked.Run, asked.ID); err != nil || asked.State != Pending {
			return err
		}
	}
	return errRace
}
