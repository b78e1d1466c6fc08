// Package testredis gives a test a Redis server of its own: in a temporary folder, on a loopback port, behind a password, gone when the test
// ends. It never touches a server that is already running here.
package testredis

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/testproc"
)

// Server is a Redis that a test may strike. It is for one goroutine.
type Server struct {
	tb       testing.TB
	program  string
	dir      string
	addr     string
	password string
	owner    *testproc.Owner
	proc     *exec.Cmd // nil while killed
}

const startTimeout = 20 * time.Second

// Start starts a server for tb. Without redis-server on this machine tb is skipped, and fails instead if CI=true.
func Start(tb testing.TB) *Server {
	tb.Helper()
	program, err := exec.LookPath("redis-server")
	if err != nil {
		if os.Getenv("CI") == "true" {
			tb.Fatalf("CI=true needs redis-server: %v", err)
		}
		tb.Skipf("needs redis-server: %v (scripts/test-services.sh installs it)", err)
	}
	s := &Server{tb: tb, program: program, password: rand.Text()}
	if s.owner, err = testproc.Unprivileged("redis", "nobody"); err != nil {
		tb.Fatal(err)
	}
	if s.dir, err = os.MkdirTemp("", "testredis-"); err != nil { //nolint:usetesting // another user has to get there
		tb.Fatal(err)
	}
	tb.Cleanup(s.end)
	if err := s.owner.Take(s.dir); err != nil {
		tb.Fatal(err)
	}
	s.addr = freeAddr(tb)
	s.Launch()
	return s
}

// URL is the server's address, usable as HUB_REDIS_URL.
func (s *Server) URL() string { return "redis://:" + s.password + "@" + s.addr + "/0" }

// Password is what the server asks for.
func (s *Server) Password() string { return s.password }

// Launch starts a killed server, empty, and returns when it answers.
func (s *Server) Launch() {
	s.tb.Helper()
	log, err := os.Create(filepath.Join(s.dir, "log"))
	if err != nil {
		s.tb.Fatal(err)
	}
	defer log.Close()
	host, port, _ := net.SplitHostPort(s.addr)
	s.proc = exec.Command(s.program, "-") //nolint:gosec // found in PATH
	s.proc.Stdin = strings.NewReader(fmt.Sprintf("bind %s\nport %s\nrequirepass %s\nsave \"\"\nappendonly no\ndir %s\n", host, port, s.password, s.dir))
	s.proc.Dir, s.proc.SysProcAttr, s.proc.Stdout, s.proc.Stderr = s.dir, s.owner.Attributes(), log, log
	if err := s.proc.Start(); err != nil {
		s.tb.Fatalf("start redis-server: %v", err)
	}
	const look = 10 * time.Millisecond
	for deadline := time.Now().Add(startTimeout); ; <-time.After(look) {
		if err = s.say("PING"); err == nil {
			return
		}
		if time.Now().After(deadline) {
			text, _ := os.ReadFile(log.Name())
			s.tb.Fatalf("redis-server does not answer: %v\n%s", err, text)
		}
	}
}

// Kill ends the server with SIGKILL.
func (s *Server) Kill() {
	s.signal(syscall.SIGKILL)
	s.proc.Wait() //nolint:errcheck // it was killed
	s.proc = nil
}

// Pause stops the server from answering; its connections stay. Resume lets it go on.
func (s *Server) Pause()  { s.signal(syscall.SIGSTOP) }
func (s *Server) Resume() { s.signal(syscall.SIGCONT) } //nolint:revive // Pause says what it does

// Flush removes everything that the server holds.
func (s *Server) Flush() {
	s.tb.Helper()
	if err := s.say("FLUSHALL"); err != nil {
		s.tb.Fatalf("wipe redis: %v", err)
	}
}

func (s *Server) signal(sig syscall.Signal) {
	if err := s.proc.Process.Signal(sig); err != nil {
		s.tb.Errorf("signal redis-server: %v", err)
	}
}

// say sends a command by hand: a test must not depend on what it tests.
func (s *Server) say(command string) error {
	dialer := net.Dialer{Timeout: time.Second}
	conn, err := dialer.DialContext(context.Background(), "tcp", s.addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(startTimeout)); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(conn, "AUTH %s\r\n%s\r\nQUIT\r\n", s.password, command); err != nil {
		return err
	}
	var answer [256]byte
	var got []byte
	for strings.Count(string(got), "\r\n") < 2 {
		n, err := conn.Read(answer[:])
		if err != nil {
			return err
		}
		got = append(got, answer[:n]...)
	}
	if strings.Contains(string(got), "-") {
		return errors.New(string(got))
	}
	return nil
}

func (s *Server) end() {
	if s.proc != nil {
		s.Kill()
	}
	if err := os.RemoveAll(s.dir); err != nil {
		s.tb.Errorf("remove the folder of redis: %v", err)
	}
}

func freeAddr(tb testing.TB) string {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // done at once
	if err != nil {
		tb.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
