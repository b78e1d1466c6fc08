// Package hubtest lends what the hub's own tests stand on to the system tests, which live in a module of their own.
package hubtest

import (
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/testpg"
	"github.com/switchyard-dev/switchyard/hub-server/internal/testredis"
)

// Postgres returns the address of a new, empty database for tb, usable as HUB_DATABASE_URL. Without PostgreSQL on this machine tb is
// skipped, and fails instead if CI=true. The test binary's TestMain must use Main.
func Postgres(tb testing.TB) (dsn string) {
	tb.Helper()
	return testpg.Start(tb)
}

// RedisServer is a Redis that a test may kill, pause and wipe.
type RedisServer = testredis.Server

// StartRedis starts a private Redis for tb. Without redis-server on this machine tb is skipped, and fails instead if CI=true.
func StartRedis(tb testing.TB) *RedisServer {
	tb.Helper()
	return testredis.Start(tb)
}

// Main wraps the M of a TestMain so that the PostgreSQL server, if one was started, ends after the last test.
func Main(m *testing.M) testpg.Runner { return testpg.Main(m) }
