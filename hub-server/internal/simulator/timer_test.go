package simulator

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/prompt"
	"github.com/switchyard-dev/switchyard/hub-server/internal/timer"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// keepTimers arms a timer for each question that waits and stops those of all others.
func (s *store) keepTimers(r *runRecord, at time.Time) {
	for _, p := range r.prompts {
		if _, armed := s.timers[p.ID]; p.State != prompt.Pending {
			delete(s.timers, p.ID)
		} else if !armed {
			s.timers[p.ID] = at
		}
	}
}

// claim takes a timer that is due at that time.
func (s *store) claim(t timer.Timer) error {
	request := id.Request(t.Key)
	if due, armed := s.timers[request]; !armed || !due.Equal(t.Due) {
		return timer.ErrTaken
	}
	delete(s.timers, request)
	return nil
}

// Due implements prompt.Store.
func (v view) Due(ctx context.Context, now time.Time, limit int) (found []prompt.Due, err error) {
	if err := rest(ctx); err != nil {
		return nil, err
	}
	for _, r := range v.runs {
		for _, p := range r.prompts {
			if due, armed := v.timers[p.ID]; armed && !due.After(now) {
				found = append(found, prompt.Due{Prompt: p, Timer: timer.Timer{Kind: timer.PromptExpiry, Key: string(p.ID), Due: due}})
			}
		}
	}
	slices.SortStableFunc(found, func(a, b prompt.Due) int { return a.Timer.Due.Compare(b.Timer.Due) })
	return found[:min(limit, len(found))], nil
}

// ArmAll implements prompt.Store. There are no older hubs here.
func (v view) ArmAll(context.Context) error { return nil }

// timers are those of questions: timer.Store.
type timers struct{ view }

var errNoTurns = errors.New("there is no work of the whole store here")

// Arm implements timer.Store.
func (timers) Arm(context.Context, timer.Timer) error { return errNoTurns }

// Due implements timer.Store.
func (timers) Due(context.Context, timer.Kind, time.Time, int) ([]timer.Timer, error) {
	return nil, errNoTurns
}

// Move implements timer.Store.
func (m timers) Move(ctx context.Context, t timer.Timer, due time.Time) error {
	return m.write(ctx, func() error {
		if err := m.claim(t); err != nil {
			return err
		}
		m.timers[id.Request(t.Key)] = due
		return nil
	})
}

// Drop implements timer.Store.
func (m timers) Drop(ctx context.Context, t timer.Timer) error {
	return m.write(ctx, func() error { return m.claim(t) })
}
