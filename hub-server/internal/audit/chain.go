package audit

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
)

// Chain is a hash over all entries up to one. The zero value stands before the first.
type Chain [sha256.Size]byte

// Next returns the chain after e.
func (c Chain) Next(e Entry) Chain {
	h := sha256.New()
	h.Write(c[:]) //nolint:errcheck // a hash never fails
	number(h, int64(e.Seq))
	number(h, e.At.UnixMicro())
	text(h, string(e.Act), string(e.User), e.Target, e.Detail)
	return Chain(h.Sum(nil))
}

const minKey = 32 // bytes

// Signer signs seals. Safe for concurrent use.
type Signer struct{ key []byte }

// NewSigner returns a signer with the key for receipts of HUB_KEYS_FILE: at least 32 bytes, and the same for ever.
func NewSigner(key []byte) (*Signer, error) {
	if len(key) < minKey {
		return nil, fmt.Errorf("signing key has %d bytes, needs %d", len(key), minKey)
	}
	return &Signer{key: key}, nil
}

// Sign returns s with its signature.
func (g *Signer) Sign(s Seal) Seal {
	s.Signature = g.sum(s)
	return s
}

// signed says whether the signature is ours.
func (g *Signer) signed(s Seal) bool { return hmac.Equal(s.Signature, g.sum(s)) }

func (g *Signer) sum(s Seal) []byte {
	m := hmac.New(sha256.New, g.key)
	text(m, "audit.seal.v1") // the key has other uses
	number(m, int64(s.First))
	number(m, int64(s.Last))
	text(m, string(s.Chain[:]))
	return m.Sum(nil)
}

// text writes each value behind its length, so that no two lists of values give the same bytes.
func text(h hash.Hash, values ...string) {
	for _, v := range values {
		number(h, int64(len(v)))
		h.Write([]byte(v)) //nolint:errcheck // a hash never fails
	}
}

func number(h hash.Hash, n int64) {
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(n))) //nolint:errcheck // a hash never fails
}
