package rig

import (
	"bytes"
	"strings"
	"sync"
)

// Output keeps what a process writes and tells when something appears in it. Safe for concurrent use.
type Output struct {
	mu      sync.Mutex
	buf     bytes.Buffer
	waiting map[string]chan struct{}
}

const tailBytes = 24 << 10

func newOutput() *Output { return &Output{waiting: map[string]chan struct{}{}} }

// Write takes the next bytes.
func (o *Output) Write(data []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	from := o.buf.Len()
	o.buf.Write(data)
	for text, seen := range o.waiting {
		if bytes.Contains(o.buf.Bytes()[max(0, from-len(text)):], []byte(text)) {
			close(seen)
			delete(o.waiting, text)
		}
	}
	return len(data), nil
}

// seen is closed once text has been written.
func (o *Output) seen(text string) <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	if seen := o.waiting[text]; seen != nil {
		return seen
	}
	seen := make(chan struct{})
	if bytes.Contains(o.buf.Bytes(), []byte(text)) {
		close(seen)
	} else {
		o.waiting[text] = seen
	}
	return seen
}

// String is everything written so far.
func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

func (o *Output) tail() string {
	s := o.String()
	return strings.ToValidUTF8(s[max(0, len(s)-tailBytes):], "?")
}
