package simulator

import (
	"context"
	"slices"

	"github.com/switchyard-dev/switchyard/hub-server/internal/prompt"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// TakeCommands implements runlog.CommandStore.
func (v view) TakeCommands(ctx context.Context, edge id.Edge) (found []wire.Command, err error) {
	err = v.write(ctx, func() error {
		for _, c := range v.commands {
			if c.edge == edge && (c.state == "pending" || c.state == "sent") {
				c.state = "sent"
				found = append(found, c.Command)
			}
		}
		return nil
	})
	return found, err
}

func (v view) open(edge id.Edge, delivery id.Delivery) *commandRecord {
	i := slices.IndexFunc(v.commands, func(c *commandRecord) bool {
		return c.DeliveryID == delivery && c.edge == edge && (c.state == "pending" || c.state == "sent")
	})
	if i < 0 {
		return nil
	}
	return v.commands[i]
}

// Command implements runlog.CommandStore.
func (v view) Command(ctx context.Context, edge id.Edge, delivery id.Delivery) (wire.Command, bool, error) {
	if err := rest(ctx); err != nil {
		return wire.Command{}, false, err
	}
	c := v.open(edge, delivery)
	if c == nil {
		return wire.Command{}, false, nil
	}
	return c.Command, true, nil
}

// CloseCommand implements runlog.CommandStore.
func (v view) CloseCommand(
	ctx context.Context, edge id.Edge, receipt wire.CommandReceipt, last runlog.EventSeq, entries []runlog.Entry,
) (done bool, err error) {
	err = v.write(ctx, func() error {
		done = true
		c := v.open(edge, receipt.DeliveryID)
		if c == nil {
			return nil
		}
		if len(entries) > 0 {
			r := v.byRun[c.RunID]
			g, ok := v.world.broken.head(r.head()).Extend(last, entries)
			if done = ok; !ok {
				return nil
			}
			v.save(r, g, v.now())
		}
		c.state, c.refused = "done", receipt.Code
		return nil
	})
	return done, err
}

// Cancel implements runlog.CommandStore.
func (v view) Cancel(ctx context.Context, c runlog.Cancellation) (done bool, err error) {
	err = v.write(ctx, func() error {
		r, err := v.find(c.Run)
		if err != nil {
			return err
		}
		head := r.head()
		if c.Anyway(head) {
			done = true
			v.stopAnyway(c)
			return nil
		}
		if done = c.Meets(head); !done {
			return nil
		}
		unheard := c.Unheard(head) || v.withdraw(c.Run, wire.Start, "pending")
		v.withdraw(c.Run, wire.AnswerPrompt, "pending", "sent")
		if !unheard {
			v.order(c.Edge, c.Command)
		}
		v.save(r, c.Apply(head, unheard), v.now())
		return nil
	})
	return done, err
}

// stopAnyway tells the edge of an interrupted run to end what it may still work on, once.
func (v view) stopAnyway(c runlog.Cancellation) {
	known := slices.ContainsFunc(v.commands, func(r *commandRecord) bool { return r.RunID == c.Run && r.Kind == wire.Cancel })
	if known || c.Edge == "" {
		return
	}
	v.withdraw(c.Run, wire.AnswerPrompt, "pending", "sent")
	v.order(c.Edge, c.Command)
}

// Force implements runlog.CommandStore.
func (v view) Force(ctx context.Context, f runlog.Forcing) (bool, error) {
	return v.AppendOwn(ctx, f.Run, f.Last, f.Ended)
}

// start stores a run once per key and returns the run of the key.
func (v view) start(ctx context.Context, key string, n runlog.NewRun) (began id.Run, err error) {
	err = v.write(ctx, func() error {
		if earlier, known := v.byKey[key]; known {
			began = earlier
			return nil
		}
		v.byKey[key], began = n.ID, n.ID
		v.begin(n)
		return nil
	})
	return began, err
}

// Prompt implements prompt.Store.
func (v view) Prompt(ctx context.Context, runID id.Run, request id.Request) (prompt.Prompt, error) {
	if err := rest(ctx); err != nil {
		return prompt.Prompt{}, err
	}
	if r, err := v.find(runID); err == nil {
		if p, ok := prompt.Find(r.prompts, request); ok {
			return p, nil
		}
	}
	return prompt.Prompt{}, fault.New(fault.NotFound, "There is no such request.")
}

// Asked implements prompt.Store.
func (v view) Asked(ctx context.Context, _ id.Session, request id.Request) (prompt.Prompt, error) {
	if err := rest(ctx); err != nil {
		return prompt.Prompt{}, err
	}
	for _, r := range v.runs {
		if p, ok := prompt.Find(r.prompts, request); ok {
			return p, nil
		}
	}
	return prompt.Prompt{}, fault.New(fault.NotFound, "There is no such request.")
}

// Called implements prompt.Store. Nobody here offers tools.
func (v view) Called(context.Context, id.Session, id.User, string) (prompt.Prompt, error) {
	return prompt.Prompt{}, fault.New(fault.NotFound, "There is no such call.")
}

// Prompts implements prompt.Store. Nobody here lists them.
func (v view) Prompts(ctx context.Context, q prompt.Query) ([]prompt.Prompt, error) {
	return v.Unheard(ctx, q.Run)
}

// Unheard implements prompt.Store.
func (v view) Unheard(ctx context.Context, runID id.Run) (found []prompt.Prompt, err error) {
	if err := rest(ctx); err != nil {
		return nil, err
	}
	for _, p := range v.byRun[runID].prompts {
		if p.Waits() {
			found = append(found, p)
		}
	}
	return found, nil
}

// Answer implements prompt.Store.
func (v view) Answer(ctx context.Context, reply runlog.Reply) (done bool, err error) {
	err = v.write(ctx, func() error {
		r := v.byRun[reply.Run.ID]
		g, ok := v.world.broken.pending(r.head(), reply.Request).Settle(reply)
		if done = ok; !ok {
			return nil
		}
		if reply.Timer != nil {
			if err := v.claim(*reply.Timer); err != nil {
				return err
			}
		}
		v.save(r, g, v.now())
		switch {
		case reply.Next != nil:
			v.begin(reply.Next.Next)
		case reply.Command != nil:
			v.order(r.Edge, *reply.Command)
		}
		return nil
	})
	return done, err
}

// Succeed implements prompt.Store.
func (v view) Succeed(ctx context.Context, s runlog.Succession) (done bool, err error) {
	err = v.write(ctx, func() error {
		r := v.byRun[s.Run.ID]
		head, s := v.world.broken.successor(r.head(), s)
		g, ok := head.Succeed(s)
		if done = ok; !ok {
			return nil
		}
		v.save(r, g, v.now())
		v.begin(s.Next)
		return nil
	})
	return done, err
}
