package process

import (
	"errors"
	"io"
	"os"
	"sync/atomic"
	"time"
)

// drain reads one of an agent's output pipes. A pipe ends when its last writer is gone, and that can be something which left the tree; so
// once the tree is gone, finish bounds how long and how much is still read. A slow reader loses nothing: only waiting for data counts.
type drain struct {
	file   *os.File
	ending atomic.Bool
	left   int // bytes that may still be read once ending; owned by the reader
}

func newDrain(f *os.File) *drain { return &drain{file: f, left: maxLeftOutput} }

// finish says that everything that may write to the pipe is gone. It wakes a reader that waits.
func (d *drain) finish() {
	d.ending.Store(true)
	// A pipe that refuses a deadline has been closed already.
	_ = d.file.SetReadDeadline(time.Now().Add(waitDelay))
}

func (d *drain) Read(p []byte) (int, error) {
	for {
		ending := d.ending.Load()
		if ending {
			if d.left <= 0 {
				return 0, io.EOF
			}
			_ = d.file.SetReadDeadline(time.Now().Add(waitDelay)) // see finish
		}
		n, err := d.file.Read(p)
		switch {
		case n == 0 && errors.Is(err, os.ErrDeadlineExceeded) && !ending:
			continue // finish came while this read waited: its deadline may be old by now
		case errors.Is(err, os.ErrDeadlineExceeded):
			err = io.EOF
		}
		if ending {
			d.left -= n
		}
		return n, err
	}
}
