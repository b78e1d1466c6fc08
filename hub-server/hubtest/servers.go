package hubtest

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"syscall"

	"github.com/switchyard-dev/switchyard/hub-server/internal/testpg"
	"github.com/switchyard-dev/switchyard/hub-server/internal/testproc"
)

// PostgresServer starts a PostgreSQL for a program that is no test, and returns the address of an empty database. The caller stops it.
func PostgresServer() (dsn string, stop func() error, err error) { return testpg.Serve() }

// Redis starts a Redis at host:port that keeps nothing on disk, as an account that is not root. The caller stops it.
func Redis(addr string) (stop func() error, err error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("address of Redis: %w", err)
	}
	owner, err := testproc.Unprivileged("redis", "nobody")
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "redis-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for Redis: %w", err)
	}
	if err := owner.Take(dir); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	redis := exec.Command("redis-server", "--bind", host, "--port", port, "--dir", dir, "--save", "", "--appendonly", "no")
	redis.Dir, redis.SysProcAttr = dir, owner.Attributes()
	if err := redis.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start Redis: %w", err), os.RemoveAll(dir))
	}
	return func() error {
		signalled := redis.Process.Signal(syscall.SIGTERM)
		return errors.Join(signalled, redis.Wait(), os.RemoveAll(dir))
	}, nil
}
