package trace

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
)

// Digest is by what a trace is known to be whole.
type Digest struct {
	Name   string
	Lines  int
	Bytes  int64
	SHA256 string // of all its bytes, in lower-case hex
}

// Sum adds up the lines of a trace. The zero Sum has none.
type Sum struct {
	lines int
	bytes int64
	hash  hash.Hash
}

// Add takes the next line, with its end.
func (s *Sum) Add(line []byte) {
	if s.hash == nil {
		s.hash = sha256.New()
	}
	s.lines++
	s.bytes += int64(len(line))
	s.hash.Write(line)
}

// Digest is that of the lines so far.
func (s *Sum) Digest(name string) Digest {
	if s.hash == nil {
		s.hash = sha256.New()
	}
	return Digest{Name: name, Lines: s.lines, Bytes: s.bytes, SHA256: hex.EncodeToString(s.hash.Sum(nil))}
}

// DigestOf reads a trace to its end. A line that was cut off is part of its bytes, and so of the digest, and no line.
func DigestOf(name string, r io.Reader) (Digest, error) {
	lines := countLines{hash: sha256.New()}
	n, err := io.Copy(&lines, r)
	return Digest{Name: name, Lines: lines.n, Bytes: n, SHA256: hex.EncodeToString(lines.hash.Sum(nil))}, err
}

type countLines struct {
	hash hash.Hash
	n    int
}

func (c *countLines) Write(p []byte) (int, error) {
	for _, b := range p {
		if b == '\n' {
			c.n++
		}
	}
	return c.hash.Write(p)
}
