package faults

import (
	"bufio"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/shared/subject"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// relay stands between edges and their hub and delivers every frame of rows twice, and once more after the frame that follows it.
type relay struct {
	*rig.Relay
	// again counts rows that were delivered a second or third time.
	again atomic.Int64
}

// newRelay returns a relay; set its hub before the first edge comes. Its end waits for the end of its tunnels.
func newRelay(t *testing.T) *relay {
	t.Helper()
	r := &relay{}
	r.Relay = rig.NewRelay(t, rig.Taps{Up: r.repeat})
	return r
}

// repeat copies what the edge says, frames of rows more than once.
func (r *relay) repeat(hub io.Writer, edge io.Reader) error {
	in := bufio.NewReader(edge)
	var last message
	for {
		m, err := readMessage(in)
		if err != nil {
			return err
		}
		if m.rows == 0 {
			_, err = hub.Write(m.raw)
		} else {
			_, err = hub.Write(slices.Concat(m.raw, m.raw, last.raw))
			r.again.Add(int64(m.rows + last.rows))
			last = m
		}
		if err != nil {
			return err
		}
	}
}

// message is one thing that a client says to a NATS server.
type message struct {
	raw  []byte
	rows int // of events inside
}

func readMessage(in *bufio.Reader) (message, error) {
	line, err := in.ReadBytes('\n')
	if err != nil {
		return message{}, err
	}
	words := strings.Fields(string(line))
	if len(words) < 3 || words[0] != "PUB" {
		return message{raw: line}, nil
	}
	size, err := strconv.Atoi(words[len(words)-1])
	if err != nil {
		return message{}, err
	}
	body := make([]byte, size+len("\r\n"))
	if _, err := io.ReadFull(in, body); err != nil {
		return message{}, err
	}
	m := message{raw: append(line, body...)}
	if subject.VerbOf(words[1]) == subject.Frame {
		frame, err := wire.DecodeFrame(body[:size])
		if err != nil {
			return message{}, err
		}
		m.rows = len(frame.Rows)
	}
	return m, nil
}
