package sqlstore

import (
	"crypto/rand"
	"encoding/binary"

	"github.com/switchyard-dev/switchyard/hub-server/internal/peer"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Runlog keeps runs, their logs, lanes, commands and blobs: runlog.Store.
type Runlog struct {
	store  *Store
	writer *Writer
	me     peer.ID
}

var _ runlog.Store = (*Runlog)(nil)

// NewRunlog reads from s and writes through w, for the hub process me.
func NewRunlog(s *Store, w *Writer, me peer.ID) *Runlog { return &Runlog{store: s, writer: w, me: me} }

// lockSetOf is what a request has to lock that appends to the log of a run.
func lockSetOf(session id.Session, runID id.Run) []Lock {
	return []Lock{LockConversation(string(session)), LockRun(string(runID))}
}

// randomKey is a narrow name for a row that has a wide one: random, so that no counter has to be taken.
func randomKey() int64 {
	var raw [8]byte
	rand.Read(raw[:]) //nolint:errcheck // crypto/rand.Read never fails since Go 1.24
	return int64(binary.BigEndian.Uint64(raw[:]) >> 1)
}
