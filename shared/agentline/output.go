package agentline

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/switchyard-dev/switchyard/shared/contentchain"
	"github.com/switchyard-dev/switchyard/shared/event"
)

// output is where the voices of an agent and of its sub-agents come together.
type output struct {
	w     io.Writer
	chain contentchain.Chain
	err   error
}

// NewWriter returns a Writer to w, an agent's stdout.
func NewWriter(w io.Writer) *Writer { return &Writer{out: &output{w: w}} }

func (o *output) encode(v any) json.RawMessage {
	encoded, err := event.Encode(v)
	o.fail(err)
	return encoded
}

func (o *output) line(l Line) {
	encoded := o.encode(l)
	if o.err != nil {
		return
	}
	if _, err := o.w.Write(append(encoded, '\n')); err != nil {
		o.fail(fmt.Errorf("write %s: %w", l.Type, err))
	}
}

func (o *output) fail(err error) {
	if o.err == nil {
		o.err = err
	}
}
