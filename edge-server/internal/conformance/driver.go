package conformance

import (
	"slices"
	"time"

	"github.com/switchyard-dev/switchyard/edge-server/internal/process"
	"github.com/switchyard-dev/switchyard/shared/event"
)

// driver plays a script: it is what the agent talks to. Owned by its Run.
type driver struct {
	script
	input *process.Input
	halt  func() // stops the agent

	open    []request // not answered yet
	most    int       // of them at once
	asked   int
	wanted  int  // of those that asked: for permission to use a tool
	called  int  // tools of clients
	eof     bool // stdin has ended before an answer
	early   bool // the agent gave its reply while a request was open
	stopped time.Time
}

// Run plays until heard is closed. What the agent says restarts the time of silence after which the script goes on.
func (d *driver) Run(lines <-chan heard) {
	d.next()
	quiet := time.NewTimer(d.silence())
	defer quiet.Stop()
	for {
		select {
		case h, more := <-lines:
			if !more {
				d.early = d.early || len(d.open) > 0 && !d.eof
				return
			}
			d.hear(h)
		case <-quiet.C:
			d.silent()
		}
		quiet.Reset(d.silence())
	}
}

// next sends the next piece, and ends stdin behind the last one unless there may be answers to write.
func (d *driver) next() {
	if len(d.pieces) > 0 {
		d.send(d.pieces[0])
		d.pieces = d.pieces[1:]
	}
	if len(d.pieces) == 0 && !d.asks && !d.stays && len(d.tools) == 0 && d.stop != beforeTheTurn {
		d.input.Close()
	}
}

func (d *driver) hear(h heard) {
	if d.stop == atTheFirstLine {
		d.stopAgent()
	}
	switch {
	case h.request == nil:
	case h.request.Kind == event.PromptClientTool:
		d.called++
		d.send(h.request.answer(d.answers))
	default:
		d.asked++
		if h.request.Kind == "" {
			d.wanted++
		}
		d.open = append(d.open, *h.request)
		d.most = max(d.most, len(d.open))
		if d.answers != reversing && d.answers != forgetting {
			d.answerAll()
		}
	}
	if h.final {
		d.early = d.early || len(d.open) > 0 && !d.eof
		d.input.Close() // as the edge does
	}
}

func (d *driver) silent() {
	switch {
	case d.stop == beforeTheTurn:
		d.stopAgent()
	case len(d.pieces) > 0:
		d.next()
	case len(d.open) == 0:
	case d.answers == reversing:
		slices.Reverse(d.open)
		d.answerAll()
	case d.answers == forgetting:
		d.eof = true
		d.input.Close()
	}
}

func (d *driver) stopAgent() {
	if d.stopped.IsZero() {
		d.stopped = time.Now()
		d.halt()
	}
}

func (d *driver) answerAll() {
	for _, request := range d.open {
		d.send(request.answer(d.answers))
	}
	d.open = nil
}

// send does not mind a stdin that has ended or that nobody reads: what comes of it is what the probe shows.
func (d *driver) send(line []byte) { _ = d.input.Send(line) }
