package search

import (
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// BlockSize is how many messages that follow one another in a conversation make a block: the index says once for each term of a block which of
// its messages have it. Stored: another size is another index.
const BlockSize = 63

// Bits name messages of a block, the first by the lowest bit. The highest bit is never set, so that stores need not know it as a sign.
type Bits int64

// All names every message of a block.
const All Bits = 1<<BlockSize - 1

// BlockKey is a block by its conversation.
type BlockKey struct {
	Session id.Session
	Number  int64 // of the block in its conversation, from 0
}

// BlockOf returns the block that a message is in, and the bit that names it there.
func BlockOf(s id.Session, seq chat.Seq) (BlockKey, Bits) {
	n := int64(seq)
	return BlockKey{s, n / BlockSize}, 1 << (n % BlockSize)
}

// First is the number of the message that the lowest bit of a block names.
func (k BlockKey) First() chat.Seq { return chat.Seq(k.Number * BlockSize) }

// Entry is what the index is told of a message.
type Entry struct {
	Session id.Session
	Seq     chat.Seq
	At      time.Time
	Terms   []Term // ascending, each once
	Anew    bool   // it may be in the index with other terms: those are removed
}

// EntryOf reads a message as it stands.
func EntryOf(m chat.Message) Entry {
	return Entry{Session: m.Session, Seq: m.Seq, At: m.CreatedAt, Terms: TermsOf(m.Said()), Anew: m.Recalled || m.Revision > 0}
}
