package gate

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
)

// frameOf has a payload that makes the whole frame about so many bytes.
func frameOf(size int) delivery.Frame {
	fill := strings.Repeat("x", max(0, size-60))
	return delivery.NewFrame(delivery.Body{Type: "message.new", Payload: []byte(`{"fill":"` + fill + `"}`)}, "cursor")
}

// readBack reads one frame with the reader that tests of the protocol use too.
func readBack(t interface{ Fatal(...any) }, r *bufio.Reader) (first byte, payload []byte) {
	first, payload, err := (&rawClient{nothing{}, r}).frame()
	if err != nil {
		t.Fatal(err)
	}
	return first, payload
}

// nothing is a connection without deadlines.
type nothing struct{ net.Conn }

func (nothing) SetReadDeadline(time.Time) error { return nil }

// Around each border between the three forms of a length, for short and long numbers.
func TestFramesOfEveryLengthAreReadBack(t *testing.T) {
	sizes := []int{0, 1, 100, 1 << 20}
	for _, border := range []int{shortFrame, mediumFrame} {
		for size := border - 12; size <= border+12; size++ {
			sizes = append(sizes, size)
		}
	}
	for _, seq := range []uint64{1, 9, 10, 99, 100, 1 << 40, 1<<64 - 1} {
		for _, size := range sizes {
			f := frameOf(size)
			wire := appendFrame([]byte("before"), f, seq)
			first, payload := readBack(t, bufio.NewReader(bytes.NewReader(wire[len("before"):])))
			if first != finText || !bytes.Equal(payload, f.Append(nil, seq)) || len(payload) != f.Len(seq) {
				t.Fatalf("a frame of %d bytes with number %d came back as %x and %d bytes", size, seq, first, len(payload))
			}
			if len(payload) > f.Size() || len(wire) > len("before")+f.Size()+maxHeader {
				t.Fatalf("a frame of %d bytes is larger than it says", size)
			}
		}
	}
}

// Whatever is gathered, by us and by the library, and however the socket takes it: the other side reads whole frames in order, and nothing of
// ours behind a close frame.
func TestFramesStayWholeHoweverTheyAreGatheredAndWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ours, theirs := net.Pipe()
		g := newGatherConn(ours, &bufferPool{})
		g.wake = func() {}
		var want [][]byte
		seq := uint64(0)
		closed := false
		control := func(first byte, payload string) {
			g.Write(append(appendHeader(nil, first, len(payload)), payload...))
			want = append(want, append([]byte{first}, payload...))
		}
		received := make(chan [][]byte, 1)
		go func() { received <- readFrames(theirs) }()
		t.Repeat(map[string]func(*rapid.T){
			"frames": func(t *rapid.T) {
				var frames []delivery.Frame
				for range rapid.IntRange(1, 4).Draw(t, "frames") {
					f := frameOf(rapid.SampledFrom([]int{1, 120, 130, 5000, mediumFrame - 1, mediumFrame + 70}).Draw(t, "size"))
					frames = append(frames, f)
				}
				g.add(seq, frames...)
				for _, f := range frames {
					if seq++; !closed {
						want = append(want, f.Append([]byte{finText}, seq))
					}
				}
			},
			"ping": func(t *rapid.T) {
				g.ping([]byte("7"))
				if !closed {
					want = append(want, []byte{finPing, '7'})
				}
			},
			"pong":  func(t *rapid.T) { control(0x8a, rapid.StringN(0, 20, shortFrame).Draw(t, "payload")) },
			"close": func(t *rapid.T) { control(0x88, "\x03\xe8bye"); closed = true },
			"try":   func(t *rapid.T) { g.Try() },
			"flush": func(t *rapid.T) {
				if err := g.Flush(); err != nil {
					t.Fatal(err)
				}
			},
		})
		if err := g.Close(); err != nil {
			t.Fatal(err)
		}
		got := <-received
		if len(got) != len(want) {
			t.Fatalf("%d frames arrived, want %d", len(got), len(want))
		}
		for i := range want {
			if !bytes.Equal(got[i], want[i]) {
				t.Fatalf("frame %d is %.80q, want %.80q", i, got[i], want[i])
			}
		}
	})
}

// readFrames reads to the end; each frame is its first byte and its payload.
func readFrames(c net.Conn) (all [][]byte) {
	r := &rawClient{nothing{}, bufio.NewReader(c)}
	for {
		first, payload, err := r.frame()
		if err != nil {
			return all
		}
		all = append(all, append([]byte{first}, payload...))
	}
}

// A real socket takes frames in pieces: what Try has begun, Flush ends.
func TestWhatASocketDoesNotTakeAtOnceIsWrittenLater(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	theirs, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()
	ours, err := smallBuffers{listener}.Accept()
	if err != nil {
		t.Fatal(err)
	}
	g := newGatherConn(ours, &bufferPool{})
	seq, whole := uint64(0), true
	for whole {
		g.add(seq, frameOf(30<<10))
		seq++
		whole = g.Try()
	}
	g.add(seq, frameOf(300))
	seq++
	flushed := make(chan error, 1)
	go func() { flushed <- g.Flush() }()
	r := &rawClient{theirs, bufio.NewReader(theirs)}
	for n := uint64(1); n <= seq; n++ {
		_, payload, err := r.frame()
		var f received
		if err == nil {
			err = json.Unmarshal(payload, &f)
		}
		if err != nil || f.Seq != n {
			t.Fatalf("frame %d came as %d, error %v", n, f.Seq, err)
		}
	}
	if err := <-flushed; err != nil {
		t.Error(err)
	}
	g.add(seq, frameOf(300))
	if !g.Try() {
		t.Error("a socket that takes everything again is not tried: a deadline was left behind")
	}
	g.Close()
}

// Any frame that we write is one that the library's client reads.
func FuzzAFrameIsReadByTheLibrary(f *testing.F) {
	f.Add(uint64(1), `{"a":1}`, "cur")
	f.Add(uint64(1<<63), strings.Repeat("x", mediumFrame), "")
	f.Fuzz(func(t *testing.T, seq uint64, payload, cursor string) {
		frame := delivery.NewFrame(delivery.Body{Type: "message.new", Payload: []byte(payload)}, delivery.Cursor(cursor))
		wire := append(appendFrame(nil, frame, seq), 0x88, 0)
		got, err := readByLibrary(t, wire)
		if err != nil || !bytes.Equal(got, frame.Append(nil, seq)) {
			t.Errorf("read %d bytes, error %v", len(got), err)
		}
	})
}

// readByLibrary has a client of the library read one message out of what a server writes behind its handshake.
func readByLibrary(t *testing.T, wire []byte) ([]byte, error) {
	t.Helper()
	ours, theirs := net.Pipe()
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		answerUpgrade(ours, wire)
	}()
	transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return theirs, nil }}
	socket, _, err := websocket.Dial(t.Context(), "http://pipe.test/", &websocket.DialOptions{HTTPClient: &http.Client{Transport: transport}})
	if err != nil {
		return nil, fmt.Errorf("dial: %w", err)
	}
	defer func() {
		socket.CloseNow()
		ours.Close()
		<-answered
	}()
	socket.SetReadLimit(-1)
	_, r, err := socket.Reader(t.Context())
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// answerUpgrade agrees to an upgrade and then writes what it was given.
func answerUpgrade(c net.Conn, wire []byte) {
	r, err := http.ReadRequest(bufio.NewReader(c))
	if err != nil {
		return
	}
	sum := sha1.Sum([]byte(r.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11")) // RFC 6455, 4.2.2
	fmt.Fprintf(c, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n",
		base64.StdEncoding.EncodeToString(sum[:]))
	c.Write(wire)
	io.Copy(io.Discard, c) // what the client says, until it is gone
}
