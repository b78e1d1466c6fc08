package frames

import (
	"context"
	"fmt"
	"sync"

	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/shared/id"
)

const knownRuns = 4096 // headers kept in memory; they are small and never change

// Expander implements delivery.Expander over the record. Safe for concurrent use.
type Expander struct {
	record Record

	mu   sync.Mutex
	runs map[id.Run]Header
}

// NewExpander returns an Expander.
func NewExpander(r Record) *Expander { return &Expander{record: r, runs: map[id.Run]Header{}} }

// Expand implements delivery.Expander. What retention has removed expands to nothing.
func (x *Expander) Expand(ctx context.Context, rows []delivery.Row) ([]delivery.Expansion, error) {
	m, err := x.gather(ctx, rows)
	switch {
	case err == nil:
		return m.expandAll(ctx, rows)
	case len(rows) == 1:
		return nil, err
	}
	// What cannot be read may be about one of them; what comes before it is not held up.
	var out []delivery.Expansion
	for i := range rows {
		one, err := x.Expand(ctx, rows[i:i+1])
		if err != nil {
			return out, err
		}
		out = append(out, one...)
	}
	return out, nil
}

// gather reads what rows are about.
func (x *Expander) gather(ctx context.Context, rows []delivery.Row) (*material, error) {
	w, m := wantsOf(rows), &material{record: x.record, owners: map[id.Edge]id.User{}}
	var err error
	if m.headers, err = x.headers(ctx, w.runs); err != nil {
		return nil, fmt.Errorf("read runs: %w", err)
	}
	if len(w.messages) > 0 {
		messages, err := x.record.MessagesByID(ctx, w.messages)
		if err != nil {
			return nil, fmt.Errorf("read messages: %w", err)
		}
		m.addMessages(messages)
	}
	if len(w.stretches) > 0 {
		events, err := x.record.Stretches(ctx, w.stretches)
		if err != nil {
			return nil, fmt.Errorf("read events: %w", err)
		}
		m.addEvents(events)
	}
	if len(w.prompts) > 0 {
		prompts, err := x.record.PromptsByID(ctx, w.prompts)
		if err != nil {
			return nil, fmt.Errorf("read questions: %w", err)
		}
		m.addPrompts(prompts)
	}
	return m, nil
}

// headers returns those of runs, out of memory where they are known.
func (x *Expander) headers(ctx context.Context, runs []id.Run) (map[id.Run]Header, error) {
	headers := make(map[id.Run]Header, len(runs))
	missing := x.known(runs, headers)
	if len(missing) == 0 {
		return headers, nil
	}
	found, err := x.record.Headers(ctx, missing)
	if err != nil {
		return nil, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, h := range found {
		if len(x.runs) >= knownRuns {
			clear(x.runs)
		}
		x.runs[h.Run], headers[h.Run] = h, h
	}
	return headers, nil
}

// known puts the headers that are known into headers and returns the runs of the others.
func (x *Expander) known(runs []id.Run, headers map[id.Run]Header) (missing []id.Run) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, run := range runs {
		if h, ok := x.runs[run]; ok {
			headers[run] = h
			continue
		}
		missing = append(missing, run)
	}
	return missing
}
