package process

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// TestMain lets the test binary play agents: real processes without a second program to build.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "agent" {
		os.Exit(playAgent(os.Args[2]))
	}
	goleak.VerifyTestMain(m)
}

func playAgent(part string) int {
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	switch part {
	case "echo":
		_, _ = io.Copy(out, os.Stdin)
	case "environment":
		fmt.Fprintln(out, strings.Join(os.Environ(), "\n"))
	case "exit-3":
		fmt.Fprintln(os.Stderr, "something is wrong")
		return 3
	case "garbage":
		_, _ = out.WriteString("caf\xc3\nnul \x00 inside\r\n\xff\xfe\n\nlast without line end")
	case "big-line":
		piece := bytes.Repeat([]byte("x"), 1<<20)
		for range 50 {
			_, _ = out.Write(piece)
		}
		fmt.Fprintln(out, "\nafter")
	case "never-ends":
		fmt.Fprintln(out, "ready")
		out.Flush()
		forever()
	case "flush-on-term":
		term := make(chan os.Signal, 1)
		signal.Notify(term, syscall.SIGTERM)
		fmt.Fprintln(out, "ready")
		out.Flush()
		<-term
		fmt.Fprintln(out, "goodbye")
	case "double-fork":
		signal.Ignore(syscall.SIGTERM)
		again("fork-and-leave")
		forever()
	case "orphan-maker":
		for range 5 {
			again("fork-and-exit")
		}
		waitChildren()
		fmt.Fprintln(out, "made")
		out.Flush()
		forever()
	case "fork-and-exit":
		fmt.Fprintln(out, again("exit-3"))
	case "leave-child":
		again("fork-and-leave")
	case "fork-and-leave":
		again("stubborn")
	case "shed-marks-and-limit":
		takeLimitOff()
		again("shed-session")
		waitChildren()
		forever()
	case "shed-session":
		againWith("stubborn", nil)
	case "escape", "escape-and-end", "take-limit-off", "escape-session":
		playEscape(part)
	case "edge":
		return playEdge()
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
		fmt.Fprintln(out, "ready")
		out.Flush()
		forever()
	case "big-file":
		f, err := os.Create("big")
		if err != nil {
			return 9
		}
		signal.Ignore(syscall.SIGXFSZ)
		if err := f.Truncate(1 << 20); err != nil {
			return 8
		}
	}
	return 0
}

// playEdge starts an agent, passes on its first line, and follows it no further: a process that is about to be killed.
func playEdge() int {
	nonce := Nonce(os.Args[3])
	dir, err := os.Getwd()
	if err != nil {
		return 6
	}
	host := testHost()
	if os.Args[5] == "without groups" {
		host = hostWithoutGroups()
	}
	p, err := host.Start(specIn(dir, nonce, os.Args[4]))
	if err != nil {
		return 7
	}
	line, err := NewLineReader(p.stdout, MaxLine).Next()
	if err != nil {
		return 8
	}
	os.Stdout.WriteString(line.String() + "\n") //nolint:errcheck // the test waits for it
	forever()
	return 0
}

// waitChildren returns when all children of this process have ended.
func waitChildren() {
	for {
		if _, err := syscall.Wait4(-1, nil, 0, nil); err != nil && !errors.Is(err, syscall.EINTR) {
			return
		}
	}
}

// again starts the test binary in another part, in a session of its own and with the same standard streams. It returns its pid.
func again(part string) int { return againWith(part, os.Environ()) }

func againWith(part string, env []string) int {
	cmd := exec.Command(os.Args[0], "agent", part)
	cmd.Env = append([]string{}, env...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	return cmd.Process.Pid
}

func agent(t *testing.T, part string) Spec {
	t.Helper()
	return specIn(t.TempDir(), NewNonce(), part)
}

func specIn(dir string, nonce Nonce, part string) Spec {
	return Spec{
		Argv: []string{os.Args[0], "agent", part}, Dir: dir, Nonce: nonce, Grace: 100 * time.Millisecond,
		Env: Environment(os.LookupEnv, dir, map[string]string{"GORACE": "atexit_sleep_ms=0"}, nonce), // with the race detector it would end a second late
	}
}

func testHost() *Host { return hostLogging(io.Discard, Limits{}) }

func hostLogging(w io.Writer, limits Limits) *Host {
	return NewHost(slog.New(slog.NewTextHandler(w, nil)), limits)
}

// follow plays spec to its end and returns its lines. If stopAt is not "", the process is stopped when it prints that line.
func follow(t *testing.T, spec Spec, input, stopAt string) ([]string, Exit) {
	t.Helper()
	return followWatching(t, spec, input, stopAt, func(*Process) {})
}

// followWatching is follow that looks at the process before it is stopped.
func followWatching(t *testing.T, spec Spec, input, stopAt string, atStop func(*Process)) ([]string, Exit) {
	t.Helper()
	p, err := testHost().Start(spec)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	in := NewInput()
	if err := in.Send([]byte(input)); err != nil {
		t.Fatal(err)
	}
	in.Close()
	var lines []string
	exit := p.Follow(ctx, in, func(l Line) {
		lines = append(lines, l.String())
		if stopAt != "" && string(l.Text) == stopAt {
			atStop(p)
			stop()
		}
	})
	return lines, exit
}

// followAside follows p while the test goes on. The returned function stops it and returns how it ended.
func followAside(t *testing.T, p *Process) (stop func() Exit) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan Exit, 1)
	go func() { ended <- p.Follow(ctx, NewInput(), func(Line) {}) }()
	stop = sync.OnceValue(func() Exit {
		cancel()
		return <-ended
	})
	t.Cleanup(func() { stop() })
	return stop
}

// await polls what nothing announces: the state of processes that are not our children.
func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !is(); sleep(t.Context(), firstPause) {
		if time.Now().After(deadline) {
			t.Fatalf("never happened: %s", what)
		}
	}
}

func mustBeGone(t *testing.T, nonce Nonce) {
	t.Helper()
	left, _, err := tree{nonce: nonce}.look()
	if err != nil {
		t.Fatal(err)
	}
	if len(left) > 0 {
		t.Fatalf("%d processes are left: %+v", len(left), left)
	}
}

// forever waits for a signal that nobody sends: an empty select would count as a deadlock.
func forever() {
	never := make(chan os.Signal, 1)
	signal.Notify(never, syscall.SIGUSR2)
	<-never
}
