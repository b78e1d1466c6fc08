// Package contentchain is a hash chain over what an agent says: its text, its reasoning, its tools, its files, and their order. An agent that
// keeps one reports its head at the end; whoever holds the run's log computes the same value from the events and knows that nothing was
// lost, doubled or moved on the way.
//
// An item is a kind (one byte) and a content (bytes). The head starts as 32 zero bytes; each item makes it
// SHA-256(head ‖ kind ‖ SHA-256(content)). Its text form is lower-case hex. The items, in the order in which they were said:
//
//	t  text      all the text of the answer between two other items, joined; so it does not matter how it was cut into deltas
//	h  thought   all the reasoning between two other items, joined
//	c  call      tool name ‖ 0x00 ‖ checksum of the arguments
//	r  result    checksum of the result
//	f  failure   error code ‖ 0x00 ‖ error message, of a tool that failed
//	a  artifact  checksum of the file
//
// A checksum is 64 hex digits: event.Checksum (of the canonical JSON) for arguments and results, SHA-256 of the bytes for a file. Empty text
// is no item. Ids are not part of it: the edge may have to make some up.
package contentchain

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"

	"github.com/switchyard-dev/switchyard/shared/event"
)

type kind byte

const (
	none     kind = 0
	text     kind = 't'
	thought  kind = 'h'
	call     kind = 'c'
	result   kind = 'r'
	failure  kind = 'f'
	artifact kind = 'a'
)

// Head is the value of a chain and the number of items in it: the payload of the fact in which an agent reports it (event.SessionMetrics).
type Head struct {
	ContentChain string `json:"content_chain"` // 64 hex digits
	Items        int    `json:"items"`
}

// Chain is a running chain; the zero value is an empty one. Not safe for concurrent use.
type Chain struct {
	head  [sha256.Size]byte
	items int
	open  kind // text or thought that the next piece may continue
	piece hash.Hash
}

// Text continues the answer.
func (c *Chain) Text(s string) { c.write(text, s) }

// Thought continues the reasoning.
func (c *Chain) Thought(s string) { c.write(thought, s) }

// Call is the start of a tool. args is JSON; none stands for {}.
func (c *Chain) Call(name string, args json.RawMessage) error {
	if len(args) == 0 {
		args = json.RawMessage(`{}`)
	}
	sum, err := event.Checksum(args)
	if err != nil {
		return fmt.Errorf("chain a tool call: %w", err)
	}
	c.add(call, name+"\x00"+sum)
	return nil
}

// Result is the end of a tool. value is JSON; none stands for null.
func (c *Chain) Result(value json.RawMessage) error {
	if len(value) == 0 {
		value = json.RawMessage(`null`)
	}
	sum, err := event.Checksum(value)
	if err != nil {
		return fmt.Errorf("chain a tool result: %w", err)
	}
	c.ResultChecksum(sum)
	return nil
}

// ResultChecksum is Result for a value of which only the checksum is at hand.
func (c *Chain) ResultChecksum(sum string) { c.add(result, sum) }

// Failure is the end of a tool that failed.
func (c *Chain) Failure(code, message string) { c.add(failure, code+"\x00"+message) }

// Artifact is a file with the given hex SHA-256.
func (c *Chain) Artifact(sha256 string) { c.add(artifact, sha256) }

// Head returns the value of everything so far. More may follow: the next text is then an item of its own.
func (c *Chain) Head() Head {
	c.close()
	return Head{ContentChain: hex.EncodeToString(c.head[:]), Items: c.items}
}

func (c *Chain) write(k kind, s string) {
	if s == "" {
		return
	}
	if c.open != k {
		c.close()
		c.open, c.piece = k, sha256.New()
	}
	// A hash takes everything.
	_, _ = io.WriteString(c.piece, s)
}

func (c *Chain) add(k kind, content string) {
	c.close()
	sum := sha256.Sum256([]byte(content))
	c.link(k, sum[:])
}

func (c *Chain) close() {
	if c.open != none {
		c.link(c.open, c.piece.Sum(nil))
		c.open = none
	}
}

func (c *Chain) link(k kind, sum []byte) {
	h := sha256.New()
	h.Write(c.head[:])
	h.Write([]byte{byte(k)})
	h.Write(sum)
	c.head = [sha256.Size]byte(h.Sum(nil))
	c.items++
}
