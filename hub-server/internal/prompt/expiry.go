package prompt

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/switchyard-dev/switchyard/shared/event"
)

const (
	sweepEvery = time.Second // a limit in milliseconds may be short
	sweepPage  = 64
)

// Expiry ends the waiting for answers whose time is over: the question's own limit, or the age that a hub lets any question reach. Every hub of
// a store may have one: a question expires once.
type Expiry struct {
	Prompts *Prompts
	TTL     time.Duration // HUB_PROMPT_TTL
	Log     *slog.Logger
}

// Run sweeps until ctx ends. Trouble with the store is logged and tried again at the next sweep.
func (x *Expiry) Run(ctx context.Context) error {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		if err := x.Sweep(ctx, time.Now()); err != nil && ctx.Err() == nil {
			x.Log.Error("expire questions failed", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Sweep expires every question whose time is over at now.
func (x *Expiry) Sweep(ctx context.Context, now time.Time) error {
	for {
		due, err := x.Prompts.Store.Due(ctx, now, now.Add(-x.TTL), sweepPage)
		if err != nil {
			return err
		}
		for _, p := range due {
			reason := event.ExpiredByLimit
			if !p.AskedAt.After(now.Add(-x.TTL)) {
				reason = event.ExpiredByAge
			}
			if err := x.Prompts.expire(ctx, p, reason); err != nil {
				return fmt.Errorf("expire %s: %w", p.ID, err)
			}
			x.Log.Info("question expired", "request", p.ID, "run", p.Run, "reason", reason)
		}
		if len(due) < sweepPage {
			return nil
		}
	}
}

// expire settles a question without an answer, unless it has been settled meanwhile. An agent whose process is gone is not begun again for it.
func (p *Prompts) expire(ctx context.Context, asked Prompt, reason event.ExpiryReason) error {
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
		if done, err := p.Store.Answer(ctx, reply); err != nil || done {
			return err
		}
		if asked, err = p.Store.Prompt(ctx, asked.Run, asked.ID); err != nil || asked.State != Pending {
			return err
		}
	}
	return errRace
}
