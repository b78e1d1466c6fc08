package fanload

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

// sockets publish through connections of Centrifugo's clients, which is the shortest way into it: commands are pipelined, several to a text.
type sockets struct {
	all     []*socket
	counts  []uint32
	next    int
	reading sync.WaitGroup

	mu     sync.Mutex
	closed bool
	failed error
}

// publishingSockets is how many there are: the server works on one command of each at a time.
const publishingSockets = 16

func newSockets(ctx context.Context, server string) (*sockets, error) {
	p := &sockets{counts: make([]uint32, publishingSockets)}
	for range publishingSockets {
		s, err := openSocket(ctx, server, centrifugoPath, "", publisherBuffer)
		if err == nil {
			p.all = append(p.all, s)
			err = s.send([]byte(`{"id":1,"connect":{}}`))
		}
		if err != nil {
			p.close()
			return nil, err
		}
		p.reading.Go(func() { p.read(s) })
	}
	return p, nil
}

const publisherBuffer = 32 << 10

// read takes replies: a refusal fails the next publish.
func (p *sockets) read(s *socket) {
	for {
		text, err := s.message()
		if err == nil && strings.Contains(string(text), `"error"`) {
			err = fmt.Errorf("refused: %.200s", text)
		}
		if err == nil && string(text) == string(ping) {
			err = s.send(ping)
		}
		if err != nil {
			p.fail(err)
			return
		}
	}
}

func (p *sockets) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.failed = errors.Join(p.failed, err)
	}
}

func (p *sockets) publish(n int) error {
	p.mu.Lock()
	err := p.failed
	p.mu.Unlock()
	if err != nil {
		return err
	}
	for each := (n + len(p.all) - 1) / len(p.all); n > 0; n -= each {
		if err := p.speak(min(each, n)); err != nil {
			return err
		}
	}
	return nil
}

// speak publishes through the connection whose turn it is.
func (p *sockets) speak(n int) error {
	by := p.next
	p.next = (p.next + 1) % len(p.all)
	var text strings.Builder
	for i := range n {
		p.counts[by]++
		if i > 0 {
			text.WriteByte('\n')
		}
		m := stamped{time.Now().UnixNano(), by, p.counts[by]}
		fmt.Fprintf(&text, `{"id":%d,"publish":{"channel":%q,"data":%q}}`, m.nth+1, channel, m.payload())
	}
	return p.all[by].send([]byte(text.String()))
}

func (p *sockets) published() (n int64) {
	for _, c := range p.counts {
		n += int64(c)
	}
	return n
}

func (p *sockets) close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	for _, s := range p.all {
		s.cut()
	}
	p.reading.Wait()
}
