package process

import (
	"context"
	"iter"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"
)

func TestStopEndsAgentsThatDoubleForkIgnoreTermAndHoldStdout(t *testing.T) {
	t.Run("in control groups where there are some", func(t *testing.T) { stopMany(t, 100, testHost) })
	t.Run("by their other marks alone", func(t *testing.T) { stopMany(t, 50, hostWithoutGroups) })
}

func hostWithoutGroups() *Host {
	host := testHost()
	host.groups.unified, host.groups.pids = hierarchy{}, hierarchy{}
	return host
}

func stopMany(t *testing.T, stops int, newHost func() *Host) {
	t.Helper()
	const atOnce = 2
	took := make(chan time.Duration, stops)
	var wg sync.WaitGroup
	for range atOnce {
		wg.Go(func() {
			for range stops / atOnce {
				var stopped time.Time
				stopOne(t, newHost(), agent(t, "double-fork"), func() { stopped = time.Now() })
				took <- time.Since(stopped)
			}
		})
	}
	wg.Wait()
	close(took)
	all := slices.Sorted(channel(took))
	if most := all[len(all)-1]; most > 100*time.Millisecond+killPatience {
		t.Errorf("stops took %s", all)
	}
	t.Logf("%d stops: median %s, longest %s", len(all), all[len(all)/2], all[len(all)-1])
}

func channel[T any](from <-chan T) iter.Seq[T] {
	return func(yield func(T) bool) {
		for v := range from {
			if !yield(v) {
				return
			}
		}
	}
}

// stopOne starts spec, stops it once its grandchild is up, and checks that nothing is left.
func stopOne(t *testing.T, host *Host, spec Spec, atStop func()) {
	t.Helper()
	p, err := host.Start(spec)
	if err != nil {
		t.Error(err)
		return
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	exit := p.Follow(ctx, NewInput(), func(Line) {
		atStop()
		stop()
	})
	left, _, err := tree{nonce: spec.Nonce}.look()
	if err != nil || len(left) > 0 || !exit.Gone || exit.Code != 128+int(syscall.SIGKILL) {
		t.Errorf("exit %+v, left %+v, error %v", exit, left, err)
	}
}

// The positive control of the test above: what signals only the agent's process group is seen to leave the grandchild behind.
func TestKillOfTheLeadersGroupAloneIsSeenToLeaveProcessesAndSweepEndsThem(t *testing.T) {
	spec := agent(t, "double-fork")
	host := testHost()
	p, err := host.Start(spec)
	if err != nil {
		t.Fatal(err)
	}
	line, err := NewLineReader(p.stdout, MaxLine).Next()
	if err != nil || string(line.Text) != "ready" {
		t.Fatalf("line %q, error %v", line, err)
	}
	if err := syscall.Kill(-p.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	p.reap()
	left, _, err := tree{nonce: spec.Nonce}.look()
	if err != nil || len(left) == 0 {
		t.Fatalf("nothing was left (error %v): the test of stopping proves nothing", err)
	}
	if err := host.Sweep(t.Context(), spec.Nonce); err != nil {
		t.Fatal(err)
	}
	mustBeGone(t, spec.Nonce)
	closeAll(p.files())
}

func TestWhatAnAgentLeavesBehindEndsWithIt(t *testing.T) {
	spec := agent(t, "leave-child")
	_, exit := follow(t, spec, "", "")
	if !exit.Gone || exit.Stopped || exit.Code != 0 {
		t.Fatalf("exit %+v", exit)
	}
	mustBeGone(t, spec.Nonce)
}

func TestSweepRefusesANonceThatWouldMatchTooMuch(t *testing.T) {
	for _, nonce := range []Nonce{"", "ab", Nonce("zz" + string(NewNonce())[2:])} {
		if err := testHost().Sweep(t.Context(), nonce); err == nil {
			t.Errorf("swept %q", nonce)
		}
	}
}

func TestMembersOfATree(t *testing.T) {
	own := lookup(syscall.Getpid())
	leader := entry{pid: 100_000_000, ppid: own.pid, pgid: 100_000_000, sid: 100_000_000, start: own.start + 10}
	with := func(pid, ppid, pgid, sid int, start uint64) entry {
		return entry{pid: pid, ppid: ppid, pgid: pgid, sid: sid, start: own.start + start}
	}
	base := leader.pid
	cases := []struct {
		name   string
		entry  entry
		member bool
	}{
		{"child", with(base+1, base, base, base, 11), true},
		{"child in a session of its own", with(base+2, base, base+2, base+2, 11), true},
		{"orphan in the session of another member", with(base+3, 1, base+9, base+2, 12), true},
		{"orphan with the nonce", with(base+4, 1, base+4, base+4, 12), true},
		{"stranger", with(base+5, 1, base+5, base+5, 12), false},
		{"older than the leader", with(base+6, base, base, base, 9), false},
		{"in the session of the edge", with(base+7, own.pid, own.pgid, own.sid, 12), false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			all := []entry{c.entry, leader, cases[1].entry}
			found := tree{leader: leader}.members(all, func(pid int) bool { return pid == base+4 })
			member := false
			for _, e := range found {
				member = member || e.pid == c.entry.pid
			}
			if member != c.member {
				t.Errorf("member: %v", member)
			}
		})
	}
}
