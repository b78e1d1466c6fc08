package fanload

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// socket is the client's side of a WebSocket (RFC 6455), for many at once in one process: a frame is looked at where it was read, and
// nothing is allocated for it. One goroutine reads; writing is safe for concurrent use.
type socket struct {
	conn     net.Conn
	buf      []byte
	from, to int // of buf: what has been read and not taken

	mu  sync.Mutex
	out []byte // the frame that is being written
}

// Opcodes of RFC 6455, section 5.2.
const (
	opText  = 1
	opClose = 8
	opPing  = 9
	opPong  = 10
)

const (
	maxHead     = 14      // bytes of the longest head of a frame
	maxFrame    = 4 << 20 // bytes; no server under test sends more
	openWithin  = 30 * time.Second
	endOfHeader = "\r\n\r\n"
)

// openSocket connects to a path of a server and upgrades. header is whole lines. size is that of the buffer, in bytes.
func openSocket(ctx context.Context, server, path, header string, size int) (*socket, error) {
	conn, err := connect(ctx, server)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	s := &socket{conn: conn, buf: make([]byte, size)}
	if err := s.upgrade(hostOf(server), path, header); err != nil {
		return nil, errors.Join(fmt.Errorf("upgrade: %w", err), conn.Close())
	}
	return s, nil
}

func (s *socket) upgrade(addr, path, header string) error {
	key := make([]byte, 16)
	rand.Read(key) //nolint:errcheck // it never fails
	request := "GET " + path + " HTTP/1.1\r\nHost: " + addr + "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" +
		"Sec-WebSocket-Key: " + base64.StdEncoding.EncodeToString(key) + "\r\n" + header + "\r\n"
	if err := s.conn.SetDeadline(time.Now().Add(openWithin)); err != nil {
		return err
	}
	if _, err := s.conn.Write([]byte(request)); err != nil {
		return err
	}
	for {
		if head, _, whole := bytes.Cut(s.buf[:s.to], []byte(endOfHeader)); whole {
			if !bytes.HasPrefix(head, []byte("HTTP/1.1 101 ")) {
				return fmt.Errorf("answered %q", s.buf[:s.to])
			}
			s.from = len(head) + len(endOfHeader)
			return s.conn.SetDeadline(time.Time{})
		}
		if err := s.fill(); err != nil {
			return err
		}
	}
}

// fill waits for more bytes. What frame has returned before is gone then.
func (s *socket) fill() error {
	if s.from > 0 {
		s.to = copy(s.buf, s.buf[s.from:s.to])
		s.from = 0
	}
	if s.to == len(s.buf) {
		if len(s.buf) > maxFrame {
			return errors.New("a frame is too long")
		}
		s.buf = append(s.buf, make([]byte, len(s.buf))...)
	}
	n, err := s.conn.Read(s.buf[s.to:])
	s.to += n
	if n > 0 {
		return nil
	}
	return err
}

// frame takes the next whole frame out of what has been read; false if there is none. The payload is good until fill.
func (s *socket) frame() (op byte, payload []byte, ok bool) {
	b := s.buf[s.from:s.to]
	if len(b) < 2 {
		return 0, nil, false
	}
	head, size := 2, int(b[1]&0x7f)
	switch {
	case size == 126 && len(b) >= 4:
		head, size = 4, int(binary.BigEndian.Uint16(b[2:]))
	case size == 127 && len(b) >= 10:
		head, size = 10, int(binary.BigEndian.Uint64(b[2:])) //nolint:gosec // fill bounds it
	case size >= 126:
		return 0, nil, false
	}
	if len(b) < head+size {
		return 0, nil, false
	}
	s.from += head + size
	return b[0], b[head : head+size], true
}

// message returns the next text, for which it waits when there is none yet. It answers pings, and fails on a close.
func (s *socket) message() ([]byte, error) {
	for {
		text, ok, err := s.take()
		if err != nil || ok {
			return text, err
		}
		if err := s.fill(); err != nil {
			return nil, err
		}
	}
}

// take is message without waiting: false says that all of what has been read is taken.
func (s *socket) take() (text []byte, ok bool, err error) {
	for {
		op, payload, whole := s.frame()
		switch {
		case !whole:
			return nil, false, nil
		case op == 0x80|opText:
			return payload, true, nil
		case op == 0x80|opPing:
			if err := s.write(opPong, payload); err != nil {
				return nil, false, err
			}
		case op == 0x80|opClose:
			return nil, false, fmt.Errorf("the server closes: %s", closing(payload))
		case op != 0x80|opPong:
			return nil, false, fmt.Errorf("a frame that begins with %#x", op)
		}
	}
}

func closing(payload []byte) string {
	if len(payload) < 2 {
		return "without a word"
	}
	return fmt.Sprintf("%d %s", binary.BigEndian.Uint16(payload), payload[2:])
}

// send writes one text message.
func (s *socket) send(text []byte) error { return s.write(opText, text) }

// write writes one frame. Its mask is zero, which is a mask like any other and costs nothing.
func (s *socket) write(op byte, payload []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	head := append(make([]byte, 0, maxHead), 0x80|op)
	switch size := len(payload); {
	case size < 126:
		head = append(head, 0x80|byte(size))
	case size < 1<<16:
		head = binary.BigEndian.AppendUint16(append(head, 0x80|126), uint16(size))
	default:
		head = binary.BigEndian.AppendUint64(append(head, 0x80|127), uint64(size))
	}
	head = append(head, 0, 0, 0, 0)
	s.out = append(append(s.out[:0], head...), payload...)
	_, err := s.conn.Write(s.out)
	return err
}

// cut ends the connection without a word, as a lost network does.
func (s *socket) cut() { s.conn.Close() } //nolint:errcheck // it is over
