package up

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// echo is how long after the first interruption a further one counts as the same: some programs that start others pass on what the
// terminal has told everybody already.
const echo = 500 * time.Millisecond

// insistence kills the servers when a person interrupts a second time. Safe for concurrent use.
type insistence struct {
	mu        sync.Mutex
	processes []*os.Process
	done      bool
}

// listen begins to count interruptions; what it returns ends that.
func (i *insistence) listen(ctx context.Context) (stop func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	over, finished := make(chan struct{}), make(chan struct{})
	unused := context.AfterFunc(ctx, func() { // the first interruption has ended ctx
		defer close(finished)
		for since := time.Now(); ; {
			select {
			case <-signals:
				if time.Since(since) > echo {
					i.kill()
					return
				}
			case <-over:
				return
			}
		}
	})
	return func() {
		signal.Stop(signals)
		close(over)
		if !unused() {
			<-finished
		}
	}
}

// add puts a process under this rule.
func (i *insistence) add(p *os.Process) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.processes = append(i.processes, p)
}

func (i *insistence) kill() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.done = true
	for _, p := range i.processes {
		p.Kill() //nolint:errcheck // it may be gone already
	}
}

// killed says whether the person has insisted.
func (i *insistence) killed() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.done
}
