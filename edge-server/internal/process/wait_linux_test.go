package process

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"os"
	"sync"
	"testing"
	"time"
)

// A daemon that an agent left behind, and that ends while the agent still runs, becomes a child of this process: Run has to reap it.
func TestOrphansOfALiveAgentAreReaped(t *testing.T) {
	host := NewHost(slog.New(slog.DiscardHandler), Limits{})
	runHost(t, host)
	spec := agent(t, "orphan-maker")
	p, err := host.Start(spec)
	if err != nil {
		t.Fatal(err)
	}
	orphans := make(map[int]bool)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	exit := p.Follow(ctx, NewInput(), func(l Line) {
		if !bytes.Equal(l.Text, []byte("made")) {
			orphans[number(t, l.Text)] = true
			return
		}
		awaitReaped(t, orphans)
		stop()
	})
	if !exit.Gone || len(orphans) != 5 {
		t.Errorf("exit %+v, orphans %v", exit, orphans)
	}
}

// runHost makes this process the parent of orphans, until the end of the test.
func runHost(t *testing.T, host *Host) {
	t.Helper()
	life, end := context.WithCancel(context.Background())
	var reaper sync.WaitGroup
	reaper.Go(func() {
		if err := host.Run(life); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		end()
		reaper.Wait()
	})
}

func number(t *testing.T, text []byte) int {
	t.Helper()
	n := 0
	for _, digit := range text {
		n = 10*n + int(digit-'0')
	}
	return n
}

// awaitReaped returns when none of the processes is in the table any more, not even as a zombie.
func awaitReaped(t *testing.T, pids map[int]bool) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for pid := range pids {
		for lookup(pid).ppid == os.Getpid() || lookup(pid).zombie {
			if time.Now().After(deadline) {
				t.Errorf("process %d was not reaped: %+v", pid, lookup(pid))
				return
			}
			sleep(t.Context(), time.Millisecond)
		}
	}
}

func TestReaperLeavesLeadersAlone(t *testing.T) {
	host := NewHost(slog.New(slog.DiscardHandler), Limits{})
	p, err := host.Start(agent(t, "exit-3"))
	if err != nil {
		t.Fatal(err)
	}
	if err := awaitExit(p.PID()); err != nil {
		t.Fatal(err)
	}
	host.reapOrphans()
	if _, err := io.Copy(io.Discard, p.stdout); err != nil {
		t.Fatal(err)
	}
	if exit := p.Follow(t.Context(), NewInput(), func(Line) {}); exit.Code != 3 {
		t.Errorf("the leader was taken for an orphan: %+v", exit)
	}
}
