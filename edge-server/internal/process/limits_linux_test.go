package process

import (
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestAgentCannotGainPrivilegesOrDumpCore(t *testing.T) {
	spec := agent(t, "echo")
	spec.Argv = []string{"cat", "/proc/self/status", "/proc/self/limits"}
	host := NewHost(slog.New(slog.DiscardHandler), DefaultLimits())
	p, err := host.Start(spec)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	p.Follow(t.Context(), NewInput(), func(l Line) { text.WriteString(strings.Join(strings.Fields(l.String()), " ") + "\n") })
	for _, want := range []string{"NoNewPrivs: 1", "Max core file size 0 0", "Max file size 8589934592 8589934592", "Max processes 8192 8192"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in:\n%s", want, text.String())
		}
	}
	status, err := os.ReadFile("/proc/thread-self/status")
	if err != nil || !strings.Contains(string(status), "NoNewPrivs:\t0") {
		t.Errorf("the edge's own thread lost its privileges (error %v)", err)
	}
}

func TestFileBeyondTheLimitCannotBeWritten(t *testing.T) {
	host := NewHost(slog.New(slog.DiscardHandler), Limits{FileSize: 1 << 10})
	p, err := host.Start(agent(t, "big-file"))
	if err != nil {
		t.Fatal(err)
	}
	if exit := p.Follow(t.Context(), NewInput(), func(Line) {}); exit.Code != 8 {
		t.Fatalf("exit %+v", exit)
	}
}

func TestAgentGetsNoFileThatTheEdgeWasGivenOpen(t *testing.T) {
	given, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer given.Close()
	if _, err := unix.FcntlInt(given.Fd(), unix.F_SETFD, 0); err != nil { // as a process finds what it was started with
		t.Fatal(err)
	}
	open := fmt.Sprintf("/proc/self/fd/%d", given.Fd())
	if out, err := exec.Command("readlink", open).CombinedOutput(); err != nil {
		t.Fatalf("positive control: an ordinary child does not have it either: %s", out)
	}
	spec := agent(t, "")
	spec.Argv = []string{"readlink", open}
	if lines, exit := follow(t, spec, "", ""); exit.Code == 0 {
		t.Errorf("the agent has %s", lines)
	}
}

func TestStatLineOfACommandWithAnOddName(t *testing.T) {
	line := "42 (a) (b c)) S 7 40 39 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 12345 999 1"
	e, ok := parseStat(line)
	if want := (entry{pid: 42, ppid: 7, pgid: 40, sid: 39, start: 12345}); !ok || e != want {
		t.Fatalf("got %+v, %v", e, ok)
	}
	for _, bad := range []string{"", "42", "42 (x", "x (y) S 7 40 39 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 12345"} {
		if _, ok := parseStat(bad); ok {
			t.Errorf("read %q", bad)
		}
	}
}

func FuzzParseStatNeverPanics(f *testing.F) {
	f.Add("42 (sh) Z 7 40 39 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 12345 999 1")
	f.Fuzz(func(t *testing.T, line string) {
		if e, ok := parseStat(line); !ok && e != (entry{}) {
			t.Fatalf("half an entry: %+v", e)
		}
	})
}
