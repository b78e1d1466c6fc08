package gate

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// What a client may do to a server, chapter by chapter of RFC 6455, as Autobahn tries it, against the gate with its own frames. After each case
// that the protocol allows, the connection still works; after each other, it is closed with the code that the RFC names.

const (
	text, binaryData, more  = 0x01, 0x02, 0x00 // opcodes; more continues a message
	closing, pinging, pongs = 0x08, 0x09, 0x0a
	fin                     = 0x80
	rsv1, rsv2, rsv3        = 0x40, 0x20, 0x10
)

// said is frames that a client sends.
type said []byte

func joined(all ...[]byte) said { return bytes.Join(all, nil) }

func says(first byte, payload string) []byte { return masked(first, []byte(payload)) }

func closes(code int, reason string) []byte {
	return says(fin|closing, string(binary.BigEndian.AppendUint16(nil, uint16(code)))+reason)
}

func TestWhatTheProtocolAllowsLeavesTheConnectionOpen(t *testing.T) {
	h := tcpHub(t)
	long := strings.Repeat("x", shortFrame)
	for name, send := range map[string]said{
		"empty text":                        joined(says(fin|text, "")),
		"text of 125, 126, 127 bytes":       joined(says(fin|text, long), says(fin|text, long+"x"), says(fin|text, long+"xx")),
		"text of 60,000 bytes":              joined(says(fin|text, strings.Repeat("x", 60_000))),
		"binary":                            joined(says(fin|binaryData, "\xff\xfe")),
		"text in three fragments":           joined(says(text, "a"), says(more, "b"), says(fin|more, "c")),
		"empty fragments":                   joined(says(text, ""), says(more, ""), says(fin|more, "")),
		"a character cut by a fragment":     joined(says(text, "\xe2\x82"), says(fin|more, "\xac")),
		"a ping between fragments":          joined(says(text, "a"), says(fin|pinging, "1"), says(fin|more, "b")),
		"a pong that nobody asked for":      joined(says(fin|pongs, "nobody"), says(fin|pongs, "18446744073709551615")),
		"a ping with the longest payload":   joined(says(fin|pinging, long)),
		"JSON that is none":                 joined(says(fin|text, "{")),
		"JSON deeper than anything we read": joined(says(fin|text, strings.Repeat("[", 10_000))),
	} {
		t.Run(name, func(t *testing.T) {
			c, who := h.byHand(t)
			c.tell(t, send)
			c.world.commit(note(delivery.ToUser(who), 7))
			if err := c.hears(7); err != nil {
				t.Errorf("the connection does not work any more: %v", err)
			}
		})
	}
}

func TestWhatTheProtocolForbidsEndsTheConnection(t *testing.T) {
	h := tcpHub(t)
	const unspoken = 0 // the library closes without a word, as it may
	protocol := int(websocket.StatusProtocolError)
	for name, c := range map[string]struct {
		send said
		want int
	}{
		"first reserved bit":                {joined(says(fin|rsv1|text, "a")), protocol},
		"second reserved bit":               {joined(says(fin|rsv2|text, "a")), protocol},
		"third reserved bit on a ping":      {joined(says(fin|rsv3|pinging, "a")), protocol},
		"opcode 3":                          {joined(says(fin|0x03, "a")), protocol},
		"opcode 11":                         {joined(says(fin|0x0b, "a")), protocol},
		"a ping of 126 bytes":               {joined(says(fin|pinging, strings.Repeat("x", shortFrame+1))), protocol},
		"a fragmented ping":                 {joined(says(pinging, "a"), says(fin|more, "b")), protocol},
		"a continuation of nothing":         {joined(says(fin|more, "a")), protocol},
		"a new text within another":         {joined(says(text, "a"), says(fin|text, "b")), protocol},
		"a close of one byte":               {joined(says(fin|closing, "\x03")), protocol},
		"a frame without a mask":            {joined(appendHeader(nil, fin|text, 0)), unspoken},
		"text that is not UTF-8":            {joined(says(fin|text, "a\xff")), int(websocket.StatusInvalidFramePayloadData)},
		"text that ends in a character":     {joined(says(text, "a\xe2"), says(fin|more, "\x82")), int(websocket.StatusInvalidFramePayloadData)},
		"a message of 64 KiB and a byte":    {joined(says(fin|text, strings.Repeat("x", readLimit+1))), int(websocket.StatusMessageTooBig)},
		"fragments of more than 64 KiB":     {joined(says(text, strings.Repeat("x", readLimit)), says(fin|more, "xx")), int(websocket.StatusMessageTooBig)},
		"a length that no machine can hold": {joined([]byte{fin | text, fin | 127, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}, make([]byte, readLimit+1)), int(websocket.StatusMessageTooBig)},
	} {
		t.Run(name, func(t *testing.T) {
			client, _ := h.byHand(t)
			client.tell(t, c.send)
			if got := client.closeCode(); got != c.want {
				t.Errorf("closed with %d, want %d", got, c.want)
			}
		})
	}
}

func TestAClosingClientGetsItsCodeBackAndNothingAfterwards(t *testing.T) {
	h := tcpHub(t)
	for _, code := range []int{1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999} {
		c, who := h.byHand(t)
		c.tell(t, closes(code, "bye"))
		c.world.commit(note(delivery.ToUser(who), 1)) // may be a moment too early, never behind the close
		if got := c.closeCode(); got != code {
			t.Errorf("a close with %d was answered with %d", code, got)
		}
		if first, payload, err := c.frame(); err == nil {
			t.Errorf("after the close with %d came %x %.40q", code, first, payload)
		}
	}
	c, _ := h.byHand(t)
	c.tell(t, says(fin|closing, "")) // without a code, and answered likewise
	if first, payload, err := c.beyondPings(); err != nil || first != fin|closing || len(payload) != 0 {
		t.Errorf("an empty close was answered with %x %q, %v", first, payload, err)
	}
}

func TestACloseWithACodeThatMayNotBeSentIsAnError(t *testing.T) {
	h := tcpHub(t)
	for _, code := range []int{0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65535} {
		c, _ := h.byHand(t)
		c.tell(t, closes(code, ""))
		if got := c.closeCode(); got != int(websocket.StatusProtocolError) {
			t.Errorf("a close with %d was answered with %d, want %d", code, got, websocket.StatusProtocolError)
		}
	}
}

func TestAPingIsAnsweredWithItsPayloadWhateverElseIsOnTheWay(t *testing.T) {
	h := tcpHub(t)
	c, who := h.byHand(t)
	for n := range 8 {
		c.tell(t, says(fin|pinging, fmt.Sprint("ping", n)))
		c.world.commit(note(delivery.ToUser(who), n))
	}
	answered := 0
	for notes := 0; answered < 8 || notes < 8; {
		first, payload, err := c.frame()
		switch {
		case err != nil:
			t.Fatalf("after %d pongs and %d notes: %v", answered, notes, err)
		case first == fin|pongs && string(payload) == fmt.Sprint("ping", answered):
			answered++
		case first == fin|pongs:
			t.Fatalf("pong %q, want that of ping %d", payload, answered)
		case first == finText && bytes.Contains(payload, []byte(SessionInfoUpdated)):
			notes++
		}
	}
}

// A handshake, then a frame in the same packet; a frame in pieces of one byte.
func TestFramesMayComeInAnyPieces(t *testing.T) {
	h := tcpHub(t)
	c, who := h.byHand(t)
	for _, b := range joined(says(text, "a"), says(fin|pinging, "p"), says(fin|more, "b")) {
		c.tell(t, []byte{b})
	}
	if first, payload, err := c.beyondPings(); err != nil || first != fin|pongs || string(payload) != "p" {
		t.Fatalf("got %x %q, %v", first, payload, err)
	}
	c.world.commit(note(delivery.ToUser(who), 3))
	if err := c.hears(3); err != nil {
		t.Error(err)
	}
}

// handClient is a rawClient that was greeted.
type handClient struct {
	*rawClient
	world *world
}

// tcpHub is a hub on a real socket.
func tcpHub(t *testing.T) *hub {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return newWorld(t).hub(listener)
}

// byHand connects a new user.
func (h *hub) byHand(t *testing.T) (*handClient, id.User) {
	t.Helper()
	token, who := h.world.login(id.NewUser())
	raw, err := h.dialRaw(token)
	if err != nil {
		t.Fatal(err)
	}
	if f, err := raw.message(); err != nil || f.Type != AuthOK {
		t.Fatalf("greeted with %s, %v", f.Type, err)
	}
	return &handClient{raw, h.world}, who.User
}

func (c *handClient) tell(t *testing.T, sent []byte) {
	t.Helper()
	if _, err := c.Write(sent); err != nil {
		t.Fatal(err)
	}
}

// hears reads until note n; pongs may be on the way.
func (c *handClient) hears(n int) error {
	want := fmt.Appendf(nil, `"n":%d`, n)
	for {
		first, payload, err := c.frame()
		switch {
		case err != nil:
			return err
		case first == fin|closing:
			return fmt.Errorf("closed: %q", payload)
		case first == finText && bytes.Contains(payload, want):
			return nil
		}
	}
}

// beyondPings reads the next frame that is no ping.
func (c *handClient) beyondPings() (first byte, payload []byte, err error) {
	for {
		if first, payload, err = c.frame(); err != nil || first != finPing {
			return first, payload, err
		}
	}
}
