package journal

import (
	"context"
	"fmt"
	"time"

	"github.com/switchyard-dev/switchyard/shared/wire"
)

// tail is where the next row goes.
type tail struct {
	head  wire.ProducerSeq
	chain wire.Chain // value after head
}

const (
	firstPause = 50 * time.Millisecond
	maxPause   = 5 * time.Second
)

// Run is the writer: it commits groups until ctx ends, then takes no more appends and commits what waits. A disk that fails is tried again
// for as long as ctx lasts, while appends pile up to their bounds and then block; nothing that was taken is dropped.
func (j *Journal) Run(ctx context.Context) error {
	defer close(j.stopped)
	for {
		group := j.next(ctx)
		if len(group) == 0 { // the queue is closed
			return j.writeReceipt(context.WithoutCancel(ctx))
		}
		began := time.Now()
		if err := j.commitGroup(ctx, group); err != nil {
			return fmt.Errorf("write journal: %w", err)
		}
		j.gather(ctx, began.Add(gatherAfter(len(group))))
	}
}

// next waits for a group. After the end of ctx it closes the queue and returns what is left of it, in the end nothing.
func (j *Journal) next(ctx context.Context) []*entry {
	for {
		last := ctx.Err() != nil // asked once: the end may come between two looks, and then nobody would close the queue
		if group := j.takeGroup(last); len(group) > 0 || last {
			return group
		}
		select {
		case <-j.work:
		case <-ctx.Done():
		}
	}
}

func (j *Journal) takeGroup(last bool) []*entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.closed = j.closed || last
	j.release()
	group := j.queue.take()
	if !j.queue.empty() {
		j.press() // the group is full
	}
	if len(group) > 0 {
		j.makeRoom()
	}
	return group
}

// commitGroup writes a group, again and again until it is on disk. It fails only when the journal is told to stop and the disk still
// refuses.
func (j *Journal) commitGroup(ctx context.Context, group []*entry) error {
	pause := firstPause
	for {
		start := time.Now()
		err := j.try(context.WithoutCancel(ctx), group)
		if err == nil {
			j.metrics.committed(len(group), time.Since(start))
			return nil
		}
		j.metrics.failures.Inc()
		j.opts.Log.Error("journal commit failed", "entries", len(group), "error", err)
		if diskFull(err) && j.spendReserve() {
			continue
		}
		if ctx.Err() != nil {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
		pause = min(2*pause, maxPause)
	}
}

// try writes the group in one transaction and, if that is on disk, moves the numbers and tells those who wait.
func (j *Journal) try(ctx context.Context, group []*entry) error {
	tx, err := j.begin(ctx)
	if err != nil {
		return err
	}
	defer tx.rollback()
	outcomes := make([]error, len(group))
	for i, e := range group {
		if outcomes[i], err = tx.apply(e); err != nil {
			return err
		}
	}
	if err := tx.putReceipt(); err != nil {
		return err
	}
	if err := tx.commit(); err != nil {
		return err
	}
	j.publish(tx)
	for i, e := range group {
		for _, ref := range e.blobs {
			j.blobs.settle(ref.SHA256)
		}
		if e.done != nil {
			e.done <- outcomes[i]
		}
	}
	return nil
}

// publish makes a committed transaction visible.
func (j *Journal) publish(tx *transaction) {
	j.mu.Lock()
	defer j.mu.Unlock()
	grown := tx.tail.head != j.tail.head || tx.state.Incarnation != j.state.Incarnation
	roomier := tx.state.Used < j.state.Used
	j.tail, j.state = tx.tail, tx.state
	j.state.Head = tx.tail.head
	if j.receipt != nil && (j.state.Receipt != nil && j.receipt.Seq <= j.state.Receipt.Seq || j.receipt.Incarnation != j.state.Incarnation) {
		j.receipt = nil
	}
	j.metrics.observe(j.state)
	if grown {
		close(j.appended)
		j.appended = make(chan struct{})
	}
	if roomier {
		j.makeRoom()
	}
}

// writeReceipt puts a receipt on disk that no group has carried there.
func (j *Journal) writeReceipt(ctx context.Context) error {
	j.mu.Lock()
	waiting := j.receipt != nil
	j.mu.Unlock()
	if !waiting {
		return nil
	}
	if err := j.try(ctx, nil); err != nil {
		return fmt.Errorf("write receipt: %w", err)
	}
	return nil
}

// spendReserve frees the reserve once; it says whether that gave space.
func (j *Journal) spendReserve() bool {
	j.mu.Lock()
	spent := j.spent
	j.spent = true
	j.mu.Unlock()
	if spent {
		return false
	}
	j.opts.Log.Warn("disk is full: the journal uses its reserve and takes no new work")
	if err := j.reserve.release(); err != nil {
		j.opts.Log.Error("reserve not released", "error", err)
		return false
	}
	return true
}
