package gate

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"syscall"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
)

// rawClient speaks WebSocket by hand: it can send what no library sends, and many of it cost little.
type rawClient struct {
	net.Conn
	in *bufio.Reader
}

// dialRaw connects with a small receive buffer and has the upgrade answered.
func (h *hub) dialRaw(token account.AccessToken) (*rawClient, error) {
	small := net.Dialer{Control: func(_, _ string, raw syscall.RawConn) error {
		return raw.Control(func(fd uintptr) { syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4<<10) })
	}}
	conn, err := small.Dial("tcp", h.server.Listener.Addr().String())
	if err != nil {
		return nil, err
	}
	h.world.t.Cleanup(func() { conn.Close() })
	c := &rawClient{conn, bufio.NewReaderSize(conn, 4<<10)}
	fmt.Fprintf(c, "GET /client/ws HTTP/1.1\r\nHost: hub\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nAuthorization: Bearer %s\r\n\r\n", string(token))
	resp, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusSwitchingProtocols {
		return nil, fmt.Errorf("answered %d", resp.StatusCode)
	}
	return c, nil
}

// frame reads one frame as it is on the wire.
func (c *rawClient) frame() (first byte, payload []byte, err error) {
	c.SetReadDeadline(time.Now().Add(30 * time.Second))
	var head [2]byte
	if _, err := io.ReadFull(c.in, head[:]); err != nil {
		return 0, nil, err
	}
	size := uint64(head[1])
	switch size {
	case 126:
		var length [2]byte
		_, err = io.ReadFull(c.in, length[:])
		size = uint64(binary.BigEndian.Uint16(length[:]))
	case 127:
		var length [8]byte
		_, err = io.ReadFull(c.in, length[:])
		size = binary.BigEndian.Uint64(length[:])
	}
	if err != nil || head[1]&0x80 != 0 || size > 2<<20 {
		return 0, nil, fmt.Errorf("bad frame head %x, %d bytes, error %w", head, size, err)
	}
	payload = make([]byte, size)
	_, err = io.ReadFull(c.in, payload)
	return head[0], payload, err
}

// message reads the next text frame, and answers pings on the way.
func (c *rawClient) message() (received, error) {
	for {
		first, payload, err := c.frame()
		if err != nil {
			return received{}, err
		}
		switch first {
		case finPing:
			if err := c.send(0x8a, payload); err != nil {
				return received{}, err
			}
		case finText:
			var f received
			err := json.Unmarshal(payload, &f)
			return f, err
		default:
			return received{}, fmt.Errorf("frame %x %q", first, payload)
		}
	}
}

// closeCode reads until a close frame or the end of the connection, and returns its code; 0: none came.
func (c *rawClient) closeCode() int {
	for {
		first, payload, err := c.frame()
		if err != nil {
			return 0
		}
		if first == 0x88 && len(payload) >= 2 {
			return int(binary.BigEndian.Uint16(payload))
		}
	}
}

// send writes a masked frame with any first byte.
func (c *rawClient) send(first byte, payload []byte) error {
	_, err := c.Write(masked(first, payload))
	return err
}

// masked is a frame as clients send it.
func masked(first byte, payload []byte) []byte {
	frame := appendHeader(nil, first, len(payload))
	frame[1] |= 0x80
	key := [4]byte{7, 11, 13, 17}
	frame = append(frame, key[:]...)
	for i, b := range payload {
		frame = append(frame, b^key[i%4])
	}
	return frame
}
