package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rawedge"
	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/subject"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// orator is an edge spoken by hand whose agent talks in many conversations at once, all together at one rate.
type orator struct {
	conn       *rawedge.Conn
	lane       rawedge.Lane
	generation wire.Generation
	runs       []id.Run
	message    id.Message
	said       int              // events
	done       wire.ProducerSeq // committed

	asked     chan wire.Command
	committed chan wire.ProducerSeq
	hearing   sync.WaitGroup
	deaf      error // why it hears nothing any more, once asked and committed are closed
}

// newOrator enrols it. Its agent is called orator.
func newOrator(t *testing.T, r *rig.Rig) *orator {
	t.Helper()
	who, err := rawedge.Enrol(t.Context(), r.HubURL(), r.Enrolment("orator").Token)
	if err != nil {
		t.Fatal(err)
	}
	o := &orator{message: id.NewMessage(), asked: make(chan wire.Command, 64), committed: make(chan wire.ProducerSeq, 1024)}
	if o.conn, err = rawedge.Dial(t.Context(), who); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.conn.Close(); o.hearing.Wait() })
	o.lane.Incarnation = wire.Incarnation(fmt.Sprintf("%016x", time.Now().UnixNano()))
	welcome, err := o.conn.Hello(t.Context(), o.lane.Incarnation, "orator")
	if err != nil {
		t.Fatal(err)
	}
	o.generation = welcome.Generation
	o.hearing.Go(o.hear)
	return o
}

// hear takes what the hub says, and answers its pings, until the connection ends.
func (o *orator) hear() {
	defer close(o.asked)
	defer close(o.committed)
	for o.deaf == nil {
		verb, data, err := o.conn.Next(context.Background())
		switch {
		case err != nil:
			o.deaf = err
		case verb == subject.Command:
			var c wire.Command
			o.deaf = json.Unmarshal(data, &c)
			o.asked <- c
		case verb == subject.Committed:
			var c wire.CommittedTo
			o.deaf = json.Unmarshal(data, &c)
			o.committed <- c.Receipt.Seq
		}
	}
}

// begin answers the question that has just been asked: one more run.
func (o *orator) begin(ctx context.Context, run id.Run) error {
	command, ok := <-o.asked
	if !ok {
		return o.deaf
	}
	if err := o.conn.Say(subject.Receipt, wire.CommandReceipt{DeliveryID: command.DeliveryID, RunID: command.RunID, Status: wire.Accepted}); err != nil {
		return err
	}
	o.runs = append(o.runs, run)
	row, err := o.lane.Row(o.conn.Edge, run, event.RunStarted, event.RunStartedPayload{StartedAt: time.Now()})
	if err != nil {
		return err
	}
	return o.commit(ctx, row)
}

// talk says so many events a second until over ends.
func (o *orator) talk(ctx, over context.Context, perSecond int) error {
	const (
		pause = 50 * time.Millisecond // between two frames
		ahead = 1000                  // rows that may be under way, less than the hub's credit
	)
	start := time.Now()
	for pauseFor(over, pause) {
		var rows [][]byte
		size := 0
		for ; o.said < int(time.Since(start).Seconds()*float64(perSecond)) && size < wire.DefaultFrame-1024; o.said++ {
			row, err := o.lane.Row(o.conn.Edge, o.runs[o.said%len(o.runs)], event.MessageDelta, event.DeltaPayload{
				MessageID: o.message, Delta: fmt.Sprintf("event %d of all, and some words more, as a model says them in one go. ", o.said),
			})
			if err != nil {
				return err
			}
			rows, size = append(rows, row), size+len(row)
		}
		if len(rows) == 0 {
			continue
		}
		if err := o.send(ctx, ahead, rows...); err != nil {
			return err
		}
	}
	return nil
}

// end ends all runs.
func (o *orator) end(ctx context.Context) error {
	for _, run := range o.runs {
		row, err := o.lane.Row(o.conn.Edge, run, event.RunCompleted, event.RunCompletedPayload{})
		if err != nil {
			return err
		}
		if err := o.commit(ctx, row); err != nil {
			return err
		}
	}
	return nil
}

// commit sends rows as one frame and waits until the hub has them.
func (o *orator) commit(ctx context.Context, rows ...[]byte) error {
	return o.send(ctx, 0, rows...)
}

// send sends rows as one frame and waits until no more than so many are under way.
func (o *orator) send(ctx context.Context, underWay wire.ProducerSeq, rows ...[]byte) error {
	if err := o.conn.Send(o.generation, &o.lane, rows...); err != nil {
		return err
	}
	for o.done+underWay < o.lane.Head {
		select {
		case committed, ok := <-o.committed:
			if !ok {
				return fmt.Errorf("wait for a commit: %w", o.deaf)
			}
			o.done = committed
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
