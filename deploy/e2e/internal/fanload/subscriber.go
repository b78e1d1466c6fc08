package fanload

import (
	"bytes"
	"fmt"
	"time"
)

// subscriber is one socket that gets what is published. Owned by the goroutine that runs follow.
type subscriber struct {
	who    int // which of the crowd
	to     dialect
	socket *socket
	tally  *tally
	last   [maxPublishers]uint32 // the newest message of each publisher
	count  int64                 // messages so far
	place  place
	ended  chan struct{} // closed when follow has returned; nil before the first connection

	// Of those who come back.
	ageless bool   // its messages do not count for ages
	overlap bool   // until the first message that is new, those that it has may come again
	target  int64  // count at which reached is called; 0: never
	reached func() // once
}

// place is where a subscriber goes on after it was cut off.
type place struct {
	cursor string // the hub's
	epoch  string // Centrifugo's
	offset uint64 // Centrifugo's
}

// dialect is what differs between the servers.
type dialect interface {
	// open connects a subscriber, at its place if it has one, and returns when the server has taken it up.
	open(*subscriber) error

	// other handles a text without a message of ours.
	other(*subscriber, []byte) error

	// mark handles a text with messages of ours, beside those: it moves the place on.
	mark(*subscriber, []byte) error
}

// follow reads until the socket ends; it always returns an error. A message that is missing, or comes again, is one too.
func (s *subscriber) follow() error {
	for {
		now := time.Now().UnixNano()
		n, err := s.drain(now)
		if n > 0 {
			s.tally.got(n)
		}
		if err != nil {
			return err
		}
		if err := s.socket.fill(); err != nil {
			return err
		}
	}
}

// drain takes everything that has been read, at a time in Unix nanoseconds, and returns how many messages there were.
func (s *subscriber) drain(now int64) (n int64, err error) {
	for {
		text, ok, err := s.socket.take()
		if err != nil || !ok {
			return n, err
		}
		got, err := s.messages(text, now)
		if err != nil {
			return n, err
		}
		n += got
	}
}

// messages takes all messages of a text, as Centrifugo may put several into one, and returns how many were new.
func (s *subscriber) messages(text []byte, now int64) (n int64, err error) {
	found := false
	for rest := text; ; found = true {
		m, behind, ok := nextStamp(rest)
		if !ok {
			break
		}
		rest = behind
		isNew, err := s.next(m)
		if err != nil {
			return n, err
		}
		if !isNew {
			continue
		}
		if n++; !s.ageless {
			s.tally.age(s.who, m.at, now)
		}
	}
	if s.count += n; s.target > 0 && s.count >= s.target {
		s.target = 0
		s.reached()
	}
	if !found {
		return 0, s.to.other(s, text)
	}
	return n, s.to.mark(s, text)
}

// next judges the number of a message: false says that it is one of an overlap.
func (s *subscriber) next(m stamped) (isNew bool, err error) {
	last := s.last[m.by]
	if s.overlap && m.nth <= last {
		return false, nil
	}
	if m.nth != last+1 && last != 0 {
		return false, fmt.Errorf("subscriber %d: message %d of publisher %d comes after %d", s.who, m.nth, m.by, last)
	}
	s.overlap, s.last[m.by] = false, m.nth
	return true, nil
}

// between returns what stands between two marks in text; nil if they do not.
func between(text []byte, before, after string) []byte {
	i := bytes.LastIndex(text, []byte(before))
	if i < 0 {
		return nil
	}
	found, _, ok := bytes.Cut(text[i+len(before):], []byte(after))
	if !ok {
		return nil
	}
	return found
}
