package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"
)

// flood is an agent that prints as fast as anybody reads, for a while, and then ends as if nothing had been.
type flood struct {
	kind  string // partials, noise, endless, long, piece or answer
	speak string // bridge or events: the language of its good lines
	span  time.Duration
}

// Sizes of a flood.
const (
	burst    = 64 << 10      // bytes of one write
	pieceLen = 100           // bytes of text in one partial
	mostText = 99 << 20 / 10 // bytes of text in a line that is as long as an edge takes it whole
	least    = 4 << 20       // bytes of a flood, however slow the disk of the edge is: more than is kept of noise
)

// play says in its last words how much it printed, and how much of it was lines of the protocol.
func (f flood) play(stdout io.Writer) error {
	switch f.kind {
	case "piece":
		_, err := fmt.Fprintf(stdout, "%s"+f.lastWords(), f.partial(mostText), "still here.")
		return err
	case "answer":
		_, err := stdout.Write(f.answer())
		return err
	}
	chunk, err := f.chunk()
	if err != nil {
		return err
	}
	printed, begin := 0, time.Now()
	for f.goesOn(printed, time.Since(begin)) {
		n, err := stdout.Write(chunk)
		if err != nil {
			return err
		}
		printed += n
	}
	took := time.Since(begin)
	pieces := 0
	if f.kind == "partials" {
		pieces = printed / len(f.partial(pieceLen))
	}
	words := fmt.Sprintf("still here after %d pieces, %d bytes in %d ms.", pieces, printed, took.Milliseconds())
	_, err = fmt.Fprintf(stdout, "\n"+f.lastWords(), words)
	return err
}

func (f flood) goesOn(printed int, took time.Duration) bool {
	if f.kind == "long" {
		return printed < longLine
	}
	return printed < least || took < f.span
}

// chunk is what is printed again and again.
func (f flood) chunk() ([]byte, error) {
	switch f.kind {
	case "partials":
		line := f.partial(pieceLen)
		return bytes.Repeat(line, burst/len(line)), nil
	case "noise":
		return bytes.Repeat([]byte("[12%] compiling \x00 \xff\xfe \xc3 …\r\n"), burst/32), nil
	case "endless", "long":
		return bytes.Repeat([]byte("no end of line \x00 \xff\xfe \xe2\x82 \r é "), burst/32), nil
	}
	return nil, fmt.Errorf("unknown flood %q", f.kind)
}

// answer is an end that brings the whole answer.
func (f flood) answer() []byte {
	text := strings.Repeat("x", mostText)
	if f.speak == "bridge" {
		return fmt.Appendf(nil, `{"type":"result","text":%q}`+"\n", text)
	}
	return fmt.Appendf(nil, `{"type":"done","answer":%q}`+"\n", text)
}

func (f flood) partial(size int) []byte {
	text := strings.Repeat("x", size)
	if f.speak == "bridge" {
		return fmt.Appendf(nil, `{"type":"partial","text":%q}`+"\n", text)
	}
	return fmt.Appendf(nil, `{"type":"delta","content":%q}`+"\n", text)
}

// lastWords is a format for one text.
func (f flood) lastWords() string {
	if f.speak == "bridge" {
		return `{"type":"partial","text":%q}` + "\n" + `{"type":"result","text":""}` + "\n"
	}
	return `{"type":"delta","content":%q}` + "\n" + `{"type":"done"}` + "\n"
}
