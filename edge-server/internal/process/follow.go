package process

import (
	"context"
	"io"
	"os"
	"sync"
	"syscall"
	"time"
)

// Exit is how a process ended.
type Exit struct {
	Code      int    // 128 + signal number when a signal ended the leader
	Stopped   bool   // it was still running when ctx ended
	Gone      bool   // the whole tree is known to be gone
	Left      int    // processes that the leader left running when it ended by itself
	Stderr    string // the end of stderr
	StderrCut int64  // bytes of stderr before that
}

// Follow writes in to stdin, calls output for each line of stdout, in order, and returns when the output has ended and the tree is gone.
// The end of ctx is TERM to the whole tree, the grace period, then KILL. When the leader exits by itself, what it leaves behind ends the
// same way. Follow closes in. Call it once.
func (p *Process) Follow(ctx context.Context, in *Input, output func(Line)) Exit {
	stderr := tail{limit: MaxStderr}
	over := make(chan struct{})
	var streams sync.WaitGroup
	streams.Go(func() { in.copyTo(p.stdin) })
	streams.Go(func() { readLines(p.host.large.reader(copied(p.stdout, p.copies[0]), over), output) })
	streams.Go(func() { copyAll(&stderr, copied(p.stderr, p.copies[1])) })

	var exit Exit
	exited := p.watch()
	select {
	case <-exited:
	case <-ctx.Done():
		exit.Stopped = true
	}
	left, gone := p.endTree(context.WithoutCancel(ctx))
	exit.Gone = gone
	if !exit.Stopped {
		exit.Left = left
	}
	exit.Code = p.collect(exited, exit.Gone)
	if exit.Gone {
		p.host.groups.close(p.group)
	}

	in.Close()
	p.stdin.Close() // wakes a write that the agent never took
	close(over)
	p.stdout.finish()
	p.stderr.finish()
	streams.Wait()
	closeAll(p.files())
	exit.Stderr, exit.StderrCut = stderr.text()
	return exit
}

// watch returns a channel that is closed when the leader has ended. Its goroutine belongs to the Host: a leader that not even KILL ends, in an
// uninterruptible call of the kernel, must not hold up Follow.
func (p *Process) watch() <-chan struct{} {
	exited := make(chan struct{})
	p.host.watches.Go(func() {
		defer close(exited)
		if err := awaitExit(p.PID()); err != nil {
			p.host.log.Error("cannot watch an agent process", "pid", p.PID(), "error", err)
		}
	})
	return exited
}

// collect reaps the leader and returns its exit code, or leaves it to Host.Run if it is still there.
func (p *Process) collect(exited <-chan struct{}, gone bool) int {
	if gone {
		<-exited
	}
	select {
	case <-exited:
		return exitCode(p.reap())
	default:
		p.abandon()
		return signalled + int(syscall.SIGKILL)
	}
}

// endTree returns once nothing of the tree is left, and how much there was; ctx has no end of its own. The leader is not reaped before that,
// so its pid means nobody else.
func (p *Process) endTree(ctx context.Context) (found int, gone bool) {
	t := tree{leader: p.self, nonce: p.nonce, group: p.group}
	grace := time.Now().Add(p.grace)
	patience := grace.Add(killPatience)
	termed := false
	for pause := firstPause; ; pause = nextPause(pause) {
		left, gone, err := t.look()
		now := time.Now()
		found = max(found, len(left))
		switch {
		case err != nil:
			p.host.log.Error("cannot see what an agent left running", "pid", p.PID(), "error", err)
			t.kill(nil)
			return found, false
		case gone:
			return found, true
		case now.After(patience):
			p.host.log.Error("processes of an agent survive a kill", "pid", p.PID(), "processes", len(left))
			return found, false
		case now.After(grace):
			t.kill(left)
			pause = firstPause
		case !termed:
			t.term(left)
			termed = true
		}
		sleep(ctx, pause)
	}
}

// copied is r, with everything that is read from it written to w too.
func copied(r io.Reader, w io.Writer) io.Reader {
	if w == nil {
		return r
	}
	return io.TeeReader(r, w)
}

func readLines(lines *LineReader, output func(Line)) {
	for {
		line, err := lines.Next()
		if err != nil {
			return
		}
		output(line)
	}
}

func copyAll(into *tail, r io.Reader) {
	buf := make([]byte, readSize)
	for {
		n, err := r.Read(buf)
		_, _ = into.Write(buf[:n]) // a tail takes everything
		if err != nil {
			return
		}
	}
}

// signalled is added to the number of a signal that ended a process, as shells do.
const signalled = 128

func exitCode(state *os.ProcessState) int {
	if state == nil {
		return -1
	}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return signalled + int(status.Signal())
	}
	return state.ExitCode()
}
