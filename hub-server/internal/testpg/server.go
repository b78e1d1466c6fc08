package testpg

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/testproc"
)

const (
	superuser    = "testpg"
	startTimeout = time.Minute
	stopTimeout  = 20 * time.Second
)

// server is a running postmaster. All its files lie below dir, which belongs to owner.
type server struct {
	dir   string
	owner *testproc.Owner
	proc  *exec.Cmd
	alive *os.File // its other end is held by the server: end of file means that the server has ended
}

func startServer(where binaries) (*server, error) {
	owner, err := testproc.Unprivileged("postgres", "nobody")
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "testpg-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for PostgreSQL: %w", err)
	}
	s := &server{dir: dir, owner: owner}
	err = s.create(where)
	if err == nil {
		err = s.launch(where)
	}
	if err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return s, nil
}

// create makes an empty cluster. Nobody else can reach it, so nobody is asked for a password.
func (s *server) create(where binaries) error {
	if err := s.owner.Take(s.dir); err != nil {
		return err
	}
	initdb := exec.Command(where.initdb, "--pgdata", s.dataDir(), "--username", superuser, "--auth=trust",
		"--encoding=UTF8", "--locale=C", "--no-sync")
	initdb.Dir, initdb.SysProcAttr = s.dir, s.owner.Attributes()
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return nil
}

// launch starts the server and waits until it takes connections. Durability stays as in production: a test of what
// survives a crash must not run on a store that forgets.
func (s *server) launch(where binaries) error {
	log, err := os.Create(s.logFile())
	if err != nil {
		return fmt.Errorf("make PostgreSQL's log: %w", err)
	}
	defer log.Close()
	alive, held, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("make a pipe to watch PostgreSQL: %w", err)
	}
	defer held.Close()
	s.alive = alive
	proc := exec.Command(where.postgres, "-D", s.dataDir(), "-k", s.socketDir(),
		"-c", "listen_addresses=", "-c", "fsync=on", "-c", "synchronous_commit=on",
		"-c", "shared_buffers=32MB", "-c", "max_connections=200", "-c", "max_wal_size=256MB")
	proc.Dir, proc.SysProcAttr = s.dir, s.owner.Attributes()
	proc.Stdout, proc.Stderr, proc.ExtraFiles = log, log, []*os.File{held}
	if err := proc.Start(); err != nil {
		return fmt.Errorf("start postgres: %w", err)
	}
	s.proc = proc
	return s.waitReady()
}

// waitReady reads the status line that the server keeps in its pid file, between looks at whether it still lives.
func (s *server) waitReady() error {
	const look = 10 * time.Millisecond
	for deadline := time.Now().Add(startTimeout); time.Now().Before(deadline); {
		if s.status() == "ready" {
			return nil
		}
		if s.ended(look) {
			return fmt.Errorf("postgres ended at its start:\n%s", s.log())
		}
	}
	return fmt.Errorf("postgres takes no connections after %v:\n%s", startTimeout, s.log())
}

func (s *server) status() string {
	const statusLine = 7 // counted from 0, PostgreSQL's src/include/utils/pidfile.h
	pidFile, _ := os.ReadFile(filepath.Join(s.dataDir(), "postmaster.pid"))
	lines := strings.Split(string(pidFile), "\n")
	if len(lines) <= statusLine {
		return ""
	}
	return strings.TrimSpace(lines[statusLine])
}

// ended waits up to d for the end of the server and of all its children.
func (s *server) ended(d time.Duration) bool {
	if err := s.alive.SetReadDeadline(time.Now().Add(d)); err != nil {
		return false
	}
	_, err := s.alive.Read(make([]byte, 1))
	return err != nil && !errors.Is(err, os.ErrDeadlineExceeded)
}

// stop ends the server with open connections cut, and removes its files. It may follow a failed start.
func (s *server) stop() error {
	var faults []error
	if s.proc != nil {
		faults = append(faults, s.end())
	}
	if s.alive != nil {
		faults = append(faults, s.alive.Close())
	}
	return errors.Join(append(faults, os.RemoveAll(s.dir))...)
}

func (s *server) end() error {
	signalled := s.proc.Process.Signal(syscall.SIGINT) // PostgreSQL's "fast shutdown"
	late := time.AfterFunc(stopTimeout, func() { _ = s.proc.Process.Kill() })
	defer late.Stop()
	if err := s.proc.Wait(); err != nil {
		return errors.Join(fmt.Errorf("stop postgres: %w\n%s", err, s.log()), signalled)
	}
	return nil
}

func (s *server) log() string {
	text, _ := os.ReadFile(s.logFile())
	return string(text)
}

func (s *server) dataDir() string   { return filepath.Join(s.dir, "data") }
func (s *server) logFile() string   { return filepath.Join(s.dir, "log") }
func (s *server) socketDir() string { return s.dir }
