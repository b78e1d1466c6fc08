package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Origin is what every row of a run says about where it comes from. Scope.RunID is required.
type Origin struct {
	Scope   event.Scope
	TraceID string // trace_ + 32 hex; may be empty
}

// Append puts events into the log of a run, in order, and returns as soon as they wait for the writer. It blocks while the run already has
// its share waiting or the journal is full; the end of ctx ends the waiting, and then the first events may be in and the rest not. When
// space runs low, droppable events are shed. Payload bytes become final here; values too large for a row go to the blobs.
func (j *Journal) Append(ctx context.Context, from Origin, events ...run.Candidate) error {
	for _, c := range events {
		if j.shed(c.Type) {
			continue
		}
		e, err := j.entry(ctx, from, c)
		if err != nil {
			return err
		}
		if err := j.enqueue(ctx, e, ordinary); err != nil {
			return err
		}
	}
	return nil
}

// Commit is Append for what must not be lost or held up: starts, closings, terminals. It may use the reserve of a full journal and returns
// when all events are on disk. An error means that nobody knows whether they are.
func (j *Journal) Commit(ctx context.Context, from Origin, events ...run.Candidate) error {
	return j.commitWith(ctx, from, nil, events)
}

// Flush returns when everything that was appended for the run before the call is on disk.
func (j *Journal) Flush(ctx context.Context, r id.Run) error {
	return j.await(ctx, &entry{origin: Origin{Scope: event.Scope{RunID: r}}})
}

// commitWith runs effect in the transaction of the last event.
func (j *Journal) commitWith(ctx context.Context, from Origin, effect func(*transaction) error, events []run.Candidate) error {
	last := &entry{origin: from}
	for i, c := range events {
		e, err := j.entry(ctx, from, c)
		if err != nil {
			return err
		}
		if i == len(events)-1 {
			last = e
			break
		}
		if err := j.enqueue(ctx, e, urgent); err != nil {
			return err
		}
	}
	last.effect = effect
	return j.await(ctx, last)
}

// record runs effect in a transaction of the writer and returns when it is on disk.
func (j *Journal) record(ctx context.Context, effect func(*transaction) error) error {
	return j.await(ctx, &entry{effect: effect})
}

// await enqueues e and waits for its commit.
func (j *Journal) await(ctx context.Context, e *entry) error {
	e.done = make(chan error, 1)
	if err := j.enqueue(ctx, e, urgent); err != nil {
		return err
	}
	select {
	case err := <-e.done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("wait for the journal: %w", context.Cause(ctx))
	case <-j.stopped:
		select {
		case err := <-e.done:
			return err
		default:
			return ErrStopped
		}
	}
}

// entry encodes c. Deltas stay open for merging until they are written.
func (j *Journal) entry(ctx context.Context, from Origin, c run.Candidate) (*entry, error) {
	e := &entry{origin: from, id: id.NewEvent(), at: j.opts.Now()}
	if delta, ok := c.Payload.(event.DeltaPayload); ok {
		e.event, e.size = c, len(delta.Delta)+len(delta.Fidelity.Fidelity)+rowOverhead
		return e, nil
	}
	c, payload, err := j.fit(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("append %s: %w", c.Type, err)
	}
	e.blobs = named(c)
	e.event = run.Candidate{Type: c.Type, Payload: payload}
	e.size = len(payload) + rowOverhead
	return e, nil
}

const (
	rowOverhead = 512                       // bytes of a row beside its payload, and of its place in the tables
	maxPayload  = event.MaxRowBytes - 8<<10 // bytes of an encoded payload; with more, its large value becomes a blob
	maxBeside   = 4 << 10                   // bytes of a value that stays even then
)

// fit encodes the payload of c, with its large value moved out to a blob if a row could not hold it.
func (j *Journal) fit(ctx context.Context, c run.Candidate) (run.Candidate, json.RawMessage, error) {
	keep := func(value []byte) (event.BlobRef, error) { return j.keep(ctx, value) }
	// A value that alone is too large is not encoded first: it may be a message of 8 MiB, and each copy counts.
	c, err := c.Spill(maxPayload, keep)
	if err != nil {
		return c, nil, err
	}
	payload, err := c.Encode()
	if err != nil || len(payload) <= maxPayload {
		return c, payload, err
	}
	if c, err = c.Spill(maxBeside, keep); err != nil {
		return c, nil, err
	}
	if payload, err = c.Encode(); err != nil || len(payload) <= maxPayload {
		return c, payload, err
	}
	ref, err := keep(payload)
	if err != nil {
		return c, nil, err
	}
	c.Payload = oversize{ref}
	payload, err = c.Encode()
	return c, payload, err
}

// oversize is the payload of an event that is too large for a row and has no single value to move out.
type oversize struct {
	PayloadBlob event.BlobRef `json:"payload_blob"`
}

// named lists the blobs that an event refers to.
func named(c run.Candidate) []event.BlobRef {
	if p, ok := c.Payload.(oversize); ok {
		return []event.BlobRef{p.PayloadBlob}
	}
	return c.Blobs()
}

// urgency says whether an entry waits for room.
type urgency bool

const (
	ordinary urgency = false
	urgent   urgency = true
)

// enqueue hands e to the writer, waiting for room first if it is ordinary.
func (j *Journal) enqueue(ctx context.Context, e *entry, u urgency) error {
	for {
		j.mu.Lock()
		if j.closed {
			j.mu.Unlock()
			return ErrStopped
		}
		if u == urgent || j.hasRoom(e) {
			merged := j.queue.push(e)
			if u == urgent || j.queue.waiting >= enough {
				j.press()
			}
			j.mu.Unlock()
			j.metrics.waiting(merged)
			j.wakeWriter()
			return nil
		}
		room := j.room
		j.press()
		j.mu.Unlock()
		if err := j.waitForRoom(ctx, room); err != nil {
			return err
		}
	}
}

func (j *Journal) waitForRoom(ctx context.Context, room <-chan struct{}) error {
	j.metrics.blocked.Inc()
	defer j.metrics.blocked.Dec()
	select {
	case <-room:
		return nil
	case <-ctx.Done():
		return errors.Join(ErrFull, context.Cause(ctx))
	case <-j.stopped:
		return ErrStopped
	}
}

func (j *Journal) wakeWriter() {
	select {
	case j.work <- struct{}{}:
	default: // it has been woken already
	}
}

// PutCommitted remembers the hub's receipt. Older ones and those of another incarnation are ignored. It reaches the disk with the next
// group, or soon: losing it costs a resend that the hub recognises.
func (j *Journal) PutCommitted(r wire.CommitReceipt) {
	j.mu.Lock()
	defer j.mu.Unlock()
	newest := j.state.Receipt
	if j.receipt != nil {
		newest = j.receipt
	}
	if r.Incarnation != j.state.Incarnation || newest != nil && newest.Seq >= r.Seq {
		return
	}
	j.receipt = &r
}
