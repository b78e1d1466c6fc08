package process

import (
	"io"
	"runtime"
	"runtime/debug"
	"time"
)

// patience is how long one agent's large line waits for another's. One that stalls in the middle of its own must not hold up the rest.
const patience = 20 * time.Second

// large lets the large lines of all agents be read and worked on one after the other, so that the memory they need is that of one. Who comes
// while one is at work waits: its agent is not read meanwhile.
type large struct {
	taken chan struct{}
	pace  int // of the collector before the one at work came
}

// closePace is the garbage, in percent of what lives, after which the collector runs beside a large line. At its usual pace the edge would need
// twice the memory that is in use.
const closePace = 10

func newLarge() *large { return &large{taken: make(chan struct{}, 1)} }

// enter returns what ends the work. It waits for its turn, but not after ended, nor longer than patience: then it goes beside the other.
func (l *large) enter(ended <-chan struct{}) (leave func()) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case l.taken <- struct{}{}:
		l.pace = debug.SetGCPercent(closePace)
		return l.leave
	case <-ended:
	case <-timer.C:
	}
	return func() {}
}

// reader is a LineReader whose large lines wait for their turn. A line is at work until the next one is asked for.
func (l *large) reader(r io.Reader, ended <-chan struct{}) *LineReader {
	lines := NewLineReader(r, MaxLine)
	lines.enter = func() func() { return l.enter(ended) }
	return lines
}

// leave frees what the line has left behind before the next one needs as much: at its own pace the collector would come too late.
func (l *large) leave() {
	runtime.GC()
	debug.SetGCPercent(l.pace)
	<-l.taken
}

// Large is called by who works on something large that p has said; the function that it returns ends the work. See large.
func (p *Process) Large() (done func()) { return p.host.large.enter(nil) }
