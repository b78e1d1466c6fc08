// Package journal is the edge's durable log: every event of every run, numbered without holes and chained by hash, on disk before anybody
// else sees it (architecture 6.4). The admission records of commands and runs live in the same file, so that one sync covers both.
//
// One goroutine writes (Run). What waits while it syncs, or comes in a short moment after that, becomes the next group: a group is one
// transaction, so load makes groups larger instead of slower. The disk is assumed to honour fsync; a process may die at any instant.
package journal

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/switchyard-dev/switchyard/shared/telemetry"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// ErrStopped is returned to appends that come after the writer has stopped taking any.
var ErrStopped = errors.New("the journal has stopped")

// Options of Open. Home, Log and Metrics are required; zero values of the others stand for the defaults.
type Options struct {
	Home    string        // folder of the file and of the blobs; made with mode 0700
	Cap     int64         // bytes of rows and blobs to keep at most; default 2 GiB
	Window  time.Duration // how long committed rows of ended runs are kept for a hub that was rolled back; default 72 h
	Log     *slog.Logger
	Metrics *telemetry.Registry
	Now     func() time.Time // wall clock; only shown and used for retention
}

const (
	defaultCap    = 2 << 30
	defaultWindow = 72 * time.Hour
)

// Journal is an open journal. All methods are safe for concurrent use. Writes need Run to be running.
type Journal struct {
	opts    Options
	db      *database
	blobs   *blobStore
	reserve reserve
	metrics *metrics
	stopped chan struct{} // closed when Run has returned

	mu       sync.Mutex
	state    State
	tail     tail                // where the next row goes; moves with state at each commit
	queue    queue               // what waits for the writer
	receipt  *wire.CommitReceipt // newer than what is on disk; written with the next group
	closed   bool                // no more appends are taken
	spent    bool                // the reserve is gone: the disk was full
	work     chan struct{}       // cap 1: the queue has something
	pressed  chan struct{}       // cap 1: … and it should not wait for more
	room     chan struct{}       // closed and replaced when waiting appends may look again
	appended chan struct{}       // closed and replaced after each commit that grew the log
}

// State is a snapshot of the numbers of a journal.
type State struct {
	Incarnation wire.Incarnation
	BootNonce   wire.BootNonce
	Floor       wire.ProducerSeq // lowest row kept; Head+1 when none is
	Head        wire.ProducerSeq // highest row on disk; 0 when there never was one
	Receipt     *wire.CommitReceipt
	Used        int64 // bytes of rows and blobs kept
	Cap         int64
}

// Committed is the highest row that the hub is known to hold.
func (s State) Committed() wire.ProducerSeq {
	if s.Receipt == nil {
		return 0
	}
	return s.Receipt.Seq
}

// Open opens the journal in opts.Home, or makes one, and locks it for this process. It returns ErrLocked if another process has it. The
// caller runs Run and Maintain, and closes it when both have returned.
func Open(ctx context.Context, opts Options) (*Journal, error) {
	opts = opts.withDefaults()
	db, err := openDatabase(ctx, opts.Home)
	if err != nil {
		return nil, err
	}
	j := &Journal{
		opts: opts, db: db, metrics: newMetrics(opts.Metrics), reserve: newReserve(opts.Home, opts.Cap),
		work: make(chan struct{}, 1), pressed: make(chan struct{}, 1), room: make(chan struct{}), appended: make(chan struct{}), stopped: make(chan struct{}),
	}
	if err := j.recover(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("recover journal: %w", err), db.close())
	}
	return j, nil
}

func (o Options) withDefaults() Options {
	if o.Cap == 0 {
		o.Cap = defaultCap
	}
	if o.Window == 0 {
		o.Window = defaultWindow
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// Close closes the file and gives the lock back. Run and Maintain must have returned.
func (j *Journal) Close() error {
	if err := j.db.close(); err != nil {
		return fmt.Errorf("close journal: %w", err)
	}
	return nil
}

// State returns the numbers as of the last commit.
func (j *Journal) State() State {
	j.mu.Lock()
	defer j.mu.Unlock()
	s := j.state
	if j.receipt != nil {
		s.Receipt = j.receipt
	}
	return s
}

// Appended returns a channel that is closed after the next commit that grows the log. Take it before reading, to miss nothing.
func (j *Journal) Appended() <-chan struct{} {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.appended
}

func randomHex(bytes int) string {
	raw := make([]byte, bytes)
	rand.Read(raw) //nolint:errcheck // crypto/rand.Read never fails since Go 1.24
	return hex.EncodeToString(raw)
}
