package trace

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/switchyard-dev/switchyard/shared/omni"
)

// Line is a line of a trace.
type Line struct {
	Number  int // from 1
	Message omni.Message
	Err     error // why it is no message: omni.ErrNotMessage, omni.ErrTooLarge, omni.ErrTooDeep, or ErrTorn
}

// ErrTorn is the error of a last line that was cut off: whoever wrote it was stopped. All lines before it are whole.
var ErrTorn = errors.New("the last line was cut off")

// Wrong says what keeps the line from being one of a trace: that it is no message, a fragment or a sub-agent's, or what omni.Message.Validate says.
func (l Line) Wrong() error {
	switch {
	case l.Err != nil:
		return l.Err
	case l.Message.IsPartial():
		return errFragment
	case l.Message.IsOfSubagent():
		return errOfSubagent
	}
	return l.Message.Validate()
}

var (
	errFragment   = errors.New("fragments are not in a trace")
	errOfSubagent = errors.New("what a sub-agent says is in a trace of its own, without origin")
)

// Read yields the lines of a trace. A reader passes over lines that are no messages, and need not stop there; empty lines are none. The
// second value is an error of r, after which nothing comes. A last line that is a message counts, although its end is missing.
func Read(r io.Reader) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		in := bufio.NewReaderSize(r, 64<<10)
		for number := 1; ; number++ {
			line, ended, err := readLine(in)
			if err != nil {
				yield(Line{Number: number}, fmt.Errorf("read line %d: %w", number, err))
				return
			}
			if !ended && len(line) == 0 {
				return
			}
			if len(bytes.TrimSpace(line)) > 0 && !yield(decode(number, line, ended), nil) || !ended {
				return
			}
		}
	}
}

// readLine reads a line without its end. Of one that is too long to be a message, the rest is passed over. ended is false at the end of the trace.
func readLine(in *bufio.Reader) (line []byte, ended bool, err error) {
	for {
		piece, err := in.ReadSlice('\n')
		if room := omni.MaxBytes + 2 - len(line); room > 0 {
			line = append(line, piece[:min(len(piece), room)]...)
		}
		switch {
		case err == nil:
			return bytes.TrimSuffix(line, []byte("\n")), true, nil
		case errors.Is(err, io.EOF):
			return line, false, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, false, err
		}
	}
}

func decode(number int, line []byte, ended bool) Line {
	m, err := omni.Decode(line)
	if err != nil && !ended {
		err = ErrTorn
	}
	return Line{Number: number, Message: m, Err: err}
}
