package runlog

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"

	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

const minSignerKey = 32 // bytes

// Signer signs what the hub wants to recognise when an edge shows it again: commit receipts and commands. All hubs of a store share
// the key; edges cannot check a signature and need not. Safe for concurrent use.
type Signer struct{ key []byte }

// NewSigner returns a signer with the key for receipts and dispatches of HUB_KEYS_FILE: at least 32 bytes.
func NewSigner(key []byte) (*Signer, error) {
	if len(key) < minSignerKey {
		return nil, fmt.Errorf("signing key has %d bytes, needs %d", len(key), minSignerKey)
	}
	return &Signer{key: key}, nil
}

// Receipt returns r with its signature for edge.
func (s *Signer) Receipt(edge id.Edge, r wire.CommitReceipt) wire.CommitReceipt {
	r.Signature = hex.EncodeToString(s.receipt(edge, r))
	return r
}

// CheckReceipt says whether this hub, or another one with the same key, signed r for edge.
func (s *Signer) CheckReceipt(edge id.Edge, r wire.CommitReceipt) bool {
	return matches(r.Signature, s.receipt(edge, r))
}

// Command returns c with its signature for edge.
func (s *Signer) Command(edge id.Edge, c wire.Command) wire.Command {
	c.Signature = hex.EncodeToString(s.command(edge, c))
	return c
}

// CheckCommand says whether this hub, or another one with the same key, signed c for edge.
func (s *Signer) CheckCommand(edge id.Edge, c wire.Command) bool {
	return matches(c.Signature, s.command(edge, c))
}

func (s *Signer) receipt(edge id.Edge, r wire.CommitReceipt) []byte {
	m := s.begin("receipt.v1")
	text(m, string(edge), string(r.Incarnation), string(r.Epoch), string(r.Chain[:]))
	number(m, uint64(r.Seq))
	return m.Sum(nil)
}

func (s *Signer) command(edge id.Edge, c wire.Command) []byte {
	m := s.begin("command.v1")
	text(m, string(edge), string(c.DeliveryID), string(c.Kind), string(c.RunID), string(c.Body))
	number(m, uint64(c.Lease))
	return m.Sum(nil)
}

// begin separates the uses of the key from one another.
func (s *Signer) begin(purpose string) hash.Hash {
	m := hmac.New(sha256.New, s.key)
	text(m, purpose)
	return m
}

// text writes each value behind its length, so that no two lists of values give the same bytes.
func text(m hash.Hash, values ...string) {
	for _, v := range values {
		number(m, uint64(len(v)))
		m.Write([]byte(v))
	}
}

func number(m hash.Hash, n uint64) { m.Write(binary.BigEndian.AppendUint64(nil, n)) }

func matches(signature string, want []byte) bool {
	got, err := hex.DecodeString(signature)
	return err == nil && hmac.Equal(got, want)
}
